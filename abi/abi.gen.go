// Code generated from abi.json by abi/gen; DO NOT EDIT.

package abi

// The version of the ABI.
const (
	Major = 1
	Minor = 1
)

// Limit: sizes in bytes that every host keeps to.
const (
	HeaderSize     = 64         // the fixed header of a frame
	SectionSize    = 16         // one row of the section table, which follows the header
	MaxSections    = 32         // rows of a section table
	MaxFrame       = 1073741824 // a whole frame
	MaxManifest    = 65536      // the manifest's JSON
	MaxAccumulator = 1048576    // one accumulator
)

// Magic: the first four bytes of a frame.
const (
	MagicInput  uint32 = 1229088631 // "wgBI": from host to guest
	MagicOutput uint32 = 1329751927 // "wgBO": from guest to host
)

// None: the index or offset that means there is none.
const (
	None uint32 = 4294967295 // no key, no window, no origin; as a span's offset: null
)

// Arena: regions of guest memory that wgate_arena hands out.
const (
	ArenaInput uint32 = 0 // frames for wgate_open and wgate_call
	ArenaReply uint32 = 1 // answers of imports
)

// Status: results of wgate_open, wgate_call, wgate_close and wgate_describe; negative: protocol violation.
const (
	StatusOK          int32 = 0 // everything that was staged with out holds
	StatusRetry       int32 = 1 // nothing was done, the same call may succeed
	StatusBatchError  int32 = 2 // the bundle failed, the instance is sound
	StatusPluginError int32 = 3 // the plugin cannot go on at all
	StatusPartial     int32 = 4 // the first Done rows are done (header of the output frame)
	StatusNeedState   int32 = 5 // state cells are wanted first
)

// Op: what wgate_call is asked to do, by kind of function.
const (
	OpProcess     uint32 = 1  // DoFn: work through a bundle of rows
	OpMigrate     uint32 = 2  // DoFn: bring state of an older version up to date (reserved)
	OpReconfigure uint32 = 3  // DoFn: take a new configuration (reserved)
	OpRun         uint32 = 16 // Combiner: work through a list of steps over accumulators
)

// Section: kinds of sections; below 64 input, from 64 on output.
const (
	SectionKeys      uint16 = 1  // input: KEYS, the keys of the rows
	SectionWindows   uint16 = 2  // input: WINDOWS, the windows of the rows
	SectionRows      uint16 = 3  // input: ROWS
	SectionHeaders   uint16 = 4  // input and output: HEADERS, one row for each header of a record
	SectionOrigins   uint16 = 5  // input: ORIGINS, where rows came from
	SectionHeap      uint16 = 6  // input and output: HEAP, the bytes that spans refer to
	SectionColumns   uint16 = 7  // input: typed columns (reserved)
	SectionState     uint16 = 8  // input: state cells (reserved)
	SectionTimers    uint16 = 9  // input: timers that fired (reserved)
	SectionHTTP      uint16 = 10 // input: replies (reserved)
	SectionTables    uint16 = 11 // input: rows of tables (reserved)
	SectionAccs      uint16 = 12 // input: ACCS, the accumulators of the call
	SectionSteps     uint16 = 13 // input: STEPS, in order
	SectionPairs     uint16 = 14 // input: u32 each, the rows of ARGS that steps name
	SectionArgs      uint16 = 15 // input: VALUES, for each row one for each argument
	SectionOpen      uint16 = 32 // open: OPEN, one row
	SectionConfig    uint16 = 33 // open: the configuration as JSON
	SectionFunctions uint16 = 34 // open: FUNCTIONS, those that the pipeline uses
	SectionGrants    uint16 = 35 // open: NAMES, capabilities that were granted
	SectionKeep      uint16 = 64 // output: input rows that pass unchanged; bitmap, or index list with flag Index
	SectionEmit      uint16 = 65 // output: EMIT rows
	SectionFail      uint16 = 66 // output: FAIL rows
	SectionMetric    uint16 = 67 // output: METRIC rows
	SectionLog       uint16 = 68 // output: LOG rows
	SectionStateOps  uint16 = 69 // output: changes of state (reserved)
	SectionTimerOps  uint16 = 70 // output: timers set and cleared (reserved)
	SectionRequests  uint16 = 71 // output: HTTP requests (reserved)
	SectionGrown     uint16 = 72 // output: GROWN, accumulators that have changed
	SectionResults   uint16 = 73 // output: VALUES, one for each step Extract, in order
)

// Flag: flags of a section.
const (
	FlagCritical uint16 = 1 // who does not know the section refuses the frame; without it the section is skipped
	FlagIndex    uint16 = 2 // KEEP is a list of u32 row numbers, strictly rising, and not a bitmap
)

// Form: what the bytes of a key or value are.
const (
	FormMissing uint8 = 0 // there is none; in EMIT: as in the input row
	FormNull    uint8 = 1 // null, which is not empty
	FormJSON    uint8 = 2 // JSON text
	FormText    uint8 = 3 // UTF-8 text as it is, without quotes
	FormBytes   uint8 = 4 // any bytes
)

// RowOp: what an input row is.
const (
	RowOpElement uint8 = 0 // an element
	RowOpTimer   uint8 = 1 // a timer that fired (reserved)
	RowOpReply   uint8 = 2 // an HTTP reply (reserved)
	RowOpFinish  uint8 = 3 // the end of the bundle (reserved)
)

// Pane: the pane byte of an input row.
const (
	PaneTimingMask uint8 = 3 // 0 early, 1 on time, 2 late
	PaneFirst      uint8 = 4 // first pane of its window
	PaneLast       uint8 = 8 // last pane of its window
)

// Given: what an EMIT row does not take over from its input row.
const (
	GivenKey     uint16 = 1 // the key
	GivenValue   uint16 = 2 // the value
	GivenHeaders uint16 = 4 // the headers
	GivenTime    uint16 = 8 // the event time
)

// Level: levels of log lines.
const (
	LevelDebug uint32 = 0
	LevelInfo  uint32 = 1
	LevelWarn  uint32 = 2
	LevelError uint32 = 3
)

// Step: what a step of Run does with its accumulator.
const (
	StepAdd       uint32 = 1 // folds the rows of pairs [From, From+Count) in, in order
	StepMerge     uint32 = 2 // folds accumulator From in, whose elements count as having come later
	StepExtract   uint32 = 3 // gives its result
	StepUncombine uint32 = 4 // takes the rows of pairs [From, From+Count) back out
	StepCompact   uint32 = 5 // makes it smaller (reserved)
	StepCheck     uint32 = 6 // adds each row of pairs [From, From+Count) to an empty accumulator of its own, which is then dropped: only FAIL counts
)

// Kind: what a VALUE is.
const (
	KindMissing  uint32 = 0 // there is none
	KindNull     uint32 = 1
	KindBool     uint32 = 2  // Low is 0 or 1
	KindInt      uint32 = 3  // Low is an i64, Float the nearest f64
	KindDecimal  uint32 = 4  // High and Low are a 128-bit count of 1e-18, Float the nearest f64
	KindFloat    uint32 = 5  // Float
	KindText     uint32 = 6  // UTF-8 text at Low in HEAP
	KindBytes    uint32 = 7  // any bytes at Low in HEAP
	KindTime     uint32 = 8  // Low is ms since 1970
	KindDuration uint32 = 9  // Low is ms
	KindJSON     uint32 = 10 // JSON text at Low in HEAP
	KindError    uint32 = 11 // results only: code, blank, text at Low in HEAP
)

// Metric: kinds of metrics.
const (
	MetricCounter uint32 = 0 // the value is added
	MetricGauge   uint32 = 1 // the value replaces the last one
)

// Out: results of the import out.
const (
	OutOK       int32 = 0  // the frame is staged
	OutOverflow int32 = -1 // the limit of bytes for one call is reached: nothing was staged, end the call with Partial
	OutBadSpan  int32 = -2 // the span is not inside the memory
)

// Layout Header: head of every frame. Its size and the offsets of its fields.
const (
	SizeHeader        = 64
	AtHeaderMagic     = 0  // u32: Magic
	AtHeaderMinor     = 4  // u16: minor version of who wrote it
	AtHeaderFlags     = 6  // u16: 0
	AtHeaderFn        = 8  // u32: function id
	AtHeaderOp        = 12 // u32: Op; in an output frame with status Partial the number of rows that are done
	AtHeaderEpoch     = 16 // u64: number of the epoch
	AtHeaderBundle    = 24 // u64: number of the call on this instance
	AtHeaderNow       = 32 // i64: processing time, ms since 1970
	AtHeaderWatermark = 40 // i64: input watermark before the first row
	AtHeaderSections  = 48 // u32: rows of the section table
	AtHeaderTotal     = 52 // u32: length of the frame
	AtHeaderCursor    = 56 // u32: a guest may write here the row that it works on: after a trap the host tries that one first
	AtHeaderRows      = 60 // u32: number of input rows
)

// Layout Entry: row of the section table. Its size and the offsets of its fields.
const (
	SizeEntry     = 16
	AtEntryKind   = 0  // u16: Section
	AtEntryFlags  = 2  // u16: Flag
	AtEntryOffset = 4  // u32: from the frame's start, a multiple of 8
	AtEntryLength = 8  // u32: in bytes
	AtEntryCount  = 12 // u32: number of rows in it
)

// Layout Key: row of KEYS. Its size and the offsets of its fields.
const (
	SizeKey     = 16
	AtKeyOffset = 0  // u32: of the bytes, in HEAP
	AtKeyLength = 4  // u32
	AtKeyForm   = 8  // u32: Form
	AtKeyHash   = 12 // u32: reserved, 0
)

// Layout Window: row of WINDOWS. Its size and the offsets of its fields.
const (
	SizeWindow    = 16
	AtWindowStart = 0 // i64: ms
	AtWindowEnd   = 8 // i64: ms, not in the window
)

// Layout Row: row of ROWS. Its size and the offsets of its fields.
const (
	SizeRow          = 40
	AtRowOp          = 0  // u8: RowOp
	AtRowPane        = 1  // u8: Pane
	AtRowSign        = 2  // i8: 1 insert, -1 take back
	AtRowForm        = 3  // u8: Form of the value
	AtRowKey         = 4  // u32: row of KEYS
	AtRowWindow      = 8  // u32: row of WINDOWS, or None
	AtRowHeaders     = 12 // u32: first row of HEADERS
	AtRowTime        = 16 // i64: event time, ms
	AtRowOffset      = 24 // u32: of the value in HEAP
	AtRowLength      = 28 // u32: of the value
	AtRowHeaderCount = 32 // u32: rows of HEADERS
	AtRowOrigin      = 36 // u32: row of ORIGINS, or None
)

// Layout Head: row of HEADERS. Its size and the offsets of its fields.
const (
	SizeHead         = 16
	AtHeadNameOffset = 0  // u32: in HEAP
	AtHeadNameLength = 4  // u32
	AtHeadOffset     = 8  // u32: of the value in HEAP, None for null
	AtHeadLength     = 12 // u32
)

// Layout Origin: row of ORIGINS. Its size and the offsets of its fields.
const (
	SizeOrigin        = 24
	AtOriginSource    = 0  // u16: index of the source
	AtOriginTopic     = 2  // u16: index of the topic in the source
	AtOriginPartition = 4  // i32
	AtOriginOffset    = 8  // i64
	AtOriginTimestamp = 16 // i64: the record's own, ms
)

// Layout Emit: row of EMIT. Its size and the offsets of its fields.
const (
	SizeEmit          = 40
	AtEmitRow         = 0  // u32: input row that it stems from
	AtEmitTag         = 4  // u16: 0 main output, n the n-th tag of the function
	AtEmitGiven       = 6  // u16: Given
	AtEmitTime        = 8  // i64: event time, ms
	AtEmitKeyOffset   = 16 // u32: in HEAP
	AtEmitKeyLength   = 20 // u32
	AtEmitOffset      = 24 // u32: of the value in HEAP
	AtEmitLength      = 28 // u32
	AtEmitHeaders     = 32 // u32: first row of HEADERS
	AtEmitHeaderCount = 36 // u16: rows of HEADERS
	AtEmitKeyForm     = 38 // u8: Form
	AtEmitForm        = 39 // u8: Form of the value
)

// Layout Fail: row of FAIL. Its size and the offsets of its fields.
const (
	SizeFail         = 24
	AtFailRow        = 0  // u32: input row
	AtFailReserved   = 4  // u32: 0
	AtFailCodeOffset = 8  // u32: in HEAP
	AtFailCodeLength = 12 // u32: 1 to 64: lower case letters, digits, _
	AtFailOffset     = 16 // u32: of the text in HEAP
	AtFailLength     = 20 // u32: of the text, UTF-8
)

// Layout Sample: row of METRIC. Its size and the offsets of its fields.
const (
	SizeSample         = 24
	AtSampleNameOffset = 0  // u32: in HEAP
	AtSampleNameLength = 4  // u32: 1 to 64: lower case letters, digits, _
	AtSampleKind       = 8  // u32: Metric
	AtSampleReserved   = 12 // u32: 0
	AtSampleValue      = 16 // i64
)

// Layout Line: row of LOG. Its size and the offsets of its fields.
const (
	SizeLine     = 16
	AtLineLevel  = 0  // u32: Level
	AtLineRow    = 4  // u32: input row, or None
	AtLineOffset = 8  // u32: of the text in HEAP
	AtLineLength = 12 // u32
)

// Layout Acc: row of ACCS. Its size and the offsets of its fields.
const (
	SizeAcc     = 8
	AtAccOffset = 0 // u32: in HEAP, a multiple of 8
	AtAccLength = 4 // u32: 0: an accumulator over nothing, which the guest has to create
)

// Layout Step: row of STEPS. Its size and the offsets of its fields.
const (
	SizeStep    = 16
	AtStepOp    = 0  // u32: Step
	AtStepAcc   = 4  // u32: row of ACCS
	AtStepFrom  = 8  // u32: first pair; of Merge: row of ACCS
	AtStepCount = 12 // u32: pairs
)

// Layout Value: a value with its type. Its size and the offsets of its fields.
const (
	SizeValue     = 32
	AtValueKind   = 0  // u32: Kind
	AtValueLength = 4  // u32: of the bytes in HEAP
	AtValueLow    = 8  // u64: see Kind
	AtValueHigh   = 16 // u64: see Kind
	AtValueFloat  = 24 // u64: bits of an f64: see Kind
)

// Layout Grown: row of GROWN. Its size and the offsets of its fields.
const (
	SizeGrown       = 16
	AtGrownAcc      = 0  // u32: row of ACCS
	AtGrownReserved = 4  // u32: 0
	AtGrownOffset   = 8  // u32: of its bytes in HEAP
	AtGrownLength   = 12 // u32: at most MaxAccumulator
)

// Layout OpenRow: row of OPEN. Its size and the offsets of its fields.
const (
	SizeOpenRow       = 32
	AtOpenRowMinor    = 0  // u32: the host's minor version
	AtOpenRowLogLevel = 4  // u32: Level below which lines are thrown away
	AtOpenRowFeatures = 8  // u64: bits, none defined yet
	AtOpenRowMemory   = 16 // u64: limit in bytes
	AtOpenRowTime     = 24 // u32: limit of a call, ms
	AtOpenRowOutput   = 28 // u32: limit of the bytes of a call's output
)

// Layout Function: row of FUNCTIONS. Its size and the offsets of its fields.
const (
	SizeFunction       = 16
	AtFunctionID       = 0  // u32: function id
	AtFunctionReserved = 4  // u32: 0
	AtFunctionOffset   = 8  // u32: of the name in HEAP
	AtFunctionLength   = 12 // u32
)
