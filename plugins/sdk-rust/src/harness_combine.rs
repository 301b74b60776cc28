use crate::abi;
use crate::frame::{bytes_of, rows_at, sections, AccRow, FailRow, GrownRow, StepRow, ValueRow};
use crate::harness::{bytes, Failure, FrameBuilder, Harness, Recorder};
use crate::register::Work;

/// An argument or a result of a combiner in a test.
#[derive(Clone, Debug, PartialEq)]
pub enum HarnessValue {
    Null,
    Bool(bool),
    Int(i64),
    /// As a count of 1e-18.
    Decimal(i128),
    Float(f64),
    Text(String),
    /// JSON text.
    Json(String),
    /// Of a result: code, blank, text.
    Error(String),
}

/// What one run gave.
#[derive(Default)]
struct Folded {
    grown: Vec<u8>,
    failed: Vec<Failure>,
    result: Option<HarnessValue>,
}

impl Harness {
    /// Runs combiner name as the host does: the rows of every part are checked and folded into an accumulator of the part,
    /// the accumulators are merged in order, and the result is extracted. Rows that the combiner refuses are left out and
    /// returned; they are counted over all parts. A row is its arguments.
    pub fn combine(&mut self, name: &str, parts: &[Vec<Vec<HarnessValue>>]) -> Result<(HarnessValue, Vec<Failure>), String> {
        let id = self.id(name)?;
        let width = match self.guest.plugin.functions[id as usize].work {
            Work::Fold(_, n) => n,
            _ => return Err(format!("{} is no combiner", name)),
        };
        let mut b = FrameBuilder::new();
        let mut args = Vec::new();
        for row in parts.iter().flatten() {
            if row.len() != width {
                return Err(format!("a row has {} arguments, the combiner takes {}", row.len(), width));
            }
            args.extend(row.iter().map(|v| b.value(v)));
        }
        let n = args.len() / width;
        let all: Vec<u32> = (0..n as u32).collect();
        let check = StepRow { op: abi::STEP_CHECK, count: n as u32, ..StepRow::default() };
        let failed = self.fold(id, b.clone(), &args, n, &[&[]], &all, check)?.failed;
        let mut accs: Vec<Vec<u8>> = Vec::new();
        let mut from = 0;
        for rows in parts {
            let pairs: Vec<u32> =
                (from..from + rows.len()).filter(|i| !failed.iter().any(|f| f.row == *i)).map(|i| i as u32).collect();
            from += rows.len();
            let add = StepRow { op: abi::STEP_ADD, count: pairs.len() as u32, ..StepRow::default() };
            accs.push(self.fold(id, b.clone(), &args, n, &[&[]], &pairs, add)?.grown);
        }
        let mut acc = accs.first().cloned().unwrap_or_default();
        for other in accs.iter().skip(1) {
            let merge = StepRow { op: abi::STEP_MERGE, from: 1, ..StepRow::default() };
            acc = self.fold(id, FrameBuilder::new(), &[], 0, &[&acc, other], &[], merge)?.grown;
        }
        let extract = StepRow { op: abi::STEP_EXTRACT, ..StepRow::default() };
        let out = self.fold(id, FrameBuilder::new(), &[], 0, &[&acc], &[], extract)?;
        Ok((out.result.ok_or("there is no result")?, failed))
    }

    /// Has the combiner run one step.
    #[allow(clippy::too_many_arguments)]
    fn fold(
        &mut self,
        id: u32,
        mut b: FrameBuilder,
        args: &[ValueRow],
        rows: usize,
        accs: &[&[u8]],
        pairs: &[u32],
        step: StepRow,
    ) -> Result<Folded, String> {
        let mut ins = Vec::new();
        for a in accs {
            b.align();
            ins.push(AccRow { offset: b.put(a), length: a.len() as u32 });
        }
        let pairs: Vec<u8> = pairs.iter().flat_map(|p| p.to_le_bytes()).collect();
        b.add(abi::SECTION_ACCS, bytes_of(&ins), ins.len());
        b.add(abi::SECTION_STEPS, bytes_of(&[step]), 1);
        b.add(abi::SECTION_PAIRS, &pairs, pairs.len() / 4);
        b.add(abi::SECTION_ARGS, bytes_of(args), args.len());
        self.host = Recorder::default();
        let n = self.load(&b.build(id, abi::OP_RUN, rows));
        let status = self.guest.call(id, abi::OP_RUN, n, &mut self.host);
        if status != abi::STATUS_OK || self.host.frames.len() != 1 {
            return Err(format!("status {}: {}", status, self.host.why));
        }
        read(bytes(&self.host.frames[0])).ok_or_else(|| "the output frame is not sound".to_string())
    }
}

fn read(frame: &[u8]) -> Option<Folded> {
    let (_, table) = sections(frame, abi::MAGIC_OUTPUT)?;
    let span = |off: usize, n: u32| frame.get(off..)?.get(..n as usize);
    let text = |off: usize, n: u32| Some(String::from_utf8_lossy(span(off, n)?).into_owned());
    let mut out = Folded::default();
    for e in table {
        match e.kind {
            abi::SECTION_GROWN => {
                for g in rows_at::<GrownRow>(frame, e)? {
                    out.grown = span(g.offset as usize, g.length)?.to_vec();
                }
            }
            abi::SECTION_FAIL => {
                for f in rows_at::<FailRow>(frame, e)? {
                    let code = text(f.code_offset as usize, f.code_length)?;
                    out.failed.push(Failure { row: f.row as usize, code, text: text(f.offset as usize, f.length)? });
                }
            }
            abi::SECTION_RESULTS => {
                let v = rows_at::<ValueRow>(frame, e)?.first()?;
                out.result = Some(match v.kind {
                    abi::KIND_NULL => HarnessValue::Null,
                    abi::KIND_BOOL => HarnessValue::Bool(v.low == 1),
                    abi::KIND_INT => HarnessValue::Int(v.low as i64),
                    abi::KIND_DECIMAL => HarnessValue::Decimal((v.high as i64 as i128) << 64 | v.low as i128),
                    abi::KIND_FLOAT => HarnessValue::Float(f64::from_bits(v.float)),
                    abi::KIND_TEXT => HarnessValue::Text(text(v.low as usize, v.length)?),
                    abi::KIND_JSON => HarnessValue::Json(text(v.low as usize, v.length)?),
                    abi::KIND_ERROR => HarnessValue::Error(text(v.low as usize, v.length)?),
                    _ => return None,
                });
            }
            _ => (),
        }
    }
    Some(out)
}

impl FrameBuilder {
    /// Encodes an argument.
    fn value(&mut self, v: &HarnessValue) -> ValueRow {
        let none = ValueRow::default();
        let mut span = |kind, p: &str| ValueRow { kind, length: p.len() as u32, low: self.put(p.as_bytes()) as u64, ..none };
        match v {
            HarnessValue::Null => ValueRow { kind: abi::KIND_NULL, ..none },
            HarnessValue::Bool(b) => ValueRow { kind: abi::KIND_BOOL, low: *b as u64, ..none },
            HarnessValue::Int(i) => ValueRow { kind: abi::KIND_INT, low: *i as u64, float: (*i as f64).to_bits(), ..none },
            HarnessValue::Decimal(d) => ValueRow {
                kind: abi::KIND_DECIMAL,
                low: *d as u64,
                high: (*d >> 64) as u64,
                float: (*d as f64 / 1e18).to_bits(),
                ..none
            },
            HarnessValue::Float(f) => ValueRow { kind: abi::KIND_FLOAT, float: f.to_bits(), ..none },
            HarnessValue::Text(s) => span(abi::KIND_TEXT, s),
            HarnessValue::Json(s) => span(abi::KIND_JSON, s),
            HarnessValue::Error(s) => span(abi::KIND_ERROR, s),
        }
    }
}
