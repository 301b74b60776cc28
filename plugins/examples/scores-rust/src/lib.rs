//! A wgate plugin with one function, score: it reads the events of a game, drops pings, multiplies the points of bonus
//! events, and refuses negative points. It is ../scores in Rust, and gives the same bytes.

use std::borrow::Cow;
use std::sync::atomic::{AtomicI64, Ordering};

use wgate::{Element, Emitter, Plugin};

/// What points of kind "bonus" are multiplied by; it comes from the configuration.
static BONUS: AtomicI64 = AtomicI64::new(2);

/// Registers the plugin's functions.
pub fn register(p: &mut Plugin) {
    p.name("scores", "1.0.0");
    p.on_open(|c| {
        BONUS.store(c.int("bonus", 2), Ordering::Relaxed);
        Ok(())
    });
    p.do_fn("score", score).pure();
}

wgate::plugin!(register);

/// Processes one event, such as {"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}. It allocates
/// nothing: the slices are parts of the value.
fn score(e: &Element, out: &mut Emitter) {
    let (mut user, mut team): (&[u8], &[u8]) = (b"", b""); // as JSON text
    let mut kind = Cow::Borrowed(&b""[..]);
    let (mut points, mut ts) = (Some(0), Some(0));
    let mut whole = true;
    let mut s = e.scan();
    while s.next() {
        match s.name() {
            b"user" => user = s.raw(),
            b"team" => team = s.raw(),
            b"kind" => kind = s.text().unwrap_or_default(),
            b"points" => {
                points = s.int();
                whole &= points.is_some();
            }
            b"ts" => {
                ts = s.int();
                whole &= ts.is_some();
            }
            _ => (),
        }
    }
    if let Some(e) = s.error() {
        return out.fail("bad_json", e.text());
    }
    if kind[..] == *b"ping" {
        return; // not kept and nothing emitted: the event is dropped
    }
    let (mut points, ts) = match (points, ts) {
        (Some(p), Some(t)) if whole => (p, t),
        _ => return out.fail("bad_number", "points and ts must be whole numbers"),
    };
    if points < 0 {
        return out.fail("negative_points", "points must not be negative");
    }
    if kind[..] == *b"bonus" {
        points = points.wrapping_mul(BONUS.load(Ordering::Relaxed));
    }
    out.object().raw("team", team).int("points", points).raw("user", user).int("ts", ts).emit();
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgate::{Harness, HarnessRow};

    /// Runs score natively, through the frames of the real host.
    #[test]
    fn scores() {
        let mut h = Harness::new(register, r#"{"bonus": 3}"#).unwrap();
        for (value, want) in [
            (
                r#"{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}"#,
                r#"{"team":"red","points":7,"user":"u17","ts":1767225600000}"#,
            ),
            (
                r#"{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"bonus"}"#,
                r#"{"team":"red","points":21,"user":"u17","ts":1767225600000}"#,
            ),
            (r#"{"user":"u17","kind":"ping"}"#, ""),
            (r#"{"user":"u17","team":"red","points":-7,"ts":1,"kind":"goal"}"#, "! negative_points"),
            (r#"{"user":"u17","team":"red","points":1.5,"ts":1,"kind":"goal"}"#, "! bad_number"),
            (r#"{"team":null,"points":0}"#, r#"{"team":null,"points":0,"user":null,"ts":0}"#),
            ("7", "! bad_json"),
            (r#"{"user""#, "! bad_json"),
        ] {
            let out = h.process("score", &[HarnessRow::json(value)]).unwrap();
            let mut got: Vec<String> = out.rows.iter().map(|r| String::from_utf8(r.value.clone().unwrap()).unwrap()).collect();
            got.extend(out.failed.iter().map(|f| format!("! {}", f.code)));
            assert_eq!(got.join("; "), want, "{}", value);
        }
    }

    #[test]
    fn config() {
        assert_eq!(Harness::new(register, r#"{"bonus": "three"}"#).err().unwrap(), "config.bonus must be an int");
    }
}
