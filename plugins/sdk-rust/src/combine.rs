use std::marker::PhantomData;
use std::mem::size_of;

use crate::abi;
use crate::emitter::{Table, HEAP_AT};
use crate::frame::{rows_at, sections, AccRow, Entry, FailRow, GrownRow, Layout, StepRow, ValueRow};
use crate::guest::{Cursor, Host};

/// A type whose memory, as it stands, is what the host keeps as an accumulator.
///
/// # Safety
/// The type must have no padding and no pointers, and every pattern of bits, all zeros too, must be a value of it. Use
/// [`crate::accumulator!`], which sees to that.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $t {}
    )* };
}
plain!(i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 f32 f64);
// SAFETY: an array has no padding that its elements do not have.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Declares a struct that can be an accumulator: its fields are numbers, arrays of numbers or other such structs, without
/// gaps between them. All zeros is the accumulator over nothing.
///
/// ```
/// wgate::accumulator! {
///     /// The sum of value x weight and that of the weights.
///     struct Weighted { sum: f64, weight: f64 }
/// }
/// ```
///
/// ```compile_fail
/// wgate::accumulator! { struct Gap { a: u8, b: u64 } }
/// ```
#[macro_export]
macro_rules! accumulator {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        $vis struct $name { $($field: $ty),* }
        const _: () = {
            fn plain<T: $crate::Plain>() {}
            fn fields() { $(plain::<$ty>();)* }
            const _: fn() = fields;
            // The subtraction fails to compile where the struct has gaps.
            const _: usize = 0 - (::std::mem::size_of::<$name>() - (0 $(+ ::std::mem::size_of::<$ty>())*));
        };
        // SAFETY: all fields are Plain, and there are no gaps.
        unsafe impl $crate::Plain for $name {}
    };
}

/// A combiner whose accumulators are of type A, see [`crate::Plugin::combiner`]. The functions must depend on nothing but
/// their arguments.
pub struct Fold<A: Plain> {
    /// Folds the arguments of one element in. It refuses them with [`Args::fail`], before it changes the accumulator.
    pub add: fn(&mut A, &mut Args),
    /// Folds another accumulator in, whose elements count as having come later.
    pub merge: fn(&mut A, &A),
    /// Gives the result with one method of the answer.
    pub extract: fn(&A, &mut Answer),
    /// Takes an element back out that was added before.
    pub uncombine: Option<fn(&mut A, &mut Args)>,
}

/// A combiner whose accumulators are bytes of any length.
pub struct ByteFold {
    /// Makes an empty vector an accumulator over nothing, which is not empty.
    pub create: fn(&mut Vec<u8>),
    pub add: fn(&mut Vec<u8>, &mut Args),
    pub merge: fn(&mut Vec<u8>, &[u8]),
    pub extract: fn(&[u8], &mut Answer),
    pub uncombine: Option<fn(&mut Vec<u8>, &mut Args)>,
}

/// A fold over bytes.
pub(crate) trait Folding {
    fn create(&self, acc: &mut Vec<u8>);
    fn fits(&self, acc: &[u8]) -> bool;
    fn add(&self, acc: &mut Vec<u8>, args: &mut Args);
    fn merge(&self, acc: &mut Vec<u8>, other: &[u8]);
    fn extract(&self, acc: &[u8], out: &mut Answer);
    fn uncombine(&self, acc: &mut Vec<u8>, args: &mut Args);
    fn invertible(&self) -> bool;
}

impl Folding for ByteFold {
    fn create(&self, acc: &mut Vec<u8>) {
        (self.create)(acc)
    }
    fn fits(&self, acc: &[u8]) -> bool {
        !acc.is_empty()
    }
    fn add(&self, acc: &mut Vec<u8>, args: &mut Args) {
        (self.add)(acc, args)
    }
    fn merge(&self, acc: &mut Vec<u8>, other: &[u8]) {
        (self.merge)(acc, other)
    }
    fn extract(&self, acc: &[u8], out: &mut Answer) {
        (self.extract)(acc, out)
    }
    fn uncombine(&self, acc: &mut Vec<u8>, args: &mut Args) {
        if let Some(f) = self.uncombine {
            f(acc, args)
        }
    }
    fn invertible(&self) -> bool {
        self.uncombine.is_some()
    }
}

/// Gives f the accumulator that acc is, and takes it back.
fn with<A: Plain>(acc: &mut [u8], f: impl FnOnce(&mut A)) {
    let mut a = load(acc);
    f(&mut a);
    // SAFETY: load has checked the length, and an A has no padding.
    unsafe { (acc.as_mut_ptr() as *mut A).write_unaligned(a) }
}

fn load<A: Plain>(acc: &[u8]) -> A {
    assert_eq!(acc.len(), size_of::<A>());
    // SAFETY: the length was checked, and every pattern of bits is an A.
    unsafe { (acc.as_ptr() as *const A).read_unaligned() }
}

impl<A: Plain> Folding for Fold<A> {
    fn create(&self, acc: &mut Vec<u8>) {
        acc.clear();
        acc.resize(size_of::<A>(), 0);
    }
    fn fits(&self, acc: &[u8]) -> bool {
        acc.len() == size_of::<A>()
    }
    fn add(&self, acc: &mut Vec<u8>, args: &mut Args) {
        with(acc, |a| (self.add)(a, args))
    }
    fn merge(&self, acc: &mut Vec<u8>, other: &[u8]) {
        let other = load(other);
        with(acc, |a| (self.merge)(a, &other))
    }
    fn extract(&self, acc: &[u8], out: &mut Answer) {
        (self.extract)(&load(acc), out)
    }
    fn uncombine(&self, acc: &mut Vec<u8>, args: &mut Args) {
        if let Some(f) = self.uncombine {
            with(acc, |a| f(a, args))
        }
    }
    fn invertible(&self) -> bool {
        self.uncombine.is_some()
    }
}

/// The arguments of one element. They are good until the function returns.
pub struct Args<'a> {
    frame: &'a [u8],
    vals: &'a [ValueRow],
    refused: Option<(String, String)>,
}

impl<'a> Args<'a> {
    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.vals.len()
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.vals.is_empty()
    }

    /// Whether argument i is null or missing.
    pub fn is_null(&self, i: usize) -> bool {
        self.vals[i].kind <= abi::KIND_NULL
    }

    /// Argument i if it is an int, or a time or duration, in ms.
    pub fn int(&self, i: usize) -> Option<i64> {
        match self.vals[i].kind {
            abi::KIND_INT | abi::KIND_TIME | abi::KIND_DURATION => Some(self.vals[i].low as i64),
            _ => None,
        }
    }

    /// Argument i if it is a number: an int, decimal or float, as the nearest float.
    pub fn float(&self, i: usize) -> Option<f64> {
        match self.vals[i].kind {
            abi::KIND_INT | abi::KIND_DECIMAL | abi::KIND_FLOAT => Some(f64::from_bits(self.vals[i].float)),
            _ => None,
        }
    }

    /// Argument i if it is a decimal, as a count of 1e-18.
    pub fn decimal(&self, i: usize) -> Option<i128> {
        let v = &self.vals[i];
        match v.kind {
            abi::KIND_DECIMAL => Some((v.high as i64 as i128) << 64 | v.low as i128),
            _ => None,
        }
    }

    /// Argument i if it is a bool.
    pub fn bool(&self, i: usize) -> Option<bool> {
        match self.vals[i].kind {
            abi::KIND_BOOL => Some(self.vals[i].low == 1),
            _ => None,
        }
    }

    /// Argument i if it is text.
    pub fn text(&self, i: usize) -> Option<&'a str> {
        std::str::from_utf8(self.span(i, abi::KIND_TEXT)?).ok()
    }

    /// Argument i if it is bytes.
    pub fn bytes(&self, i: usize) -> Option<&'a [u8]> {
        self.span(i, abi::KIND_BYTES)
    }

    /// Argument i if it is a list or an object, as JSON text.
    pub fn json(&self, i: usize) -> Option<&'a [u8]> {
        self.span(i, abi::KIND_JSON)
    }

    fn span(&self, i: usize, kind: u32) -> Option<&'a [u8]> {
        let v = &self.vals[i];
        if v.kind != kind {
            return None;
        }
        Some(&self.frame[v.low as usize..][..v.length as usize])
    }

    /// Refuses the element: it goes to the dead letters with code (letters a-z, digits, `_`) and text, and counts nowhere.
    /// The accumulator must be as it was.
    pub fn fail(&mut self, code: &str, text: &str) {
        if self.refused.is_none() {
            self.refused = Some((code.to_string(), text.to_string()));
        }
    }
}

/// Takes the result of a combiner. Without a call it is null; the last call counts.
pub struct Answer<'a> {
    heap: &'a mut Vec<u8>,
    row: ValueRow,
}

impl Answer<'_> {
    /// Makes the result null.
    pub fn null(&mut self) {
        self.row = ValueRow { kind: abi::KIND_NULL, ..ValueRow::default() };
    }

    /// Makes the result an int.
    pub fn int(&mut self, v: i64) {
        self.row = ValueRow { kind: abi::KIND_INT, low: v as u64, ..ValueRow::default() };
    }

    /// Makes the result a float.
    pub fn float(&mut self, v: f64) {
        self.row = ValueRow { kind: abi::KIND_FLOAT, float: v.to_bits(), ..ValueRow::default() };
    }

    /// Makes the result a decimal: a count of 1e-18.
    pub fn decimal(&mut self, v: i128) {
        self.row = ValueRow { kind: abi::KIND_DECIMAL, low: v as u64, high: (v >> 64) as u64, ..ValueRow::default() };
    }

    /// Makes the result a bool.
    pub fn bool(&mut self, v: bool) {
        self.row = ValueRow { kind: abi::KIND_BOOL, low: v as u64, ..ValueRow::default() };
    }

    /// Makes the result text.
    pub fn text(&mut self, v: &str) {
        self.span(abi::KIND_TEXT, v.as_bytes());
    }

    /// Makes the result what the JSON text v says.
    pub fn json(&mut self, v: &[u8]) {
        self.span(abi::KIND_JSON, v);
    }

    /// Says that there is no result: the pane goes to the dead letters with code (letters a-z, digits, `_`) and text.
    pub fn fail(&mut self, code: &str, text: &str) {
        self.span(abi::KIND_ERROR, format!("{} {}", code, text).as_bytes());
    }

    fn span(&mut self, kind: u32, v: &[u8]) {
        let low = self.heap.len() as u64;
        self.row = ValueRow { kind, length: v.len() as u32, low, ..ValueRow::default() };
        self.heap.extend_from_slice(v);
    }
}

/// Runs combiners. It reuses its memory from call to call.
#[derive(Default)]
pub(crate) struct Folder {
    frame: Vec<u8>,
    accs: Vec<Vec<u8>>,
    state: Vec<State>,
    grown: Vec<GrownRow>,
    results: Vec<ValueRow>,
    fails: Vec<FailRow>,
    scratch: Vec<u8>,
}

/// What is known of an accumulator.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unread,
    Read,
    Changed,
}

/// The input frame of a combiner.
struct Input<'a> {
    frame: &'a [u8],
    rows: usize,
    accs: &'a [AccRow],
    steps: &'a [StepRow],
    pairs: &'a [u32],
    args: &'a [ValueRow],
    _not_send: PhantomData<*const ()>,
}

impl<'a> Input<'a> {
    fn take(frame: &'a [u8], width: usize) -> Option<Input<'a>> {
        let (h, table) = sections(frame, abi::MAGIC_INPUT)?;
        let mut t = Input { frame, rows: h.rows as usize, accs: &[], steps: &[], pairs: &[], args: &[], _not_send: PhantomData };
        for e in table {
            match e.kind {
                abi::SECTION_ACCS => t.accs = rows_at(frame, e)?,
                abi::SECTION_STEPS => t.steps = rows_at(frame, e)?,
                abi::SECTION_PAIRS => t.pairs = pairs_at(frame, e)?,
                abi::SECTION_ARGS => t.args = rows_at(frame, e)?,
                abi::SECTION_HEAP => (),
                _ if e.flags & abi::FLAG_CRITICAL != 0 => return None,
                _ => (),
            }
        }
        if t.args.len() != t.rows * width {
            return None;
        }
        Some(t)
    }
}

#[repr(transparent)]
#[derive(Clone, Copy)]
struct Pair(u32);
// SAFETY: a number.
unsafe impl Layout for Pair {}

fn pairs_at<'a>(frame: &'a [u8], e: &Entry) -> Option<&'a [u32]> {
    let p = rows_at::<Pair>(frame, e)?;
    // SAFETY: a Pair is a u32.
    Some(unsafe { std::slice::from_raw_parts(p.as_ptr() as *const u32, p.len()) })
}

impl Folder {
    /// Works through the steps of frame with f.
    pub(crate) fn run(&mut self, f: &dyn Folding, width: usize, frame: &[u8], cursor: Cursor, host: &mut dyn Host) -> i32 {
        let input = match Input::take(frame, width) {
            Some(t) => t,
            None => {
                host.fail("the input frame is not sound");
                return -1;
            }
        };
        self.reset(input.accs.len());
        for s in input.steps {
            match s.op {
                abi::STEP_ADD | abi::STEP_UNCOMBINE | abi::STEP_CHECK => self.rows(f, &input, s, width, cursor),
                abi::STEP_MERGE => {
                    self.read(f, &input, s.from);
                    self.read(f, &input, s.acc);
                    let other = std::mem::take(&mut self.accs[s.from as usize]);
                    f.merge(&mut self.accs[s.acc as usize], &other);
                    self.accs[s.from as usize] = other;
                    self.state[s.acc as usize] = State::Changed;
                }
                abi::STEP_EXTRACT => {
                    self.read(f, &input, s.acc);
                    let mut out = Answer { heap: &mut self.frame, row: ValueRow { kind: abi::KIND_NULL, ..ValueRow::default() } };
                    f.extract(&self.accs[s.acc as usize], &mut out);
                    let row = out.row;
                    self.results.push(row);
                }
                _ => {
                    host.fail("no such step");
                    return -1;
                }
            }
        }
        if host.out(self.build(input.rows)) != abi::OUT_OK {
            host.fail("the output is larger than limits.output");
            return abi::STATUS_BATCH_ERROR;
        }
        abi::STATUS_OK
    }

    fn reset(&mut self, accs: usize) {
        self.frame.clear();
        self.frame.resize(HEAP_AT, 0);
        if self.accs.len() < accs {
            self.accs.resize_with(accs, Vec::new);
        }
        self.state.clear();
        self.state.resize(accs, State::Unread);
        self.grown.clear();
        self.results.clear();
        self.fails.clear();
    }

    /// Copies accumulator i out of the frame, or creates it.
    fn read(&mut self, f: &dyn Folding, input: &Input, i: u32) {
        if self.state[i as usize] != State::Unread {
            return;
        }
        self.state[i as usize] = State::Read;
        let r = &input.accs[i as usize];
        let acc = &mut self.accs[i as usize];
        acc.clear();
        if r.length == 0 {
            f.create(acc);
            return;
        }
        acc.extend_from_slice(&input.frame[r.offset as usize..][..r.length as usize]);
        assert!(f.fits(acc), "an accumulator of another size: it was made by another version of the function");
    }

    /// Folds the pairs of step s.
    fn rows(&mut self, f: &dyn Folding, input: &Input, s: &StepRow, width: usize, cursor: Cursor) {
        let check = s.op == abi::STEP_CHECK;
        if !check {
            self.read(f, input, s.acc);
            self.state[s.acc as usize] = State::Changed;
        }
        for (k, &row) in input.pairs[s.from as usize..][..s.count as usize].iter().enumerate() {
            cursor.set(s.from as usize + k);
            let vals = &input.args[row as usize * width..][..width];
            let mut args = Args { frame: input.frame, vals, refused: None };
            if check {
                self.scratch.clear();
                f.create(&mut self.scratch);
                f.add(&mut self.scratch, &mut args);
            } else if s.op == abi::STEP_ADD {
                f.add(&mut self.accs[s.acc as usize], &mut args);
            } else {
                f.uncombine(&mut self.accs[s.acc as usize], &mut args);
            }
            if let Some((code, text)) = args.refused {
                let at = self.frame.len() as u32;
                self.frame.extend_from_slice(code.as_bytes());
                self.frame.extend_from_slice(text.as_bytes());
                self.fails.push(FailRow {
                    row,
                    reserved: 0,
                    code_offset: at,
                    code_length: code.len() as u32,
                    offset: at + code.len() as u32,
                    length: text.len() as u32,
                });
            }
        }
    }

    fn build(&mut self, rows: usize) -> &[u8] {
        for (i, state) in self.state.iter().enumerate() {
            if *state == State::Changed {
                let (offset, length) = (self.frame.len() as u32, self.accs[i].len() as u32);
                self.grown.push(GrownRow { acc: i as u32, reserved: 0, offset, length });
                self.frame.extend_from_slice(&self.accs[i]);
            }
        }
        let mut table = Table::new(&mut self.frame);
        table.rows(abi::SECTION_GROWN, &self.grown);
        table.rows(abi::SECTION_RESULTS, &self.results);
        table.rows(abi::SECTION_FAIL, &self.fails);
        table.finish(rows, rows);
        &self.frame
    }
}
