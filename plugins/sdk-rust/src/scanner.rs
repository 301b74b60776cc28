use std::borrow::Cow;
use std::fmt;

use crate::text::{load8, special, unescape};

/// The kind of a JSON value. `None` is what a [`Scanner`] has before the first and after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    None,
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// Why a [`Scanner`] stopped before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// The text is not JSON.
    Json,
    /// The text is JSON perhaps, but nothing that has fields or members.
    NoObject,
}

impl ScanError {
    /// The error in words.
    pub fn text(self) -> &'static str {
        match self {
            ScanError::Json => "not valid JSON",
            ScanError::NoObject => "neither a JSON object nor an array",
        }
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for ScanError {}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Inside,
    End,
}

/// Walks over the fields of a JSON object or the members of a JSON array and allocates nothing, unless a string holds
/// escapes. It looks at one level: a value inside is an object or an array as a whole, whose text [`Scanner::raw`] returns,
/// to be scanned by another Scanner (and checked only then).
///
/// ```
/// # use wgate::Scanner;
/// let mut s = Scanner::new(br#"{"user":"u1","points":7}"#);
/// let mut points = 0;
/// while s.next() {
///     match s.name() {
///         b"points" => points = s.int().unwrap_or(0),
///         _ => (),
///     }
/// }
/// assert!(s.error().is_none());
/// assert_eq!(points, 7);
/// ```
pub struct Scanner<'a> {
    b: &'a [u8],
    i: usize,
    name: (usize, usize),
    raw: (usize, usize),
    odd: Option<Vec<u8>>,
    num: i64,
    kind: Kind,
    whole: bool,
    escaped: bool,
    closing: u8,
    first: bool,
    state: State,
    error: Option<ScanError>,
}

impl<'a> Scanner<'a> {
    /// Returns a Scanner over text.
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner {
            b: text,
            i: 0,
            name: (0, 0),
            raw: (0, 0),
            odd: None,
            num: 0,
            kind: Kind::None,
            whole: false,
            escaped: false,
            closing: 0,
            first: true,
            state: State::Start,
            error: None,
        }
    }

    /// Why `next` stopped before the end, if it did.
    pub fn error(&self) -> Option<ScanError> {
        self.error
    }

    /// The name of the field, empty in an array.
    pub fn name(&self) -> &[u8] {
        match &self.odd {
            Some(name) => name,
            None => &self.b[self.name.0..self.name.1],
        }
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The text of the value as it stands.
    pub fn raw(&self) -> &'a [u8] {
        &self.b[self.raw.0..self.raw.1]
    }

    /// The value if it is an integer, written without fraction and exponent, that fits 64 bits.
    pub fn int(&self) -> Option<i64> {
        if self.kind == Kind::Number && self.whole {
            Some(self.num)
        } else {
            None
        }
    }

    /// The value if it is a number.
    pub fn float(&self) -> Option<f64> {
        if self.kind != Kind::Number {
            return None;
        }
        if self.whole && self.num > -(1 << 53) && self.num < 1 << 53 {
            return Some(self.num as f64);
        }
        let v: f64 = std::str::from_utf8(self.raw()).ok()?.parse().ok()?;
        if v.is_finite() {
            Some(v)
        } else {
            None
        }
    }

    /// The value if it is true or false.
    pub fn bool(&self) -> Option<bool> {
        if self.kind == Kind::Bool {
            Some(self.b[self.raw.0] == b't')
        } else {
            None
        }
    }

    /// The value if it is a string, without quotes and escapes. Only a string with escapes is copied.
    pub fn text(&self) -> Option<Cow<'a, [u8]>> {
        if self.kind != Kind::String {
            return None;
        }
        let inside = &self.b[self.raw.0 + 1..self.raw.1 - 1];
        if self.escaped {
            return unescape(inside).map(Cow::Owned);
        }
        Some(Cow::Borrowed(inside))
    }

    /// Moves to the next field or member. It returns false at the end and on an error.
    // It gives a bool and not an Option because a loop over fields would only unwrap it again.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> bool {
        if self.state != State::Inside && !self.begin() {
            return false;
        }
        let c = self.peek();
        if c == self.closing {
            return self.finish();
        }
        if !self.first {
            if c != b',' {
                return self.stop(Some(ScanError::Json));
            }
            self.i += 1;
        }
        self.first = false;
        if self.closing == b'}' && !self.field() || !self.value() {
            return self.stop(Some(ScanError::Json));
        }
        true
    }

    fn begin(&mut self) -> bool {
        if self.state == State::End {
            return false;
        }
        self.closing = match self.peek() {
            b'{' => b'}',
            b'[' => b']',
            _ => return self.stop(Some(ScanError::NoObject)),
        };
        self.i += 1;
        self.state = State::Inside;
        self.first = true;
        true
    }

    fn finish(&mut self) -> bool {
        self.i += 1;
        let more = self.peek_at_all();
        self.stop(if more { Some(ScanError::Json) } else { None })
    }

    fn stop(&mut self, error: Option<ScanError>) -> bool {
        self.error = error;
        self.state = State::End;
        self.kind = Kind::None;
        self.odd = None;
        self.name = (0, 0);
        self.raw = (0, 0);
        false
    }

    /// The next byte that is no white space, 0 at the end.
    fn peek(&mut self) -> u8 {
        while let Some(&c) = self.b.get(self.i) {
            if !matches!(c, b' ' | b'\n' | b'\t' | b'\r') {
                return c;
            }
            self.i += 1;
        }
        0
    }

    fn peek_at_all(&mut self) -> bool {
        self.peek();
        self.i < self.b.len()
    }

    fn field(&mut self) -> bool {
        if self.peek() != b'"' {
            return false;
        }
        let from = self.i + 1;
        if !self.skip_string() {
            return false;
        }
        self.name = (from, self.i - 1);
        self.odd = None;
        if self.escaped {
            self.odd = unescape(&self.b[from..self.i - 1]);
            if self.odd.is_none() {
                return false;
            }
        }
        if self.peek() != b':' {
            return false;
        }
        self.i += 1;
        true
    }

    fn value(&mut self) -> bool {
        let c = self.peek();
        let from = self.i;
        self.whole = false;
        let ok = match c {
            b'"' => {
                self.kind = Kind::String;
                self.skip_string()
            }
            b'0'..=b'9' | b'-' => {
                self.kind = Kind::Number;
                self.number()
            }
            b'{' => {
                self.kind = Kind::Object;
                self.skip_compound()
            }
            b'[' => {
                self.kind = Kind::Array;
                self.skip_compound()
            }
            b't' => {
                self.kind = Kind::Bool;
                self.word(b"true")
            }
            b'f' => {
                self.kind = Kind::Bool;
                self.word(b"false")
            }
            b'n' => {
                self.kind = Kind::Null;
                self.word(b"null")
            }
            _ => false,
        };
        self.raw = (from, self.i);
        ok
    }

    fn word(&mut self, w: &[u8]) -> bool {
        if !self.b[self.i..].starts_with(w) {
            return false;
        }
        self.i += w.len();
        true
    }

    /// Reads over a number and, if it is whole, into num.
    fn number(&mut self) -> bool {
        let neg = self.b[self.i] == b'-';
        if neg {
            self.i += 1;
        }
        let first = self.i;
        let mut v: u64 = 0;
        while let Some(&c) = self.b.get(self.i) {
            if !c.is_ascii_digit() {
                break;
            }
            v = v.wrapping_mul(10).wrapping_add((c - b'0') as u64);
            self.i += 1;
        }
        let digits = self.i - first;
        if digits == 0 || digits > 1 && self.b[first] == b'0' {
            return false;
        }
        match self.b.get(self.i) {
            Some(b'.') | Some(b'e') | Some(b'E') => return self.fraction(),
            _ => (),
        }
        if digits <= 19 {
            if neg && v <= 1 << 63 {
                self.num = (v as i64).wrapping_neg();
                self.whole = true;
            } else if !neg && v < 1 << 63 {
                self.num = v as i64;
                self.whole = true;
            }
        }
        true
    }

    fn fraction(&mut self) -> bool {
        if self.b[self.i] == b'.' {
            self.i += 1;
            if !self.digits() {
                return false;
            }
        }
        if matches!(self.b.get(self.i), Some(b'e') | Some(b'E')) {
            self.i += 1;
            if matches!(self.b.get(self.i), Some(b'+') | Some(b'-')) {
                self.i += 1;
            }
            return self.digits();
        }
        true
    }

    fn digits(&mut self) -> bool {
        let from = self.i;
        while matches!(self.b.get(self.i), Some(c) if c.is_ascii_digit()) {
            self.i += 1;
        }
        self.i > from
    }

    /// Reads over the string that starts here, and notes whether it holds escapes.
    fn skip_string(&mut self) -> bool {
        self.escaped = false;
        let (b, n) = (self.b, self.b.len());
        let mut i = self.i + 1;
        while i < n {
            if i + 8 <= n {
                let k = special(load8(b, i)).trailing_zeros() as usize >> 3;
                i += k;
                if k == 8 {
                    continue;
                }
            }
            match b[i] {
                b'"' => {
                    self.i = i + 1;
                    return true;
                }
                b'\\' => {
                    self.escaped = true;
                    i += 1;
                    if !matches!(b.get(i), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u')) {
                        return false;
                    }
                }
                0..=31 => return false,
                _ => (),
            }
            i += 1;
        }
        false
    }

    /// Reads over the object or array that starts here. Inside it only strings and brackets are looked at.
    fn skip_compound(&mut self) -> bool {
        let mut depth = 0;
        while let Some(&c) = self.b.get(self.i) {
            match c {
                b'"' => {
                    if !self.skip_string() {
                        return false;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.i += 1;
                        return true;
                    }
                }
                _ => (),
            }
            self.i += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows what a Scanner finds: NAME=RAW for each field, then the error.
    fn show(text: &str) -> String {
        let mut s = Scanner::new(text.as_bytes());
        let mut out = Vec::new();
        while s.next() {
            out.push(format!("{}={}", String::from_utf8_lossy(s.name()), String::from_utf8_lossy(s.raw())));
        }
        if let Some(e) = s.error() {
            out.push(format!("! {}", e));
        }
        out.join(" ")
    }

    #[test]
    fn fields() {
        for (text, want) in [
            (r#"{"a":1,"b":"x","c":null,"d":[1,{"}":2}],"e":{"f":1}}"#, r#"a=1 b="x" c=null d=[1,{"}":2}] e={"f":1}"#),
            (" { \"a\" : -1.5e3 ,\n\"long name that is long\":true } ", "a=-1.5e3 long name that is long=true"),
            (r#"[1,"a",false]"#, r#"=1 ="a" =false"#),
            ("{}", ""),
            ("[]", ""),
            (r#"{"\u0061b":1}"#, "ab=1"),
            ("7", "! neither a JSON object nor an array"),
            ("", "! neither a JSON object nor an array"),
            ("{", "! not valid JSON"),
            ("{} x", "! not valid JSON"),
            (r#"{"a"}"#, "! not valid JSON"),
            (r#"{"a":01}"#, "! not valid JSON"),
            (r#"{"a":1,}"#, "a=1 ! not valid JSON"),
            (r#"{"a":1 "b":2}"#, "a=1 ! not valid JSON"),
            ("{\"a\":\"\t\"}", "! not valid JSON"),
            (r#"{"a":"\x"}"#, "! not valid JSON"),
            (r#"{"a":1.}"#, "! not valid JSON"),
            (r#"{"a":-}"#, "! not valid JSON"),
            (r#"{"a":nul}"#, "! not valid JSON"),
        ] {
            assert_eq!(show(text), want, "{}", text);
        }
    }

    #[test]
    fn values() {
        let mut s = Scanner::new(br#"[9223372036854775807,-9223372036854775808,9223372036854775808,1.5,"a\"b","c",true,1e999]"#);
        let mut ints = Vec::new();
        let mut floats = Vec::new();
        let mut texts = Vec::new();
        while s.next() {
            ints.push(s.int());
            floats.push(s.float());
            texts.push(s.text().map(|t| String::from_utf8(t.into_owned()).unwrap()));
        }
        assert_eq!(s.error(), None);
        assert_eq!(ints[..4], [Some(i64::MAX), Some(i64::MIN), None, None]);
        assert_eq!(floats[2..4], [Some(9223372036854775808.0), Some(1.5)]);
        assert_eq!(floats[7], None);
        assert_eq!(texts[4..6], [Some("a\"b".to_string()), Some("c".to_string())]);
    }
}
