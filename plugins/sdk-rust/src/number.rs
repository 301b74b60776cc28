use std::io::Write;

/// Appends v in decimal.
pub(crate) fn push_int(dst: &mut Vec<u8>, v: i64) {
    let mut buf = [0u8; 20];
    let mut at = buf.len();
    let mut u = v.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b'0' + (u % 10) as u8;
        u /= 10;
        if u == 0 {
            break;
        }
    }
    if v < 0 {
        dst.push(b'-');
    }
    dst.extend_from_slice(&buf[at..]);
}

/// Appends v as ECMAScript prints it: the shortest form that reads back, with exponents from 1e21 on and below 1e-6. What
/// JSON lacks, NaN and infinities, becomes null; the zero below zero is -0.
pub fn push_float(dst: &mut Vec<u8>, v: f64) {
    if !v.is_finite() {
        dst.extend_from_slice(b"null");
        return;
    }
    let a = v.abs();
    if a == 0.0 || (1e-6..1e21).contains(&a) {
        // The standard library's form has no exponent and the fewest digits; writing to a Vec cannot fail.
        let _ = write!(dst, "{}", v);
        return;
    }
    let at = dst.len();
    let _ = write!(dst, "{:e}", v);
    // 1e21 becomes 1e+21; 1e-7 is right as it is.
    if let Some(e) = dst[at..].iter().position(|&c| c == b'e') {
        if dst[at + e + 1] != b'-' {
            dst.insert(at + e + 1, b'+');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of abi/testdata/vectors/numbers.txt hold for every SDK: bits of the float, its text.
    #[test]
    fn vectors() {
        let text = include_str!("../../../abi/testdata/vectors/numbers.txt");
        let mut n = 0;
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (bits, want) = line.split_once(' ').unwrap();
            let mut got = Vec::new();
            push_float(&mut got, f64::from_bits(u64::from_str_radix(bits, 16).unwrap()));
            assert_eq!(String::from_utf8(got).unwrap(), want, "{}", bits);
            n += 1;
        }
        assert!(n > 20);
    }

    #[test]
    fn ints() {
        for v in [0, 7, -1, i64::MAX, i64::MIN, 1_000_000] {
            let mut got = Vec::new();
            push_int(&mut got, v);
            assert_eq!(String::from_utf8(got).unwrap(), v.to_string());
        }
    }
}
