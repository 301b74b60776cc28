use crate::abi;
use crate::emitter::{Emitter, Row};
use crate::number::{push_float, push_int};
use crate::text::{load8, push_string, special};

/// Writes a JSON object straight into the output frame. Fields stand in the order of the calls; a name must not be given
/// twice. The object becomes a row by `emit`; one that is dropped leaves nothing.
pub struct Object<'a> {
    out: &'a mut Emitter,
    start: usize,
    depth: usize,
    more: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn new(out: &'a mut Emitter) -> Object<'a> {
        let start = out.frame.len();
        out.frame.push(b'{');
        Object { out, start, depth: 0, more: false }
    }

    /// Ends the object, closing what is open, and makes the row.
    pub fn emit(mut self) -> Row<'a> {
        while self.depth > 0 {
            self = self.close();
        }
        self.out.frame.push(b'}');
        let (start, n) = (self.start, self.out.frame.len() - self.start);
        self.out.add(abi::GIVEN_VALUE, start as u32, n as u32, abi::FORM_JSON)
    }

    #[inline]
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        let b = &mut self.out.frame;
        if self.more {
            b.push(b',');
        }
        self.more = true;
        if plain(name.as_bytes()) {
            b.push(b'"');
            b.extend_from_slice(name.as_bytes());
            b.extend_from_slice(b"\":");
        } else {
            push_string(b, name.as_bytes());
            b.push(b':');
        }
        b
    }

    /// Writes an integer field.
    pub fn int(mut self, name: &str, v: i64) -> Self {
        push_int(self.name(name), v);
        self
    }

    /// Writes a number in the shortest form that reads back; NaN and infinities, which JSON lacks, become null.
    pub fn float(mut self, name: &str, v: f64) -> Self {
        push_float(self.name(name), v);
        self
    }

    /// Writes true or false.
    pub fn bool(mut self, name: &str, v: bool) -> Self {
        self.name(name).extend_from_slice(if v { b"true" } else { b"false" });
        self
    }

    /// Writes null.
    pub fn null(mut self, name: &str) -> Self {
        self.name(name).extend_from_slice(b"null");
        self
    }

    /// Writes a string.
    pub fn string(self, name: &str, v: &str) -> Self {
        self.text(name, v.as_bytes())
    }

    /// Writes a string from bytes; those that are no UTF-8 become U+FFFD.
    pub fn text(mut self, name: &str, v: &[u8]) -> Self {
        push_string(self.name(name), v);
        self
    }

    /// Writes a value that is JSON text already, such as [`crate::Scanner::raw`]; empty is null.
    pub fn raw(mut self, name: &str, json: &[u8]) -> Self {
        self.name(name).extend_from_slice(if json.is_empty() { b"null" } else { json });
        self
    }

    /// Starts an object inside this one; `close` ends it.
    pub fn open(mut self, name: &str) -> Self {
        self.name(name).push(b'{');
        self.depth += 1;
        self.more = false;
        self
    }

    /// Ends what `open` started.
    pub fn close(mut self) -> Self {
        self.out.frame.push(b'}');
        self.depth -= 1;
        self.more = true;
        self
    }
}

/// Whether s needs no escapes in a JSON string.
#[inline]
fn plain(s: &[u8]) -> bool {
    if s.len() >= 8 {
        let mut i = 0;
        while i + 8 <= s.len() {
            if special(load8(s, i)) != 0 {
                return false;
            }
            i += 8;
        }
        return special(load8(s, s.len() - 8)) == 0;
    }
    s.iter().all(|&c| c >= b' ' && c != b'"' && c != b'\\')
}
