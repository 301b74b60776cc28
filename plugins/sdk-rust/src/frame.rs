//! The structs of this file are the layouts of abi.rs, byte for byte; a test compares them. WebAssembly is little endian,
//! and so are the machines that the Harness runs on.

use crate::abi;
use std::mem::size_of;

/// A struct without padding, for which every pattern of bits is a value.
///
/// # Safety
/// Both must be true, and the alignment must be at most 8.
pub(crate) unsafe trait Layout: Copy {}

macro_rules! layout {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Default, Debug)]
        pub(crate) struct $name { $(pub(crate) $field: $ty),* }
        // SAFETY: the fields are integers, and the test sizes sees that there is no padding.
        unsafe impl Layout for $name {}
    };
}

layout!(Header {
    magic: u32,
    minor: u16,
    flags: u16,
    fn_id: u32,
    op: u32,
    epoch: u64,
    bundle: u64,
    now: i64,
    mark: i64,
    sections: u32,
    total: u32,
    cursor: u32,
    rows: u32,
});
layout!(Entry { kind: u16, flags: u16, offset: u32, length: u32, count: u32 });
layout!(KeyRow { offset: u32, length: u32, form: u32, hash: u32 });
layout!(WindowRow { start: i64, end: i64 });
layout!(InRow {
    op: u8,
    pane: u8,
    sign: i8,
    form: u8,
    key: u32,
    window: u32,
    headers: u32,
    time: i64,
    offset: u32,
    length: u32,
    header_count: u32,
    origin: u32,
});
layout!(HeadRow { name_offset: u32, name_length: u32, offset: u32, length: u32 });
layout!(OriginRow { source: u16, topic: u16, partition: i32, offset: i64, timestamp: i64 });
layout!(EmitRow {
    row: u32,
    tag: u16,
    given: u16,
    time: i64,
    key_offset: u32,
    key_length: u32,
    offset: u32,
    length: u32,
    headers: u32,
    header_count: u16,
    key_form: u8,
    form: u8,
});
layout!(FailRow { row: u32, reserved: u32, code_offset: u32, code_length: u32, offset: u32, length: u32 });
layout!(SampleRow { name_offset: u32, name_length: u32, kind: u32, reserved: u32, value: i64 });
layout!(LineRow { level: u32, row: u32, offset: u32, length: u32 });

layout!(AccRow { offset: u32, length: u32 });
layout!(StepRow { op: u32, acc: u32, from: u32, count: u32 });
layout!(ValueRow { kind: u32, length: u32, low: u64, high: u64, float: u64 });
layout!(GrownRow { acc: u32, reserved: u32, offset: u32, length: u32 });

/// The memory of rows.
pub(crate) fn bytes_of<T: Layout>(rows: &[T]) -> &[u8] {
    // SAFETY: T has no padding.
    unsafe { std::slice::from_raw_parts(rows.as_ptr() as *const u8, std::mem::size_of_val(rows)) }
}

/// The rows of section e, None if they are not inside the frame, which is 8-aligned.
pub(crate) fn rows_at<'a, T: Layout>(frame: &'a [u8], e: &Entry) -> Option<&'a [T]> {
    let part = frame.get(e.offset as usize..(e.offset as usize).checked_add(e.length as usize)?)?;
    if e.offset % 8 != 0 || e.count as usize * size_of::<T>() != part.len() || part.as_ptr() as usize % 8 != 0 {
        return None;
    }
    // SAFETY: length and alignment were checked, and every pattern of bits is a T.
    Some(unsafe { std::slice::from_raw_parts(part.as_ptr() as *const T, e.count as usize) })
}

/// The head and the section table of a frame, None if it is not sound.
pub(crate) fn sections(frame: &[u8], magic: u32) -> Option<(&Header, &[Entry])> {
    let head = Entry { length: abi::HEADER_SIZE as u32, count: 1, ..Entry::default() };
    let h = &rows_at::<Header>(frame, &head)?[0];
    if h.magic != magic || h.total as usize != frame.len() || h.sections as usize > abi::MAX_SECTIONS {
        return None;
    }
    let table = Entry {
        offset: abi::HEADER_SIZE as u32,
        length: h.sections * abi::SECTION_SIZE as u32,
        count: h.sections,
        ..Entry::default()
    };
    Some((h, rows_at(frame, &table)?))
}

/// An input frame that was taken apart.
#[derive(Default)]
pub(crate) struct Input<'a> {
    pub(crate) frame: &'a [u8],
    pub(crate) now: i64,
    pub(crate) mark: i64,
    pub(crate) keys: &'a [KeyRow],
    pub(crate) windows: &'a [WindowRow],
    pub(crate) rows: &'a [InRow],
    pub(crate) heads: &'a [HeadRow],
    pub(crate) origins: &'a [OriginRow],
}

impl<'a> Input<'a> {
    /// Reads an input frame, None if it is not sound. Spans of values are not checked here: a wrong one panics where it is
    /// used.
    pub(crate) fn take(frame: &'a [u8]) -> Option<Input<'a>> {
        let (h, table) = sections(frame, abi::MAGIC_INPUT)?;
        let mut t = Input { frame, now: h.now, mark: h.mark, ..Input::default() };
        for e in table {
            match e.kind {
                abi::SECTION_KEYS => t.keys = rows_at(frame, e)?,
                abi::SECTION_WINDOWS => t.windows = rows_at(frame, e)?,
                abi::SECTION_ROWS => t.rows = rows_at(frame, e)?,
                abi::SECTION_HEADERS => t.heads = rows_at(frame, e)?,
                abi::SECTION_ORIGINS => t.origins = rows_at(frame, e)?,
                abi::SECTION_HEAP => (),
                _ if e.flags & abi::FLAG_CRITICAL != 0 => return None,
                _ => (),
            }
        }
        if t.rows.len() != h.rows as usize {
            return None;
        }
        Some(t)
    }

    /// The bytes of a span, None for null.
    #[inline]
    pub(crate) fn span(&self, offset: u32, length: u32) -> Option<&'a [u8]> {
        if offset == abi::NONE {
            return None;
        }
        Some(&self.frame[offset as usize..][..length as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! same {
        ($t:ty, $size:expr, $($field:ident $at:expr),*) => {
            assert_eq!(size_of::<$t>(), $size, stringify!($t));
            let v = <$t>::default();
            let base = &v as *const $t as usize;
            $(assert_eq!(&v.$field as *const _ as usize - base, $at, concat!(stringify!($t), ".", stringify!($field)));)*
        };
    }

    #[test]
    fn sizes() {
        use abi::*;
        same!(Header, SIZE_HEADER, magic AT_HEADER_MAGIC, op AT_HEADER_OP, epoch AT_HEADER_EPOCH, now AT_HEADER_NOW,
            mark AT_HEADER_WATERMARK, sections AT_HEADER_SECTIONS, total AT_HEADER_TOTAL, cursor AT_HEADER_CURSOR, rows AT_HEADER_ROWS);
        same!(Entry, SIZE_ENTRY, kind AT_ENTRY_KIND, flags AT_ENTRY_FLAGS, offset AT_ENTRY_OFFSET, length AT_ENTRY_LENGTH, count AT_ENTRY_COUNT);
        same!(KeyRow, SIZE_KEY, offset AT_KEY_OFFSET, length AT_KEY_LENGTH, form AT_KEY_FORM);
        same!(WindowRow, SIZE_WINDOW, start AT_WINDOW_START, end AT_WINDOW_END);
        same!(InRow, SIZE_ROW, op AT_ROW_OP, pane AT_ROW_PANE, sign AT_ROW_SIGN, form AT_ROW_FORM, key AT_ROW_KEY, window AT_ROW_WINDOW,
            headers AT_ROW_HEADERS, time AT_ROW_TIME, offset AT_ROW_OFFSET, length AT_ROW_LENGTH, header_count AT_ROW_HEADER_COUNT, origin AT_ROW_ORIGIN);
        same!(HeadRow, SIZE_HEAD, name_offset AT_HEAD_NAME_OFFSET, name_length AT_HEAD_NAME_LENGTH, offset AT_HEAD_OFFSET, length AT_HEAD_LENGTH);
        same!(OriginRow, SIZE_ORIGIN, source AT_ORIGIN_SOURCE, topic AT_ORIGIN_TOPIC, partition AT_ORIGIN_PARTITION, offset AT_ORIGIN_OFFSET, timestamp AT_ORIGIN_TIMESTAMP);
        same!(EmitRow, SIZE_EMIT, row AT_EMIT_ROW, tag AT_EMIT_TAG, given AT_EMIT_GIVEN, time AT_EMIT_TIME, key_offset AT_EMIT_KEY_OFFSET,
            key_length AT_EMIT_KEY_LENGTH, offset AT_EMIT_OFFSET, length AT_EMIT_LENGTH, headers AT_EMIT_HEADERS, header_count AT_EMIT_HEADER_COUNT,
            key_form AT_EMIT_KEY_FORM, form AT_EMIT_FORM);
        same!(FailRow, SIZE_FAIL, row AT_FAIL_ROW, code_offset AT_FAIL_CODE_OFFSET, code_length AT_FAIL_CODE_LENGTH, offset AT_FAIL_OFFSET, length AT_FAIL_LENGTH);
        same!(SampleRow, SIZE_SAMPLE, name_offset AT_SAMPLE_NAME_OFFSET, name_length AT_SAMPLE_NAME_LENGTH, kind AT_SAMPLE_KIND, value AT_SAMPLE_VALUE);
        same!(AccRow, SIZE_ACC, offset AT_ACC_OFFSET, length AT_ACC_LENGTH);
        same!(StepRow, SIZE_STEP, op AT_STEP_OP, acc AT_STEP_ACC, from AT_STEP_FROM, count AT_STEP_COUNT);
        same!(ValueRow, SIZE_VALUE, kind AT_VALUE_KIND, length AT_VALUE_LENGTH, low AT_VALUE_LOW, high AT_VALUE_HIGH, float AT_VALUE_FLOAT);
        same!(GrownRow, SIZE_GROWN, acc AT_GROWN_ACC, offset AT_GROWN_OFFSET, length AT_GROWN_LENGTH);
        same!(LineRow, SIZE_LINE, level AT_LINE_LEVEL, row AT_LINE_ROW, offset AT_LINE_OFFSET, length AT_LINE_LENGTH);
    }

    #[test]
    fn damaged() {
        let mut words = [0u64; 32];
        // SAFETY: any bytes are u64s, and the other way round.
        let b = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr() as *mut u8, 256) };
        let h = Header { magic: abi::MAGIC_INPUT, sections: 1, total: 256, rows: 1, ..Header::default() };
        b[..64].copy_from_slice(bytes_of(&[h]));
        let mut put = |e: Entry| {
            b[64..80].copy_from_slice(bytes_of(&[e]));
            Input::take(b).is_some()
        };
        let good = Entry { kind: abi::SECTION_ROWS, flags: abi::FLAG_CRITICAL, offset: 80, length: 40, count: 1 };
        assert!(put(good));
        assert!(!put(Entry { length: 400, count: 10, ..good }), "behind the end");
        assert!(!put(Entry { offset: 81, ..good }), "not aligned");
        assert!(!put(Entry { count: 2, ..good }), "wrong count");
        assert!(!put(Entry { offset: u32::MAX - 7, ..good }), "far away");
        assert!(!put(Entry { kind: 999, ..good }), "unknown and critical");
        assert!(!put(Entry { kind: 999, flags: 0, ..good }), "no rows");
        assert!(Input::take(&b[..63]).is_none());
    }
}
