use crate::abi;
use crate::frame::{bytes_of, EmitRow, Entry, FailRow, HeadRow, Header, Layout, LineRow, SampleRow};
use crate::object::Object;

/// The number of a side output: the n-th name of [`crate::Function::tags`]. Tag 0 is the main output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(pub u16);

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Where HEAP starts in an output frame: after the header and a table of OUT_SECTIONS rows.
const OUT_SECTIONS: usize = 8;
pub(crate) const HEAP_AT: usize = abi::HEADER_SIZE + OUT_SECTIONS * abi::SECTION_SIZE;

/// Takes what a function makes of an element. It reuses its memory from call to call.
#[derive(Default)]
pub struct Emitter {
    pub(crate) frame: Vec<u8>, // header, table, HEAP; the other sections follow when the frame is sent
    keep: Vec<u8>,
    emits: Vec<EmitRow>,
    heads: Vec<HeadRow>,
    fails: Vec<FailRow>,
    stats: Vec<SampleRow>,
    lines: Vec<LineRow>,

    row: u32,
    kept: bool,
    failed: bool,
    // What was there before the element at hand. HEAP is not taken back: what nobody refers to does no harm.
    restore: (usize, usize),
}

impl Emitter {
    /// Empties the emitter for a bundle of n rows.
    pub(crate) fn reset(&mut self, n: usize) {
        self.frame.clear();
        self.frame.resize(HEAP_AT, 0);
        self.keep.clear();
        self.keep.resize((n + 7) / 8, 0);
        self.kept = false;
        self.failed = false;
        self.emits.clear();
        self.heads.clear();
        self.fails.clear();
        self.stats.clear();
        self.lines.clear();
    }

    /// Starts the element row.
    pub(crate) fn begin(&mut self, row: u32) {
        self.row = row;
        self.restore = (self.emits.len(), self.heads.len());
    }

    /// Closes the element. A failed one leaves nothing but its failure.
    pub(crate) fn end(&mut self) {
        if self.failed {
            self.failed = false;
            self.emits.truncate(self.restore.0);
            self.heads.truncate(self.restore.1);
            self.keep[self.row as usize >> 3] &= !(1 << (self.row & 7));
        }
    }

    pub(crate) fn put(&mut self, p: &[u8]) -> u32 {
        let at = self.frame.len() as u32;
        self.frame.extend_from_slice(p);
        at
    }

    /// Lets the element pass unchanged.
    pub fn keep(&mut self) {
        self.keep[self.row as usize >> 3] |= 1 << (self.row & 7);
        self.kept = true;
    }

    /// Makes a new row whose value is the JSON text value. Key, headers and time are those of the element unless the methods
    /// of the [`Row`] say otherwise.
    pub fn emit(&mut self, value: &[u8]) -> Row<'_> {
        self.emit_as(value, abi::FORM_JSON)
    }

    /// Makes a new row whose value is text.
    pub fn emit_text(&mut self, value: &str) -> Row<'_> {
        self.emit_as(value.as_bytes(), abi::FORM_TEXT)
    }

    /// Makes a new row whose value is any bytes.
    pub fn emit_bytes(&mut self, value: &[u8]) -> Row<'_> {
        self.emit_as(value, abi::FORM_BYTES)
    }

    /// Makes a new row whose value is null.
    pub fn emit_null(&mut self) -> Row<'_> {
        self.add(abi::GIVEN_VALUE, abi::NONE, 0, abi::FORM_NULL)
    }

    /// Makes a new row with the value of the element, for another key, time, headers or tag.
    pub fn emit_same(&mut self) -> Row<'_> {
        self.add(0, 0, 0, abi::FORM_MISSING)
    }

    fn emit_as(&mut self, value: &[u8], form: u8) -> Row<'_> {
        let at = self.put(value);
        self.add(abi::GIVEN_VALUE, at, value.len() as u32, form)
    }

    pub(crate) fn add(&mut self, given: u16, offset: u32, length: u32, form: u8) -> Row<'_> {
        let row = self.row;
        self.emits.push(EmitRow { row, given, offset, length, form, ..EmitRow::default() });
        Row { out: self }
    }

    /// Starts a new row whose value is a JSON object, which is written field by field; its `emit` ends it.
    pub fn object(&mut self) -> Object<'_> {
        Object::new(self)
    }

    /// Takes the element out: it goes to the dead letters with code (letters a-z, digits, `_`) and text, and whatever else
    /// was emitted for it is dropped.
    pub fn fail(&mut self, code: &str, text: &str) {
        if self.failed {
            return;
        }
        self.failed = true;
        let (code_offset, offset) = (self.put(code.as_bytes()), self.put(text.as_bytes()));
        self.fails.push(FailRow {
            row: self.row,
            reserved: 0,
            code_offset,
            code_length: code.len() as u32,
            offset,
            length: text.len() as u32,
        });
    }

    /// Writes a line to the pipeline's log.
    pub fn log(&mut self, level: Level, text: &str) {
        let offset = self.put(text.as_bytes());
        let level = match level {
            Level::Debug => abi::LEVEL_DEBUG,
            Level::Info => abi::LEVEL_INFO,
            Level::Warn => abi::LEVEL_WARN,
            Level::Error => abi::LEVEL_ERROR,
        };
        self.lines.push(LineRow { level, row: self.row, offset, length: text.len() as u32 });
    }

    /// Adds n to the counter called name (letters a-z, digits, `_`).
    pub fn count(&mut self, name: &str, n: i64) {
        self.sample(name, abi::METRIC_COUNTER, n);
    }

    /// Sets the gauge called name to n.
    pub fn gauge(&mut self, name: &str, n: i64) {
        self.sample(name, abi::METRIC_GAUGE, n);
    }

    fn sample(&mut self, name: &str, kind: u32, value: i64) {
        let name_offset = self.put(name.as_bytes());
        self.stats.push(SampleRow { name_offset, name_length: name.len() as u32, kind, reserved: 0, value });
    }

    /// Whether there is anything to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.frame.len() == HEAP_AT && !self.kept && self.emits.is_empty()
    }

    /// Appends the sections after HEAP, fills in header and table, and returns the frame. done is the number of rows that
    /// are done with it.
    pub(crate) fn build(&mut self, rows: usize, done: usize) -> &[u8] {
        let mut table = Table::new(&mut self.frame);
        if self.kept {
            table.add(abi::SECTION_KEEP, &self.keep, rows);
        }
        table.rows(abi::SECTION_EMIT, &self.emits);
        table.rows(abi::SECTION_HEADERS, &self.heads);
        table.rows(abi::SECTION_FAIL, &self.fails);
        table.rows(abi::SECTION_METRIC, &self.stats);
        table.rows(abi::SECTION_LOG, &self.lines);
        table.finish(rows, done);
        &self.frame
    }
}

/// Writes the section table of an output frame whose HEAP is there already.
pub(crate) struct Table<'a> {
    frame: &'a mut Vec<u8>,
    entries: [Entry; OUT_SECTIONS],
    n: usize,
}

impl<'a> Table<'a> {
    pub(crate) fn new(frame: &'a mut Vec<u8>) -> Table<'a> {
        let heap = (frame.len() - HEAP_AT) as u32;
        let mut t = Table { frame, entries: [Entry::default(); OUT_SECTIONS], n: 1 };
        t.entries[0] = Entry { kind: abi::SECTION_HEAP, flags: 0, offset: HEAP_AT as u32, length: heap, count: heap };
        t
    }

    pub(crate) fn rows<T: Layout>(&mut self, kind: u16, rows: &[T]) {
        self.add(kind, bytes_of(rows), rows.len());
    }

    fn add(&mut self, kind: u16, b: &[u8], count: usize) {
        if count == 0 {
            return;
        }
        self.frame.resize((self.frame.len() + 7) & !7, 0);
        let offset = self.frame.len() as u32;
        self.entries[self.n] = Entry { kind, flags: abi::FLAG_CRITICAL, offset, length: b.len() as u32, count: count as u32 };
        self.frame.extend_from_slice(b);
        self.n += 1;
    }

    pub(crate) fn finish(self, rows: usize, done: usize) {
        let h = Header {
            magic: abi::MAGIC_OUTPUT,
            minor: abi::MINOR as u16,
            op: done as u32,
            sections: self.n as u32,
            total: self.frame.len() as u32,
            cursor: abi::NONE,
            rows: rows as u32,
            ..Header::default()
        };
        self.frame[..abi::HEADER_SIZE].copy_from_slice(bytes_of(&[h]));
        self.frame[abi::HEADER_SIZE..HEAP_AT].copy_from_slice(bytes_of(&self.entries));
    }
}

/// A row that was just emitted.
pub struct Row<'a> {
    out: &'a mut Emitter,
}

impl Row<'_> {
    fn last(&mut self) -> &mut EmitRow {
        let n = self.out.emits.len();
        &mut self.out.emits[n - 1]
    }

    /// Sets the key to text.
    pub fn key(self, key: &str) -> Self {
        self.key_as(key.as_bytes(), abi::FORM_TEXT)
    }

    /// Sets the key to JSON text.
    pub fn key_json(self, key: &[u8]) -> Self {
        self.key_as(key, abi::FORM_JSON)
    }

    /// Sets the key to any bytes.
    pub fn key_bytes(self, key: &[u8]) -> Self {
        self.key_as(key, abi::FORM_BYTES)
    }

    /// Sets the key to null.
    pub fn key_null(mut self) -> Self {
        let e = self.last();
        e.given |= abi::GIVEN_KEY;
        e.key_offset = abi::NONE;
        e.key_length = 0;
        e.key_form = abi::FORM_NULL;
        self
    }

    fn key_as(mut self, key: &[u8], form: u8) -> Self {
        let at = self.out.put(key);
        let e = self.last();
        e.given |= abi::GIVEN_KEY;
        e.key_offset = at;
        e.key_length = key.len() as u32;
        e.key_form = form;
        self
    }

    /// Sets the event time, in ms since 1970.
    pub fn time(mut self, ms: i64) -> Self {
        let e = self.last();
        e.given |= abi::GIVEN_TIME;
        e.time = ms;
        self
    }

    /// Sends the row to a side output.
    pub fn to(mut self, tag: Tag) -> Self {
        self.last().tag = tag.0;
        self
    }

    /// Appends a header; the headers of the element are then not taken over. None is null.
    pub fn header(self, name: &str, value: Option<&[u8]>) -> Self {
        let mut row = self.no_headers();
        let name_offset = row.out.put(name.as_bytes());
        let mut h = HeadRow { name_offset, name_length: name.len() as u32, offset: abi::NONE, length: 0 };
        if let Some(v) = value {
            h.offset = row.out.put(v);
            h.length = v.len() as u32;
        }
        row.out.heads.push(h);
        row.last().header_count += 1;
        row
    }

    /// Leaves out the headers of the element.
    pub fn no_headers(mut self) -> Self {
        let at = self.out.heads.len() as u32;
        let e = self.last();
        if e.given & abi::GIVEN_HEADERS == 0 {
            e.given |= abi::GIVEN_HEADERS;
            e.headers = at;
        }
        self
    }
}
