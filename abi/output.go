package abi

import (
	"math/bits"

	"github.com/wgate/wgate/event"
)

// AppendKept appends the rows of KEEP to dst, rising.
func (o *Output) AppendKept(dst []int32) []int32 {
	if o.index {
		for i := 0; i < len(o.keep); i += 4 {
			dst = append(dst, int32(le.Uint32(o.keep[i:])))
		}
		return dst
	}
	for i, b := range o.keep {
		for ; b != 0; b &= b - 1 {
			dst = append(dst, int32(i*8+bits.TrailingZeros8(b)))
		}
	}
	return dst
}

// Emits returns the number of EMIT rows.
func (o *Output) Emits() int { return len(o.emits) / SizeEmit }

// Emit returns EMIT row i.
func (o *Output) Emit(i int) Emit {
	p := o.emits[i*SizeEmit:][:SizeEmit]
	e := Emit{
		Row:   le.Uint32(p[AtEmitRow:]),
		Tag:   le.Uint16(p[AtEmitTag:]),
		Given: le.Uint16(p[AtEmitGiven:]),
		Time:  event.Time(le.Uint64(p[AtEmitTime:])),
		Head:  le.Uint32(p[AtEmitHeaders:]),
	}
	e.Tail = e.Head + uint32(le.Uint16(p[AtEmitHeaderCount:]))
	if e.Given&GivenKey != 0 {
		e.Key = o.given(p[AtEmitKeyOffset:], p[AtEmitKeyForm])
	}
	if e.Given&GivenValue != 0 {
		e.Value = o.given(p[AtEmitOffset:], p[AtEmitForm])
	}
	return e
}

// given returns the span whose offset and length stand at p.
func (o *Output) given(p []byte, form uint8) Span {
	if form == FormMissing || form == FormNull {
		return Span{Form: form}
	}
	return Span{le.Uint32(p) - o.base, le.Uint32(p[4:]), form}
}

// Headers returns the number of HEADERS rows.
func (o *Output) Headers() int { return len(o.heads) / SizeHead }

// Header returns HEADERS row i: the name, and the value with FormNull or FormBytes.
func (o *Output) Header(i int) (name, value Span) {
	p := o.heads[i*SizeHead:][:SizeHead]
	name = Span{le.Uint32(p[AtHeadNameOffset:]) - o.base, le.Uint32(p[AtHeadNameLength:]), FormText}
	off := le.Uint32(p[AtHeadOffset:])
	if off == None {
		return name, Span{Form: FormNull}
	}
	return name, Span{off - o.base, le.Uint32(p[AtHeadLength:]), FormBytes}
}

// Fails returns the number of FAIL rows.
func (o *Output) Fails() int { return len(o.fails) / SizeFail }

// Fail returns FAIL row i.
func (o *Output) Fail(i int) Failure {
	p := o.fails[i*SizeFail:][:SizeFail]
	return Failure{
		Row:  le.Uint32(p[AtFailRow:]),
		Code: o.at(p, AtFailCodeOffset),
		Text: o.at(p, AtFailOffset),
	}
}

// Samples returns the number of METRIC rows.
func (o *Output) Samples() int { return len(o.stats) / SizeSample }

// Sample returns METRIC row i.
func (o *Output) Sample(i int) Sample {
	p := o.stats[i*SizeSample:][:SizeSample]
	return Sample{o.at(p, AtSampleNameOffset), le.Uint32(p[AtSampleKind:]), int64(le.Uint64(p[AtSampleValue:]))}
}

// Lines returns the number of LOG rows.
func (o *Output) Lines() int { return len(o.lines) / SizeLine }

// Line returns LOG row i.
func (o *Output) Line(i int) Line {
	p := o.lines[i*SizeLine:][:SizeLine]
	return Line{le.Uint32(p[AtLineLevel:]), le.Uint32(p[AtLineRow:]), o.at(p, AtLineOffset)}
}

// at returns the bytes of the span whose offset and length stand at p[field:].
func (o *Output) at(p []byte, field int) []byte {
	off, n := le.Uint32(p[field:]), le.Uint32(p[field+4:])
	return o.frame[off : off+n : off+n]
}
