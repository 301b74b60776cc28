// Code generated from abi.json by abi/gen; DO NOT EDIT.

// The version of the ABI.
pub const MAJOR: u32 = 1;
pub const MINOR: u32 = 1;

// Limit: sizes in bytes that every host keeps to.
/// the fixed header of a frame
pub const HEADER_SIZE: usize = 64;
/// one row of the section table, which follows the header
pub const SECTION_SIZE: usize = 16;
/// rows of a section table
pub const MAX_SECTIONS: usize = 32;
/// a whole frame
pub const MAX_FRAME: usize = 1073741824;
/// the manifest's JSON
pub const MAX_MANIFEST: usize = 65536;
/// one accumulator
pub const MAX_ACCUMULATOR: usize = 1048576;

// Magic: the first four bytes of a frame.
/// "wgBI": from host to guest
pub const MAGIC_INPUT: u32 = 1229088631;
/// "wgBO": from guest to host
pub const MAGIC_OUTPUT: u32 = 1329751927;

// None: the index or offset that means there is none.
/// no key, no window, no origin; as a span's offset: null
pub const NONE: u32 = 4294967295;

// Arena: regions of guest memory that wgate_arena hands out.
/// frames for wgate_open and wgate_call
pub const ARENA_INPUT: u32 = 0;
/// answers of imports
pub const ARENA_REPLY: u32 = 1;

// Status: results of wgate_open, wgate_call, wgate_close and wgate_describe; negative: protocol violation.
/// everything that was staged with out holds
pub const STATUS_OK: i32 = 0;
/// nothing was done, the same call may succeed
pub const STATUS_RETRY: i32 = 1;
/// the bundle failed, the instance is sound
pub const STATUS_BATCH_ERROR: i32 = 2;
/// the plugin cannot go on at all
pub const STATUS_PLUGIN_ERROR: i32 = 3;
/// the first Done rows are done (header of the output frame)
pub const STATUS_PARTIAL: i32 = 4;
/// state cells are wanted first
pub const STATUS_NEED_STATE: i32 = 5;

// Op: what wgate_call is asked to do, by kind of function.
/// DoFn: work through a bundle of rows
pub const OP_PROCESS: u32 = 1;
/// DoFn: bring state of an older version up to date (reserved)
pub const OP_MIGRATE: u32 = 2;
/// DoFn: take a new configuration (reserved)
pub const OP_RECONFIGURE: u32 = 3;
/// Combiner: work through a list of steps over accumulators
pub const OP_RUN: u32 = 16;

// Section: kinds of sections; below 64 input, from 64 on output.
/// input: KEYS, the keys of the rows
pub const SECTION_KEYS: u16 = 1;
/// input: WINDOWS, the windows of the rows
pub const SECTION_WINDOWS: u16 = 2;
/// input: ROWS
pub const SECTION_ROWS: u16 = 3;
/// input and output: HEADERS, one row for each header of a record
pub const SECTION_HEADERS: u16 = 4;
/// input: ORIGINS, where rows came from
pub const SECTION_ORIGINS: u16 = 5;
/// input and output: HEAP, the bytes that spans refer to
pub const SECTION_HEAP: u16 = 6;
/// input: typed columns (reserved)
pub const SECTION_COLUMNS: u16 = 7;
/// input: state cells (reserved)
pub const SECTION_STATE: u16 = 8;
/// input: timers that fired (reserved)
pub const SECTION_TIMERS: u16 = 9;
/// input: replies (reserved)
pub const SECTION_HTTP: u16 = 10;
/// input: rows of tables (reserved)
pub const SECTION_TABLES: u16 = 11;
/// input: ACCS, the accumulators of the call
pub const SECTION_ACCS: u16 = 12;
/// input: STEPS, in order
pub const SECTION_STEPS: u16 = 13;
/// input: u32 each, the rows of ARGS that steps name
pub const SECTION_PAIRS: u16 = 14;
/// input: VALUES, for each row one for each argument
pub const SECTION_ARGS: u16 = 15;
/// open: OPEN, one row
pub const SECTION_OPEN: u16 = 32;
/// open: the configuration as JSON
pub const SECTION_CONFIG: u16 = 33;
/// open: FUNCTIONS, those that the pipeline uses
pub const SECTION_FUNCTIONS: u16 = 34;
/// open: NAMES, capabilities that were granted
pub const SECTION_GRANTS: u16 = 35;
/// output: input rows that pass unchanged; bitmap, or index list with flag Index
pub const SECTION_KEEP: u16 = 64;
/// output: EMIT rows
pub const SECTION_EMIT: u16 = 65;
/// output: FAIL rows
pub const SECTION_FAIL: u16 = 66;
/// output: METRIC rows
pub const SECTION_METRIC: u16 = 67;
/// output: LOG rows
pub const SECTION_LOG: u16 = 68;
/// output: changes of state (reserved)
pub const SECTION_STATE_OPS: u16 = 69;
/// output: timers set and cleared (reserved)
pub const SECTION_TIMER_OPS: u16 = 70;
/// output: HTTP requests (reserved)
pub const SECTION_REQUESTS: u16 = 71;
/// output: GROWN, accumulators that have changed
pub const SECTION_GROWN: u16 = 72;
/// output: VALUES, one for each step Extract, in order
pub const SECTION_RESULTS: u16 = 73;

// Flag: flags of a section.
/// who does not know the section refuses the frame; without it the section is skipped
pub const FLAG_CRITICAL: u16 = 1;
/// KEEP is a list of u32 row numbers, strictly rising, and not a bitmap
pub const FLAG_INDEX: u16 = 2;

// Form: what the bytes of a key or value are.
/// there is none; in EMIT: as in the input row
pub const FORM_MISSING: u8 = 0;
/// null, which is not empty
pub const FORM_NULL: u8 = 1;
/// JSON text
pub const FORM_JSON: u8 = 2;
/// UTF-8 text as it is, without quotes
pub const FORM_TEXT: u8 = 3;
/// any bytes
pub const FORM_BYTES: u8 = 4;

// RowOp: what an input row is.
/// an element
pub const ROW_OP_ELEMENT: u8 = 0;
/// a timer that fired (reserved)
pub const ROW_OP_TIMER: u8 = 1;
/// an HTTP reply (reserved)
pub const ROW_OP_REPLY: u8 = 2;
/// the end of the bundle (reserved)
pub const ROW_OP_FINISH: u8 = 3;

// Pane: the pane byte of an input row.
/// 0 early, 1 on time, 2 late
pub const PANE_TIMING_MASK: u8 = 3;
/// first pane of its window
pub const PANE_FIRST: u8 = 4;
/// last pane of its window
pub const PANE_LAST: u8 = 8;

// Given: what an EMIT row does not take over from its input row.
/// the key
pub const GIVEN_KEY: u16 = 1;
/// the value
pub const GIVEN_VALUE: u16 = 2;
/// the headers
pub const GIVEN_HEADERS: u16 = 4;
/// the event time
pub const GIVEN_TIME: u16 = 8;

// Level: levels of log lines.
pub const LEVEL_DEBUG: u32 = 0;
pub const LEVEL_INFO: u32 = 1;
pub const LEVEL_WARN: u32 = 2;
pub const LEVEL_ERROR: u32 = 3;

// Step: what a step of Run does with its accumulator.
/// folds the rows of pairs (From, From+Count) in, in order
pub const STEP_ADD: u32 = 1;
/// folds accumulator From in, whose elements count as having come later
pub const STEP_MERGE: u32 = 2;
/// gives its result
pub const STEP_EXTRACT: u32 = 3;
/// takes the rows of pairs (From, From+Count) back out
pub const STEP_UNCOMBINE: u32 = 4;
/// makes it smaller (reserved)
pub const STEP_COMPACT: u32 = 5;
/// adds each row of pairs (From, From+Count) to an empty accumulator of its own, which is then dropped: only FAIL counts
pub const STEP_CHECK: u32 = 6;

// Kind: what a VALUE is.
/// there is none
pub const KIND_MISSING: u32 = 0;
pub const KIND_NULL: u32 = 1;
/// Low is 0 or 1
pub const KIND_BOOL: u32 = 2;
/// Low is an i64, Float the nearest f64
pub const KIND_INT: u32 = 3;
/// High and Low are a 128-bit count of 1e-18, Float the nearest f64
pub const KIND_DECIMAL: u32 = 4;
/// Float
pub const KIND_FLOAT: u32 = 5;
/// UTF-8 text at Low in HEAP
pub const KIND_TEXT: u32 = 6;
/// any bytes at Low in HEAP
pub const KIND_BYTES: u32 = 7;
/// Low is ms since 1970
pub const KIND_TIME: u32 = 8;
/// Low is ms
pub const KIND_DURATION: u32 = 9;
/// JSON text at Low in HEAP
pub const KIND_JSON: u32 = 10;
/// results only: code, blank, text at Low in HEAP
pub const KIND_ERROR: u32 = 11;

// Metric: kinds of metrics.
/// the value is added
pub const METRIC_COUNTER: u32 = 0;
/// the value replaces the last one
pub const METRIC_GAUGE: u32 = 1;

// Out: results of the import out.
/// the frame is staged
pub const OUT_OK: i32 = 0;
/// the limit of bytes for one call is reached: nothing was staged, end the call with Partial
pub const OUT_OVERFLOW: i32 = -1;
/// the span is not inside the memory
pub const OUT_BAD_SPAN: i32 = -2;

// Layout Header: head of every frame. Its size and the offsets of its fields.
pub const SIZE_HEADER: usize = 64;
/// u32: Magic
pub const AT_HEADER_MAGIC: usize = 0;
/// u16: minor version of who wrote it
pub const AT_HEADER_MINOR: usize = 4;
/// u16: 0
pub const AT_HEADER_FLAGS: usize = 6;
/// u32: function id
pub const AT_HEADER_FN: usize = 8;
/// u32: Op; in an output frame with status Partial the number of rows that are done
pub const AT_HEADER_OP: usize = 12;
/// u64: number of the epoch
pub const AT_HEADER_EPOCH: usize = 16;
/// u64: number of the call on this instance
pub const AT_HEADER_BUNDLE: usize = 24;
/// i64: processing time, ms since 1970
pub const AT_HEADER_NOW: usize = 32;
/// i64: input watermark before the first row
pub const AT_HEADER_WATERMARK: usize = 40;
/// u32: rows of the section table
pub const AT_HEADER_SECTIONS: usize = 48;
/// u32: length of the frame
pub const AT_HEADER_TOTAL: usize = 52;
/// u32: a guest may write here the row that it works on: after a trap the host tries that one first
pub const AT_HEADER_CURSOR: usize = 56;
/// u32: number of input rows
pub const AT_HEADER_ROWS: usize = 60;

// Layout Entry: row of the section table. Its size and the offsets of its fields.
pub const SIZE_ENTRY: usize = 16;
/// u16: Section
pub const AT_ENTRY_KIND: usize = 0;
/// u16: Flag
pub const AT_ENTRY_FLAGS: usize = 2;
/// u32: from the frame's start, a multiple of 8
pub const AT_ENTRY_OFFSET: usize = 4;
/// u32: in bytes
pub const AT_ENTRY_LENGTH: usize = 8;
/// u32: number of rows in it
pub const AT_ENTRY_COUNT: usize = 12;

// Layout Key: row of KEYS. Its size and the offsets of its fields.
pub const SIZE_KEY: usize = 16;
/// u32: of the bytes, in HEAP
pub const AT_KEY_OFFSET: usize = 0;
/// u32
pub const AT_KEY_LENGTH: usize = 4;
/// u32: Form
pub const AT_KEY_FORM: usize = 8;
/// u32: reserved, 0
pub const AT_KEY_HASH: usize = 12;

// Layout Window: row of WINDOWS. Its size and the offsets of its fields.
pub const SIZE_WINDOW: usize = 16;
/// i64: ms
pub const AT_WINDOW_START: usize = 0;
/// i64: ms, not in the window
pub const AT_WINDOW_END: usize = 8;

// Layout Row: row of ROWS. Its size and the offsets of its fields.
pub const SIZE_ROW: usize = 40;
/// u8: RowOp
pub const AT_ROW_OP: usize = 0;
/// u8: Pane
pub const AT_ROW_PANE: usize = 1;
/// i8: 1 insert, -1 take back
pub const AT_ROW_SIGN: usize = 2;
/// u8: Form of the value
pub const AT_ROW_FORM: usize = 3;
/// u32: row of KEYS
pub const AT_ROW_KEY: usize = 4;
/// u32: row of WINDOWS, or None
pub const AT_ROW_WINDOW: usize = 8;
/// u32: first row of HEADERS
pub const AT_ROW_HEADERS: usize = 12;
/// i64: event time, ms
pub const AT_ROW_TIME: usize = 16;
/// u32: of the value in HEAP
pub const AT_ROW_OFFSET: usize = 24;
/// u32: of the value
pub const AT_ROW_LENGTH: usize = 28;
/// u32: rows of HEADERS
pub const AT_ROW_HEADER_COUNT: usize = 32;
/// u32: row of ORIGINS, or None
pub const AT_ROW_ORIGIN: usize = 36;

// Layout Head: row of HEADERS. Its size and the offsets of its fields.
pub const SIZE_HEAD: usize = 16;
/// u32: in HEAP
pub const AT_HEAD_NAME_OFFSET: usize = 0;
/// u32
pub const AT_HEAD_NAME_LENGTH: usize = 4;
/// u32: of the value in HEAP, None for null
pub const AT_HEAD_OFFSET: usize = 8;
/// u32
pub const AT_HEAD_LENGTH: usize = 12;

// Layout Origin: row of ORIGINS. Its size and the offsets of its fields.
pub const SIZE_ORIGIN: usize = 24;
/// u16: index of the source
pub const AT_ORIGIN_SOURCE: usize = 0;
/// u16: index of the topic in the source
pub const AT_ORIGIN_TOPIC: usize = 2;
/// i32
pub const AT_ORIGIN_PARTITION: usize = 4;
/// i64
pub const AT_ORIGIN_OFFSET: usize = 8;
/// i64: the record's own, ms
pub const AT_ORIGIN_TIMESTAMP: usize = 16;

// Layout Emit: row of EMIT. Its size and the offsets of its fields.
pub const SIZE_EMIT: usize = 40;
/// u32: input row that it stems from
pub const AT_EMIT_ROW: usize = 0;
/// u16: 0 main output, n the n-th tag of the function
pub const AT_EMIT_TAG: usize = 4;
/// u16: Given
pub const AT_EMIT_GIVEN: usize = 6;
/// i64: event time, ms
pub const AT_EMIT_TIME: usize = 8;
/// u32: in HEAP
pub const AT_EMIT_KEY_OFFSET: usize = 16;
/// u32
pub const AT_EMIT_KEY_LENGTH: usize = 20;
/// u32: of the value in HEAP
pub const AT_EMIT_OFFSET: usize = 24;
/// u32
pub const AT_EMIT_LENGTH: usize = 28;
/// u32: first row of HEADERS
pub const AT_EMIT_HEADERS: usize = 32;
/// u16: rows of HEADERS
pub const AT_EMIT_HEADER_COUNT: usize = 36;
/// u8: Form
pub const AT_EMIT_KEY_FORM: usize = 38;
/// u8: Form of the value
pub const AT_EMIT_FORM: usize = 39;

// Layout Fail: row of FAIL. Its size and the offsets of its fields.
pub const SIZE_FAIL: usize = 24;
/// u32: input row
pub const AT_FAIL_ROW: usize = 0;
/// u32: 0
pub const AT_FAIL_RESERVED: usize = 4;
/// u32: in HEAP
pub const AT_FAIL_CODE_OFFSET: usize = 8;
/// u32: 1 to 64: lower case letters, digits, _
pub const AT_FAIL_CODE_LENGTH: usize = 12;
/// u32: of the text in HEAP
pub const AT_FAIL_OFFSET: usize = 16;
/// u32: of the text, UTF-8
pub const AT_FAIL_LENGTH: usize = 20;

// Layout Sample: row of METRIC. Its size and the offsets of its fields.
pub const SIZE_SAMPLE: usize = 24;
/// u32: in HEAP
pub const AT_SAMPLE_NAME_OFFSET: usize = 0;
/// u32: 1 to 64: lower case letters, digits, _
pub const AT_SAMPLE_NAME_LENGTH: usize = 4;
/// u32: Metric
pub const AT_SAMPLE_KIND: usize = 8;
/// u32: 0
pub const AT_SAMPLE_RESERVED: usize = 12;
/// i64
pub const AT_SAMPLE_VALUE: usize = 16;

// Layout Line: row of LOG. Its size and the offsets of its fields.
pub const SIZE_LINE: usize = 16;
/// u32: Level
pub const AT_LINE_LEVEL: usize = 0;
/// u32: input row, or None
pub const AT_LINE_ROW: usize = 4;
/// u32: of the text in HEAP
pub const AT_LINE_OFFSET: usize = 8;
/// u32
pub const AT_LINE_LENGTH: usize = 12;

// Layout Acc: row of ACCS. Its size and the offsets of its fields.
pub const SIZE_ACC: usize = 8;
/// u32: in HEAP, a multiple of 8
pub const AT_ACC_OFFSET: usize = 0;
/// u32: 0: an accumulator over nothing, which the guest has to create
pub const AT_ACC_LENGTH: usize = 4;

// Layout Step: row of STEPS. Its size and the offsets of its fields.
pub const SIZE_STEP: usize = 16;
/// u32: Step
pub const AT_STEP_OP: usize = 0;
/// u32: row of ACCS
pub const AT_STEP_ACC: usize = 4;
/// u32: first pair; of Merge: row of ACCS
pub const AT_STEP_FROM: usize = 8;
/// u32: pairs
pub const AT_STEP_COUNT: usize = 12;

// Layout Value: a value with its type. Its size and the offsets of its fields.
pub const SIZE_VALUE: usize = 32;
/// u32: Kind
pub const AT_VALUE_KIND: usize = 0;
/// u32: of the bytes in HEAP
pub const AT_VALUE_LENGTH: usize = 4;
/// u64: see Kind
pub const AT_VALUE_LOW: usize = 8;
/// u64: see Kind
pub const AT_VALUE_HIGH: usize = 16;
/// u64: bits of an f64: see Kind
pub const AT_VALUE_FLOAT: usize = 24;

// Layout Grown: row of GROWN. Its size and the offsets of its fields.
pub const SIZE_GROWN: usize = 16;
/// u32: row of ACCS
pub const AT_GROWN_ACC: usize = 0;
/// u32: 0
pub const AT_GROWN_RESERVED: usize = 4;
/// u32: of its bytes in HEAP
pub const AT_GROWN_OFFSET: usize = 8;
/// u32: at most MaxAccumulator
pub const AT_GROWN_LENGTH: usize = 12;

// Layout OpenRow: row of OPEN. Its size and the offsets of its fields.
pub const SIZE_OPEN_ROW: usize = 32;
/// u32: the host's minor version
pub const AT_OPEN_ROW_MINOR: usize = 0;
/// u32: Level below which lines are thrown away
pub const AT_OPEN_ROW_LOG_LEVEL: usize = 4;
/// u64: bits, none defined yet
pub const AT_OPEN_ROW_FEATURES: usize = 8;
/// u64: limit in bytes
pub const AT_OPEN_ROW_MEMORY: usize = 16;
/// u32: limit of a call, ms
pub const AT_OPEN_ROW_TIME: usize = 24;
/// u32: limit of the bytes of a call's output
pub const AT_OPEN_ROW_OUTPUT: usize = 28;

// Layout Function: row of FUNCTIONS. Its size and the offsets of its fields.
pub const SIZE_FUNCTION: usize = 16;
/// u32: function id
pub const AT_FUNCTION_ID: usize = 0;
/// u32: 0
pub const AT_FUNCTION_RESERVED: usize = 4;
/// u32: of the name in HEAP
pub const AT_FUNCTION_OFFSET: usize = 8;
/// u32
pub const AT_FUNCTION_LENGTH: usize = 12;
