use crate::abi;
use crate::emitter::HEAP_AT;
use crate::frame::{bytes_of, rows_at, sections, EmitRow, Entry, FailRow, HeadRow, Header, InRow, KeyRow, LineRow, SampleRow};
use crate::guest::{Guest, Host};
use crate::register::Plugin;

/// Runs the registered functions natively, through the frames of the real host, for tests.
pub struct Harness {
    pub(crate) guest: Guest,
    pub(crate) host: Recorder,
}

/// One element of the input or one row of the output. None is null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarnessRow {
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub time: i64,
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// Of an output row: the side output.
    pub tag: u16,
    /// Of an output row: the element that it stems from.
    pub from: usize,
    /// Of an output row: the element passed unchanged.
    pub kept: bool,
}

impl HarnessRow {
    /// A row with a value of JSON text and nothing else.
    pub fn json(value: &str) -> HarnessRow {
        HarnessRow { value: Some(value.as_bytes().to_vec()), ..HarnessRow::default() }
    }
}

/// An element that the function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub row: usize,
    pub code: String,
    pub text: String,
}

/// What a function made of its input, in order.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub rows: Vec<HarnessRow>,
    pub failed: Vec<Failure>,
    pub counts: Vec<(String, i64)>,
    pub logs: Vec<String>,
}

/// Stands in for wgate.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) frames: Vec<Vec<u64>>,
    pub(crate) why: String,
}

impl Host for Recorder {
    fn out(&mut self, frame: &[u8]) -> i32 {
        self.frames.push(words(frame));
        abi::OUT_OK
    }

    fn fail(&mut self, text: &str) {
        self.why = text.to_string();
    }
}

/// A copy of b that is 8-aligned; every frame's length is in its header.
fn words(b: &[u8]) -> Vec<u64> {
    let mut w = vec![0u64; (b.len() + 7) / 8];
    // SAFETY: w has at least the bytes of b.
    unsafe { std::ptr::copy_nonoverlapping(b.as_ptr(), w.as_mut_ptr() as *mut u8, b.len()) };
    w
}

pub(crate) fn bytes(w: &[u64]) -> &[u8] {
    // SAFETY: any u64 is eight bytes.
    let all = unsafe { std::slice::from_raw_parts(w.as_ptr() as *const u8, w.len() * 8) };
    let n = u32::from_le_bytes([all[52], all[53], all[54], all[55]]) as usize;
    &all[..n.min(all.len())]
}

impl Harness {
    /// Opens the plugin with a configuration as JSON text, "" for none. The error is that of `on_open`.
    pub fn new(register: fn(&mut Plugin), config: &str) -> Result<Harness, String> {
        let mut h = Harness { guest: Guest::new(register), host: Recorder::default() };
        let mut b = FrameBuilder::new();
        b.add(abi::SECTION_CONFIG, config.as_bytes(), config.len());
        let n = h.load(&b.build(0, 0, 0));
        match h.guest.open(n, &mut h.host) {
            abi::STATUS_OK => Ok(h),
            _ => Err(h.host.why),
        }
    }

    pub(crate) fn load(&mut self, frame: &[u8]) -> u32 {
        let w = words(frame);
        let arena = self.guest.arena(abi::ARENA_INPUT, frame.len() as u32).expect("the input arena");
        arena[..w.len()].copy_from_slice(&w);
        frame.len() as u32
    }

    pub(crate) fn id(&self, name: &str) -> Result<u32, String> {
        let at = self.guest.plugin.functions.iter().position(|f| f.name == name);
        at.map(|i| i as u32).ok_or_else(|| format!("no function is called {:?}", name))
    }

    /// The manifest that `wgate plugin pack` will find.
    pub fn manifest(&self) -> String {
        String::from_utf8_lossy(&self.guest.plugin.manifest()).into_owned()
    }

    /// Runs the function called name over rows.
    pub fn process(&mut self, name: &str, rows: &[HarnessRow]) -> Result<Outcome, String> {
        let id = self.id(name)?;
        self.host = Recorder::default();
        let n = self.load(&input_frame(id, rows));
        let status = self.guest.call(id, abi::OP_PROCESS, n, &mut self.host);
        if status != abi::STATUS_OK {
            return Err(format!("status {}: {}", status, self.host.why));
        }
        let mut out = Outcome::default();
        for f in &self.host.frames {
            out.read(bytes(f), rows).ok_or("an output frame is not sound")?;
        }
        Ok(out)
    }
}

/// Writes rows as the host does.
fn input_frame(id: u32, rows: &[HarnessRow]) -> Vec<u8> {
    let mut b = FrameBuilder::new();
    let (mut keys, mut ins, mut heads) = (Vec::new(), Vec::new(), Vec::new());
    for (i, r) in rows.iter().enumerate() {
        keys.push(match &r.key {
            None => KeyRow { offset: abi::NONE, form: abi::FORM_NULL as u32, ..KeyRow::default() },
            Some(k) => KeyRow { offset: b.put(k), length: k.len() as u32, form: abi::FORM_TEXT as u32, hash: 0 },
        });
        let mut row = InRow {
            sign: 1,
            key: i as u32,
            window: abi::NONE,
            origin: abi::NONE,
            time: r.time,
            form: abi::FORM_NULL,
            offset: abi::NONE,
            headers: heads.len() as u32,
            header_count: r.headers.len() as u32,
            ..InRow::default()
        };
        if let Some(v) = &r.value {
            row.offset = b.put(v);
            row.length = v.len() as u32;
            row.form = abi::FORM_JSON;
        }
        ins.push(row);
        for (name, value) in &r.headers {
            let name_offset = b.put(name.as_bytes());
            let (offset, length) = match value {
                None => (abi::NONE, 0),
                Some(v) => (b.put(v), v.len() as u32),
            };
            heads.push(HeadRow { name_offset, name_length: name.len() as u32, offset, length });
        }
    }
    b.add(abi::SECTION_KEYS, bytes_of(&keys), keys.len());
    b.add(abi::SECTION_ROWS, bytes_of(&ins), ins.len());
    b.add(abi::SECTION_HEADERS, bytes_of(&heads), heads.len());
    b.build(id, abi::OP_PROCESS, rows.len())
}

/// Writes an input frame: HEAP first, then sections, the table at their head.
#[derive(Clone)]
pub(crate) struct FrameBuilder {
    frame: Vec<u8>,
    table: Vec<Entry>,
}

impl FrameBuilder {
    pub(crate) fn new() -> FrameBuilder {
        FrameBuilder { frame: vec![0; HEAP_AT], table: Vec::new() }
    }

    pub(crate) fn put(&mut self, p: &[u8]) -> u32 {
        self.frame.extend_from_slice(p);
        (self.frame.len() - p.len()) as u32
    }

    pub(crate) fn align(&mut self) {
        self.frame.resize((self.frame.len() + 7) & !7, 0);
    }

    pub(crate) fn add(&mut self, kind: u16, rows: &[u8], count: usize) {
        if self.table.is_empty() {
            let n = (self.frame.len() - HEAP_AT) as u32;
            self.table.push(Entry { kind: abi::SECTION_HEAP, flags: 0, offset: HEAP_AT as u32, length: n, count: n });
        }
        self.align();
        let offset = self.frame.len() as u32;
        let entry = Entry { kind, flags: abi::FLAG_CRITICAL, offset, length: rows.len() as u32, count: count as u32 };
        self.table.push(entry);
        self.frame.extend_from_slice(rows);
    }

    pub(crate) fn build(mut self, id: u32, op: u32, rows: usize) -> Vec<u8> {
        let h = Header {
            magic: abi::MAGIC_INPUT,
            minor: abi::MINOR as u16,
            fn_id: id,
            op,
            sections: self.table.len() as u32,
            total: self.frame.len() as u32,
            cursor: abi::NONE,
            rows: rows as u32,
            ..Header::default()
        };
        self.frame[..abi::HEADER_SIZE].copy_from_slice(bytes_of(&[h]));
        let table = bytes_of(&self.table);
        self.frame[abi::HEADER_SIZE..abi::HEADER_SIZE + table.len()].copy_from_slice(table);
        self.frame
    }
}

impl Outcome {
    /// Takes one output frame apart, with the order that SPEC.md states.
    fn read(&mut self, frame: &[u8], rows: &[HarnessRow]) -> Option<()> {
        let (_, table) = sections(frame, abi::MAGIC_OUTPUT)?;
        let (mut keep, mut emits, mut heads): (&[u8], &[EmitRow], &[HeadRow]) = (&[], &[], &[]);
        let text = |off: u32, n: u32| Some(String::from_utf8_lossy(frame.get(off as usize..)?.get(..n as usize)?).into_owned());
        for e in table {
            match e.kind {
                abi::SECTION_KEEP => keep = frame.get(e.offset as usize..)?.get(..e.length as usize)?,
                abi::SECTION_EMIT => emits = rows_at(frame, e)?,
                abi::SECTION_HEADERS => heads = rows_at(frame, e)?,
                abi::SECTION_FAIL => {
                    for f in rows_at::<FailRow>(frame, e)? {
                        let (code, text) = (text(f.code_offset, f.code_length)?, text(f.offset, f.length)?);
                        self.failed.push(Failure { row: f.row as usize, code, text });
                    }
                }
                abi::SECTION_METRIC => {
                    for s in rows_at::<SampleRow>(frame, e)? {
                        self.counts.push((text(s.name_offset, s.name_length)?, s.value));
                    }
                }
                abi::SECTION_LOG => {
                    for l in rows_at::<LineRow>(frame, e)? {
                        self.logs.push(text(l.offset, l.length)?);
                    }
                }
                _ => (),
            }
        }
        let mut kept = 0;
        for e in emits {
            self.keep_to(keep, &mut kept, e.row as usize + 1, rows);
            self.rows.push(resolve(e, frame, heads, rows)?);
        }
        self.keep_to(keep, &mut kept, rows.len(), rows);
        Some(())
    }

    fn keep_to(&mut self, keep: &[u8], kept: &mut usize, end: usize, rows: &[HarnessRow]) {
        while *kept < end && *kept < keep.len() * 8 {
            if keep[*kept >> 3] & (1 << (*kept & 7)) != 0 {
                self.rows.push(HarnessRow { from: *kept, kept: true, ..rows[*kept].clone() });
            }
            *kept += 1;
        }
    }
}

/// Fills in what an EMIT row takes over from its element.
fn resolve(e: &EmitRow, frame: &[u8], heads: &[HeadRow], rows: &[HarnessRow]) -> Option<HarnessRow> {
    let bytes = |off: u32, n: u32| -> Option<Option<Vec<u8>>> {
        if off == abi::NONE {
            return Some(None);
        }
        Some(Some(frame.get(off as usize..)?.get(..n as usize)?.to_vec()))
    };
    let mut r = HarnessRow { from: e.row as usize, tag: e.tag, ..rows.get(e.row as usize)?.clone() };
    if e.given & abi::GIVEN_KEY != 0 {
        r.key = bytes(e.key_offset, e.key_length)?;
    }
    if e.given & abi::GIVEN_VALUE != 0 {
        r.value = bytes(e.offset, e.length)?;
    }
    if e.given & abi::GIVEN_TIME != 0 {
        r.time = e.time;
    }
    if e.given & abi::GIVEN_HEADERS != 0 {
        r.headers.clear();
        for h in heads.get(e.headers as usize..)?.get(..e.header_count as usize)? {
            let name = String::from_utf8_lossy(&bytes(h.name_offset, h.name_length)??).into_owned();
            r.headers.push((name, bytes(h.offset, h.length)?));
        }
    }
    Some(r)
}
