//! Runs functions natively through the frames of the real host.

use wgate::{Element, Emitter, Harness, HarnessRow, Plugin, Tag};

fn register(p: &mut Plugin) {
    p.name("tests", "1.2.3");
    p.on_open(|c| match c.int("limit", 10) {
        n if n < 0 => Err("config.limit must not be negative".to_string()),
        _ => Ok(()),
    });
    p.do_fn("act", act).tags(&["left", "right"]).pure();
    p.do_fn("big", |_, out| {
        out.emit(&vec![b'1'; 300 << 10]);
    });
}

fn act(e: &Element, out: &mut Emitter) {
    match e.value().unwrap_or(b"none") {
        b"\"keep\"" => out.keep(),
        b"\"both\"" => {
            out.keep();
            out.emit_same().to(Tag(2)).key("k2").time(e.time() + 1);
        }
        b"\"headers\"" => {
            let n = e.headers().count() as i64;
            out.object().int("n", n).emit().header("a", Some(b"x")).header("b", None);
        }
        b"\"fail\"" => {
            out.emit(b"1");
            out.fail("bad_row", "it is bad");
        }
        b"\"object\"" => {
            out.object()
                .open("o")
                .int("i", -5)
                .float("f", 0.1)
                .close()
                .bool("b", true)
                .null("n")
                .string("a name with \"quotes\"", "v\n")
                .raw("r", b"[1]")
                .emit();
        }
        b"none" => {
            out.emit_null().key_null();
        }
        _ => out.count("dropped", 1),
    }
}

fn show(r: &HarnessRow) -> String {
    let text = |b: &Option<Vec<u8>>| b.as_ref().map_or("null".to_string(), |b| String::from_utf8_lossy(b).into_owned());
    let heads: Vec<String> = r.headers.iter().map(|(n, v)| format!("{}={}", n, text(v))).collect();
    format!("{}>{} {} {} @{} [{}]", r.from, r.tag, text(&r.key), text(&r.value), r.time, heads.join(","))
}

#[test]
fn rows() {
    let mut h = Harness::new(register, "").unwrap();
    let mut input: Vec<HarnessRow> = ["keep", "both", "headers", "fail", "object", "drop"]
        .iter()
        .map(|v| HarnessRow { key: Some(b"k".to_vec()), time: 5, ..HarnessRow::json(&format!("\"{}\"", v)) })
        .collect();
    input[2].headers.push(("h".to_string(), Some(b"1".to_vec())));
    input.push(HarnessRow { key: Some(b"k".to_vec()), ..HarnessRow::default() });
    let out = h.process("act", &input).unwrap();
    let got: Vec<String> = out.rows.iter().map(show).collect();
    assert_eq!(
        got,
        [
            "0>0 k \"keep\" @5 []",
            "1>0 k \"both\" @5 []",
            "1>2 k2 \"both\" @6 []",
            "2>0 k {\"n\":1} @5 [a=x,b=null]",
            "4>0 k {\"o\":{\"i\":-5,\"f\":0.1},\"b\":true,\"n\":null,\"a name with \\\"quotes\\\"\":\"v\\n\",\"r\":[1]} @5 []",
            "6>0 null null @0 []",
        ]
    );
    assert_eq!((out.failed.len(), out.failed[0].row, out.failed[0].code.as_str()), (1, 3, "bad_row"));
    assert_eq!(out.counts, [("dropped".to_string(), 1)]);
}

#[test]
fn many_frames() {
    let mut h = Harness::new(register, "").unwrap();
    let out = h.process("big", &vec![HarnessRow::json("1"); 10]).unwrap();
    assert_eq!(out.rows.iter().map(|r| r.from).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn config() {
    assert!(Harness::new(register, "{\"limit\": 3}").is_ok());
    assert_eq!(Harness::new(register, "{\"limit\": -3}").err().unwrap(), "config.limit must not be negative");
    assert_eq!(Harness::new(register, "{\"limit\": \"x\"}").err().unwrap(), "config.limit must be an int");
    assert!(Harness::new(register, "{\"limit\": null}").is_ok());
}

#[test]
fn manifest() {
    assert_eq!(
        Harness::new(register, "").unwrap().manifest(),
        concat!(
            "{\"abi\":1,\"name\":\"tests\",\"version\":\"1.2.3\",\"sdk\":\"rust 0.1.0\",\"functions\":[",
            "{\"id\":0,\"name\":\"act\",\"kind\":\"dofn\",\"tags\":[\"left\",\"right\"],\"pure\":true},",
            "{\"id\":1,\"name\":\"big\",\"kind\":\"dofn\"}]}"
        )
    );
}
