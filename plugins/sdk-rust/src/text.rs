const HEX: &[u8; 16] = b"0123456789abcdef";

/// Marks, by their high bits, the bytes of w that end a run of plain text inside a JSON string: quote, backslash, control
/// characters. Above the lowest mark there may be wrong ones.
pub(crate) fn special(w: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let q = w ^ (ONES * b'"' as u64);
    let b = w ^ (ONES * b'\\' as u64);
    (w.wrapping_sub(ONES * b' ' as u64) & !w | q.wrapping_sub(ONES) & !q | b.wrapping_sub(ONES) & !b) & HIGHS
}

pub(crate) fn load8(b: &[u8], i: usize) -> u64 {
    let mut w = [0u8; 8];
    w.copy_from_slice(&b[i..i + 8]);
    u64::from_le_bytes(w)
}

/// Appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, one each.
pub(crate) fn push_string(dst: &mut Vec<u8>, s: &[u8]) {
    dst.push(b'"');
    let mut rest = s;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(_) => {
                push_escaped(dst, rest);
                break;
            }
            Err(e) => {
                push_escaped(dst, &rest[..e.valid_up_to()]);
                dst.extend_from_slice("\u{fffd}".as_bytes());
                rest = &rest[e.valid_up_to() + 1..];
            }
        }
    }
    dst.push(b'"');
}

fn push_escaped(dst: &mut Vec<u8>, s: &[u8]) {
    let mut from = 0;
    for (i, &c) in s.iter().enumerate() {
        if c >= b' ' && c != b'"' && c != b'\\' {
            continue;
        }
        dst.extend_from_slice(&s[from..i]);
        from = i + 1;
        match c {
            b'"' | b'\\' => dst.extend_from_slice(&[b'\\', c]),
            b'\n' => dst.extend_from_slice(b"\\n"),
            b'\r' => dst.extend_from_slice(b"\\r"),
            b'\t' => dst.extend_from_slice(b"\\t"),
            _ => dst.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[(c >> 4) as usize], HEX[(c & 15) as usize]]),
        }
    }
    dst.extend_from_slice(&s[from..]);
}

/// Returns the text of a JSON string's inside, None if an escape is wrong. Lone surrogates become U+FFFD.
pub(crate) fn unescape(s: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    while i < s.len() {
        let c = s[i];
        i += 1;
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let c = *s.get(i)?;
        i += 1;
        match c {
            b'"' | b'\\' | b'/' => out.push(c),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let mut r = hex4(&s[i..])?;
                i += 4;
                if (0xd800..0xdc00).contains(&r) && s.len() > i + 5 && s[i] == b'\\' && s[i + 1] == b'u' {
                    if let Some(low) = hex4(&s[i + 2..]) {
                        if (0xdc00..0xe000).contains(&low) {
                            r = 0x10000 + ((r - 0xd800) << 10) + (low - 0xdc00);
                            i += 6;
                        }
                    }
                }
                let mut buf = [0u8; 4];
                out.extend_from_slice(char::from_u32(r).unwrap_or('\u{fffd}').encode_utf8(&mut buf).as_bytes());
            }
            _ => return None,
        }
    }
    Some(out)
}

fn hex4(b: &[u8]) -> Option<u32> {
    let mut r = 0;
    for &c in b.get(..4)? {
        r = r << 4 | (c as char).to_digit(16)?;
    }
    Some(r)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(s: &[u8]) -> String {
        let mut b = Vec::new();
        push_string(&mut b, s);
        String::from_utf8(b).unwrap()
    }

    #[test]
    fn strings() {
        assert_eq!(quoted("aé\"\\\n\u{1}".as_bytes()), "\"aé\\\"\\\\\\n\\u0001\"");
        assert_eq!(quoted(b"a\xff\xe2\x82b"), "\"a\u{fffd}\u{fffd}\u{fffd}b\"");
        assert_eq!(quoted(b""), "\"\"");
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br#"a\u00e9\ud83d\ude00\/\t"#).unwrap(), "aé😀/\t".as_bytes());
        assert_eq!(unescape(br"\ud83d!").unwrap(), "\u{fffd}!".as_bytes());
        assert_eq!(unescape(br"\u12"), None);
        assert_eq!(unescape(br"\x"), None);
    }
}
