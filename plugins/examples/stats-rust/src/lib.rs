//! A wgate plugin with two combiners: wmean(value, weight), the weighted mean, and spread(value), the smallest and the
//! largest of numbers as an object. It is ../stats in Rust, and gives the same bytes.

use wgate::{push_float, Answer, Args, ByteFold, Fold, Plugin};

wgate::accumulator! {
    /// The accumulator of wmean: the sum of value x weight and that of the weights.
    struct Weighted { sum: f64, weight: f64 }
}

/// Registers the plugin's functions.
pub fn register(p: &mut Plugin) {
    p.name("stats", "1.0.0");
    p.combiner("wmean", 2, Fold { add, merge, extract: mean, uncombine: None });
    p.byte_combiner(
        "spread",
        1,
        ByteFold { create: |acc| acc.push(0), add: add_spread, merge: merge_spread, extract: spread, uncombine: None },
    );
}

wgate::plugin!(register);

/// Folds a value and its weight in. Elements without either do not count.
fn add(acc: &mut Weighted, args: &mut Args) {
    if args.is_null(0) || args.is_null(1) {
        return;
    }
    match (args.float(0), args.float(1)) {
        (Some(_), Some(w)) if w < 0.0 => args.fail("negative_weight", "a weight must not be negative"),
        (Some(v), Some(w)) => {
            acc.sum += v * w;
            acc.weight += w;
        }
        _ => args.fail("no_number", "value and weight must be numbers"),
    }
}

fn merge(acc: &mut Weighted, other: &Weighted) {
    acc.sum += other.sum;
    acc.weight += other.weight;
}

/// Is null over nothing.
fn mean(acc: &Weighted, out: &mut Answer) {
    if acc.weight > 0.0 {
        out.float(acc.sum / acc.weight);
    }
}

// An accumulator of spread is a byte, 1 if it holds anything, and then the smallest and the largest number, 8 bytes each.

fn add_spread(acc: &mut Vec<u8>, args: &mut Args) {
    if args.is_null(0) {
        return;
    }
    match args.float(0) {
        Some(v) => widen(acc, v, v),
        None => args.fail("no_number", "the value must be a number"),
    }
}

fn merge_spread(acc: &mut Vec<u8>, other: &[u8]) {
    if other[0] != 0 {
        widen(acc, at(other, 1), at(other, 9));
    }
}

fn widen(acc: &mut Vec<u8>, lo: f64, hi: f64) {
    if acc[0] == 0 {
        acc.clear();
        acc.push(1);
        acc.extend_from_slice(&lo.to_le_bytes());
        acc.extend_from_slice(&hi.to_le_bytes());
        return;
    }
    if lo < at(acc, 1) {
        acc[1..9].copy_from_slice(&lo.to_le_bytes());
    }
    if hi > at(acc, 9) {
        acc[9..17].copy_from_slice(&hi.to_le_bytes());
    }
}

fn at(acc: &[u8], i: usize) -> f64 {
    let mut b = [0; 8];
    b.copy_from_slice(&acc[i..i + 8]);
    f64::from_le_bytes(b)
}

/// Gives an object; it is null over nothing.
fn spread(acc: &[u8], out: &mut Answer) {
    if acc[0] == 0 {
        return;
    }
    let mut b = b"{\"min\":".to_vec();
    push_float(&mut b, at(acc, 1));
    b.extend_from_slice(b",\"max\":");
    push_float(&mut b, at(acc, 9));
    b.push(b'}');
    out.json(&b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgate::Harness;
    use wgate::HarnessValue::{Float, Int, Json, Null, Text};

    /// Runs the combiners natively, through the frames of the real host.
    #[test]
    fn combiners() {
        let mut h = Harness::new(register, "").unwrap();
        let x = || Text("x".to_string());
        for (name, parts, want, bad) in [
            ("wmean", vec![vec![vec![Int(1), Int(1)], vec![Int(2), Int(3)]]], Float(1.75), vec![]),
            (
                "wmean",
                vec![vec![vec![Int(1), Int(1)]], vec![vec![Int(2), Int(3)], vec![Null, Int(4)], vec![Int(5), Null]]],
                Float(1.75),
                vec![],
            ),
            ("wmean", vec![vec![]], Null, vec![]),
            (
                "wmean",
                vec![vec![vec![Int(1), Int(1)], vec![x(), Int(1)], vec![Int(1), Int(-1)]]],
                Float(1.0),
                vec![(1, "no_number"), (2, "negative_weight")],
            ),
            (
                "spread",
                vec![vec![vec![Int(3)], vec![Float(1.5)]], vec![], vec![vec![Int(7)]]],
                Json(r#"{"min":1.5,"max":7}"#.to_string()),
                vec![],
            ),
            ("spread", vec![vec![vec![Null]]], Null, vec![]),
        ] {
            let (got, failed) = h.combine(name, &parts).unwrap();
            assert_eq!(got, want, "{} {:?}", name, parts);
            assert_eq!(failed.iter().map(|f| (f.row, f.code.as_str())).collect::<Vec<_>>(), bad, "{} {:?}", name, parts);
        }
    }
}
