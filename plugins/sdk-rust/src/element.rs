use crate::abi;
use crate::frame::{InRow, Input};
use crate::scanner::Scanner;

/// What the bytes of a key or value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// There is none.
    Missing,
    /// Null, which is not empty.
    Null,
    /// JSON text.
    Json,
    /// UTF-8 text as it is.
    Text,
    /// Any bytes.
    Bytes,
}

impl Form {
    fn of(form: u8) -> Form {
        match form {
            abi::FORM_NULL => Form::Null,
            abi::FORM_JSON => Form::Json,
            abi::FORM_TEXT => Form::Text,
            abi::FORM_BYTES => Form::Bytes,
            _ => Form::Missing,
        }
    }
}

/// Where an element stands among the panes of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pane {
    /// 0 early, 1 on time, 2 late.
    pub timing: u8,
    pub first: bool,
    pub last: bool,
}

/// One element of the input. The bytes that its methods return belong to the host: they are good until the function
/// returns.
pub struct Element<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) row: &'a InRow,
    pub(crate) index: usize,
}

impl<'a> Element<'a> {
    /// The element's value as it came, None if it is null or missing. In a pipeline that decodes JSON it is JSON text.
    #[inline]
    pub fn value(&self) -> Option<&'a [u8]> {
        self.input.span(self.row.offset, self.row.length)
    }

    /// What [`Element::value`] is.
    pub fn value_form(&self) -> Form {
        Form::of(self.row.form)
    }

    /// A Scanner over the value.
    #[inline]
    pub fn scan(&self) -> Scanner<'a> {
        Scanner::new(self.value().unwrap_or(&[]))
    }

    /// The element's key, None if it is null or missing: text as it is, anything else as JSON text.
    pub fn key(&self) -> Option<&'a [u8]> {
        let k = &self.input.keys[self.row.key as usize];
        self.input.span(k.offset, k.length)
    }

    /// What [`Element::key`] is.
    pub fn key_form(&self) -> Form {
        Form::of(self.input.keys[self.row.key as usize].form as u8)
    }

    /// The event time in ms since 1970.
    pub fn time(&self) -> i64 {
        self.row.time
    }

    /// The input watermark, in ms since 1970, as it was before the first element of this call.
    pub fn watermark(&self) -> i64 {
        self.input.mark
    }

    /// The processing time of this call in ms since 1970.
    pub fn processing_time(&self) -> i64 {
        self.input.now
    }

    /// Whether the element takes an earlier one back.
    pub fn retract(&self) -> bool {
        self.row.sign < 0
    }

    /// The window, from its start to before its end in ms; None before a grouping.
    pub fn window(&self) -> Option<(i64, i64)> {
        if self.row.window == abi::NONE {
            return None;
        }
        let w = &self.input.windows[self.row.window as usize];
        Some((w.start, w.end))
    }

    /// The pane. It is good where [`Element::window`] is.
    pub fn pane(&self) -> Pane {
        let p = self.row.pane;
        Pane { timing: p & abi::PANE_TIMING_MASK, first: p & abi::PANE_FIRST != 0, last: p & abi::PANE_LAST != 0 }
    }

    /// The headers in order: name, and value or None for null.
    pub fn headers(&self) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> + 'a {
        let input = self.input;
        let from = self.row.headers as usize;
        let heads = if self.row.header_count == 0 { &[] } else { &input.heads[from..][..self.row.header_count as usize] };
        heads.iter().map(move |h| (input.span(h.name_offset, h.name_length).unwrap_or(&[]), input.span(h.offset, h.length)))
    }

    /// Partition and offset of the record; None for elements that stem from no single record.
    pub fn origin(&self) -> Option<(i32, i64)> {
        if self.row.origin == abi::NONE {
            return None;
        }
        let o = &self.input.origins[self.row.origin as usize];
        Some((o.partition, o.offset))
    }

    /// The element's place in the call, from 0.
    pub fn index(&self) -> usize {
        self.index
    }
}
