// Code generated from abi.json by abi/gen; DO NOT EDIT.

package wgate

// The version of the ABI.
const (
	major = 1
	minor = 1
)

// Limit: sizes in bytes that every host keeps to.
const (
	headerSize     = 64         // the fixed header of a frame
	sectionSize    = 16         // one row of the section table, which follows the header
	maxSections    = 32         // rows of a section table
	maxFrame       = 1073741824 // a whole frame
	maxManifest    = 65536      // the manifest's JSON
	maxAccumulator = 1048576    // one accumulator
)

// Magic: the first four bytes of a frame.
const (
	magicInput  uint32 = 1229088631 // "wgBI": from host to guest
	magicOutput uint32 = 1329751927 // "wgBO": from guest to host
)

// None: the index or offset that means there is none.
const (
	none uint32 = 4294967295 // no key, no window, no origin; as a span's offset: null
)

// Arena: regions of guest memory that wgate_arena hands out.
const (
	arenaInput uint32 = 0 // frames for wgate_open and wgate_call
	arenaReply uint32 = 1 // answers of imports
)

// Status: results of wgate_open, wgate_call, wgate_close and wgate_describe; negative: protocol violation.
const (
	statusOK          int32 = 0 // everything that was staged with out holds
	statusRetry       int32 = 1 // nothing was done, the same call may succeed
	statusBatchError  int32 = 2 // the bundle failed, the instance is sound
	statusPluginError int32 = 3 // the plugin cannot go on at all
	statusPartial     int32 = 4 // the first Done rows are done (header of the output frame)
	statusNeedState   int32 = 5 // state cells are wanted first
)

// Op: what wgate_call is asked to do, by kind of function.
const (
	opProcess     uint32 = 1  // DoFn: work through a bundle of rows
	opMigrate     uint32 = 2  // DoFn: bring state of an older version up to date (reserved)
	opReconfigure uint32 = 3  // DoFn: take a new configuration (reserved)
	opRun         uint32 = 16 // Combiner: work through a list of steps over accumulators
)

// Section: kinds of sections; below 64 input, from 64 on output.
const (
	sectionKeys      uint16 = 1  // input: KEYS, the keys of the rows
	sectionWindows   uint16 = 2  // input: WINDOWS, the windows of the rows
	sectionRows      uint16 = 3  // input: ROWS
	sectionHeaders   uint16 = 4  // input and output: HEADERS, one row for each header of a record
	sectionOrigins   uint16 = 5  // input: ORIGINS, where rows came from
	sectionHeap      uint16 = 6  // input and output: HEAP, the bytes that spans refer to
	sectionColumns   uint16 = 7  // input: typed columns (reserved)
	sectionState     uint16 = 8  // input: state cells (reserved)
	sectionTimers    uint16 = 9  // input: timers that fired (reserved)
	sectionHTTP      uint16 = 10 // input: replies (reserved)
	sectionTables    uint16 = 11 // input: rows of tables (reserved)
	sectionAccs      uint16 = 12 // input: ACCS, the accumulators of the call
	sectionSteps     uint16 = 13 // input: STEPS, in order
	sectionPairs     uint16 = 14 // input: u32 each, the rows of ARGS that steps name
	sectionArgs      uint16 = 15 // input: VALUES, for each row one for each argument
	sectionOpen      uint16 = 32 // open: OPEN, one row
	sectionConfig    uint16 = 33 // open: the configuration as JSON
	sectionFunctions uint16 = 34 // open: FUNCTIONS, those that the pipeline uses
	sectionGrants    uint16 = 35 // open: NAMES, capabilities that were granted
	sectionKeep      uint16 = 64 // output: input rows that pass unchanged; bitmap, or index list with flag Index
	sectionEmit      uint16 = 65 // output: EMIT rows
	sectionFail      uint16 = 66 // output: FAIL rows
	sectionMetric    uint16 = 67 // output: METRIC rows
	sectionLog       uint16 = 68 // output: LOG rows
	sectionStateOps  uint16 = 69 // output: changes of state (reserved)
	sectionTimerOps  uint16 = 70 // output: timers set and cleared (reserved)
	sectionRequests  uint16 = 71 // output: HTTP requests (reserved)
	sectionGrown     uint16 = 72 // output: GROWN, accumulators that have changed
	sectionResults   uint16 = 73 // output: VALUES, one for each step Extract, in order
)

// Flag: flags of a section.
const (
	flagCritical uint16 = 1 // who does not know the section refuses the frame; without it the section is skipped
	flagIndex    uint16 = 2 // KEEP is a list of u32 row numbers, strictly rising, and not a bitmap
)

// Form: what the bytes of a key or value are.
const (
	formMissing uint8 = 0 // there is none; in EMIT: as in the input row
	formNull    uint8 = 1 // null, which is not empty
	formJSON    uint8 = 2 // JSON text
	formText    uint8 = 3 // UTF-8 text as it is, without quotes
	formBytes   uint8 = 4 // any bytes
)

// RowOp: what an input row is.
const (
	rowOpElement uint8 = 0 // an element
	rowOpTimer   uint8 = 1 // a timer that fired (reserved)
	rowOpReply   uint8 = 2 // an HTTP reply (reserved)
	rowOpFinish  uint8 = 3 // the end of the bundle (reserved)
)

// Pane: the pane byte of an input row.
const (
	paneTimingMask uint8 = 3 // 0 early, 1 on time, 2 late
	paneFirst      uint8 = 4 // first pane of its window
	paneLast       uint8 = 8 // last pane of its window
)

// Given: what an EMIT row does not take over from its input row.
const (
	givenKey     uint16 = 1 // the key
	givenValue   uint16 = 2 // the value
	givenHeaders uint16 = 4 // the headers
	givenTime    uint16 = 8 // the event time
)

// Level: levels of log lines.
const (
	levelDebug uint32 = 0
	levelInfo  uint32 = 1
	levelWarn  uint32 = 2
	levelError uint32 = 3
)

// Step: what a step of Run does with its accumulator.
const (
	stepAdd       uint32 = 1 // folds the rows of pairs [From, From+Count) in, in order
	stepMerge     uint32 = 2 // folds accumulator From in, whose elements count as having come later
	stepExtract   uint32 = 3 // gives its result
	stepUncombine uint32 = 4 // takes the rows of pairs [From, From+Count) back out
	stepCompact   uint32 = 5 // makes it smaller (reserved)
	stepCheck     uint32 = 6 // adds each row of pairs [From, From+Count) to an empty accumulator of its own, which is then dropped: only FAIL counts
)

// Kind: what a VALUE is.
const (
	kindMissing  uint32 = 0 // there is none
	kindNull     uint32 = 1
	kindBool     uint32 = 2  // Low is 0 or 1
	kindInt      uint32 = 3  // Low is an i64, Float the nearest f64
	kindDecimal  uint32 = 4  // High and Low are a 128-bit count of 1e-18, Float the nearest f64
	kindFloat    uint32 = 5  // Float
	kindText     uint32 = 6  // UTF-8 text at Low in HEAP
	kindBytes    uint32 = 7  // any bytes at Low in HEAP
	kindTime     uint32 = 8  // Low is ms since 1970
	kindDuration uint32 = 9  // Low is ms
	kindJSON     uint32 = 10 // JSON text at Low in HEAP
	kindError    uint32 = 11 // results only: code, blank, text at Low in HEAP
)

// Metric: kinds of metrics.
const (
	metricCounter uint32 = 0 // the value is added
	metricGauge   uint32 = 1 // the value replaces the last one
)

// Out: results of the import out.
const (
	outOK       int32 = 0  // the frame is staged
	outOverflow int32 = -1 // the limit of bytes for one call is reached: nothing was staged, end the call with Partial
	outBadSpan  int32 = -2 // the span is not inside the memory
)

// Layout Header: head of every frame. Its size and the offsets of its fields.
const (
	sizeHeader        = 64
	atHeaderMagic     = 0  // u32: Magic
	atHeaderMinor     = 4  // u16: minor version of who wrote it
	atHeaderFlags     = 6  // u16: 0
	atHeaderFn        = 8  // u32: function id
	atHeaderOp        = 12 // u32: Op; in an output frame with status Partial the number of rows that are done
	atHeaderEpoch     = 16 // u64: number of the epoch
	atHeaderBundle    = 24 // u64: number of the call on this instance
	atHeaderNow       = 32 // i64: processing time, ms since 1970
	atHeaderWatermark = 40 // i64: input watermark before the first row
	atHeaderSections  = 48 // u32: rows of the section table
	atHeaderTotal     = 52 // u32: length of the frame
	atHeaderCursor    = 56 // u32: a guest may write here the row that it works on: after a trap the host tries that one first
	atHeaderRows      = 60 // u32: number of input rows
)

// Layout Entry: row of the section table. Its size and the offsets of its fields.
const (
	sizeEntry     = 16
	atEntryKind   = 0  // u16: Section
	atEntryFlags  = 2  // u16: Flag
	atEntryOffset = 4  // u32: from the frame's start, a multiple of 8
	atEntryLength = 8  // u32: in bytes
	atEntryCount  = 12 // u32: number of rows in it
)

// Layout Key: row of KEYS. Its size and the offsets of its fields.
const (
	sizeKey     = 16
	atKeyOffset = 0  // u32: of the bytes, in HEAP
	atKeyLength = 4  // u32
	atKeyForm   = 8  // u32: Form
	atKeyHash   = 12 // u32: reserved, 0
)

// Layout Window: row of WINDOWS. Its size and the offsets of its fields.
const (
	sizeWindow    = 16
	atWindowStart = 0 // i64: ms
	atWindowEnd   = 8 // i64: ms, not in the window
)

// Layout Row: row of ROWS. Its size and the offsets of its fields.
const (
	sizeRow          = 40
	atRowOp          = 0  // u8: RowOp
	atRowPane        = 1  // u8: Pane
	atRowSign        = 2  // i8: 1 insert, -1 take back
	atRowForm        = 3  // u8: Form of the value
	atRowKey         = 4  // u32: row of KEYS
	atRowWindow      = 8  // u32: row of WINDOWS, or None
	atRowHeaders     = 12 // u32: first row of HEADERS
	atRowTime        = 16 // i64: event time, ms
	atRowOffset      = 24 // u32: of the value in HEAP
	atRowLength      = 28 // u32: of the value
	atRowHeaderCount = 32 // u32: rows of HEADERS
	atRowOrigin      = 36 // u32: row of ORIGINS, or None
)

// Layout Head: row of HEADERS. Its size and the offsets of its fields.
const (
	sizeHead         = 16
	atHeadNameOffset = 0  // u32: in HEAP
	atHeadNameLength = 4  // u32
	atHeadOffset     = 8  // u32: of the value in HEAP, None for null
	atHeadLength     = 12 // u32
)

// Layout Origin: row of ORIGINS. Its size and the offsets of its fields.
const (
	sizeOrigin        = 24
	atOriginSource    = 0  // u16: index of the source
	atOriginTopic     = 2  // u16: index of the topic in the source
	atOriginPartition = 4  // i32
	atOriginOffset    = 8  // i64
	atOriginTimestamp = 16 // i64: the record's own, ms
)

// Layout Emit: row of EMIT. Its size and the offsets of its fields.
const (
	sizeEmit          = 40
	atEmitRow         = 0  // u32: input row that it stems from
	atEmitTag         = 4  // u16: 0 main output, n the n-th tag of the function
	atEmitGiven       = 6  // u16: Given
	atEmitTime        = 8  // i64: event time, ms
	atEmitKeyOffset   = 16 // u32: in HEAP
	atEmitKeyLength   = 20 // u32
	atEmitOffset      = 24 // u32: of the value in HEAP
	atEmitLength      = 28 // u32
	atEmitHeaders     = 32 // u32: first row of HEADERS
	atEmitHeaderCount = 36 // u16: rows of HEADERS
	atEmitKeyForm     = 38 // u8: Form
	atEmitForm        = 39 // u8: Form of the value
)

// Layout Fail: row of FAIL. Its size and the offsets of its fields.
const (
	sizeFail         = 24
	atFailRow        = 0  // u32: input row
	atFailReserved   = 4  // u32: 0
	atFailCodeOffset = 8  // u32: in HEAP
	atFailCodeLength = 12 // u32: 1 to 64: lower case letters, digits, _
	atFailOffset     = 16 // u32: of the text in HEAP
	atFailLength     = 20 // u32: of the text, UTF-8
)

// Layout Sample: row of METRIC. Its size and the offsets of its fields.
const (
	sizeSample         = 24
	atSampleNameOffset = 0  // u32: in HEAP
	atSampleNameLength = 4  // u32: 1 to 64: lower case letters, digits, _
	atSampleKind       = 8  // u32: Metric
	atSampleReserved   = 12 // u32: 0
	atSampleValue      = 16 // i64
)

// Layout Line: row of LOG. Its size and the offsets of its fields.
const (
	sizeLine     = 16
	atLineLevel  = 0  // u32: Level
	atLineRow    = 4  // u32: input row, or None
	atLineOffset = 8  // u32: of the text in HEAP
	atLineLength = 12 // u32
)

// Layout Acc: row of ACCS. Its size and the offsets of its fields.
const (
	sizeAcc     = 8
	atAccOffset = 0 // u32: in HEAP, a multiple of 8
	atAccLength = 4 // u32: 0: an accumulator over nothing, which the guest has to create
)

// Layout Step: row of STEPS. Its size and the offsets of its fields.
const (
	sizeStep    = 16
	atStepOp    = 0  // u32: Step
	atStepAcc   = 4  // u32: row of ACCS
	atStepFrom  = 8  // u32: first pair; of Merge: row of ACCS
	atStepCount = 12 // u32: pairs
)

// Layout Value: a value with its type. Its size and the offsets of its fields.
const (
	sizeValue     = 32
	atValueKind   = 0  // u32: Kind
	atValueLength = 4  // u32: of the bytes in HEAP
	atValueLow    = 8  // u64: see Kind
	atValueHigh   = 16 // u64: see Kind
	atValueFloat  = 24 // u64: bits of an f64: see Kind
)

// Layout Grown: row of GROWN. Its size and the offsets of its fields.
const (
	sizeGrown       = 16
	atGrownAcc      = 0  // u32: row of ACCS
	atGrownReserved = 4  // u32: 0
	atGrownOffset   = 8  // u32: of its bytes in HEAP
	atGrownLength   = 12 // u32: at most MaxAccumulator
)

// Layout OpenRow: row of OPEN. Its size and the offsets of its fields.
const (
	sizeOpenRow       = 32
	atOpenRowMinor    = 0  // u32: the host's minor version
	atOpenRowLogLevel = 4  // u32: Level below which lines are thrown away
	atOpenRowFeatures = 8  // u64: bits, none defined yet
	atOpenRowMemory   = 16 // u64: limit in bytes
	atOpenRowTime     = 24 // u32: limit of a call, ms
	atOpenRowOutput   = 28 // u32: limit of the bytes of a call's output
)

// Layout Function: row of FUNCTIONS. Its size and the offsets of its fields.
const (
	sizeFunction       = 16
	atFunctionID       = 0  // u32: function id
	atFunctionReserved = 4  // u32: 0
	atFunctionOffset   = 8  // u32: of the name in HEAP
	atFunctionLength   = 12 // u32
)
