package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// Units of timestamps, by name: how many of them are a millisecond, or how many milliseconds they are.
var units = map[string]struct{ per, ms int64 }{"s": {1, 1000}, "ms": {1, 1}, "us": {1000, 1}, "ns": {1000000, 1}}

// ToTime makes a time of a number of units since 1970 (s, ms, us or ns), rounding down to the millisecond, or of an
// RFC 3339 text. An int or decimal is taken exactly, a float as the number that it is written as. code is empty or says
// why there is no time; a unit that is not known is a bad argument.
func ToTime(h *event.Heap, v event.Value, unit string) (t event.Time, code string) {
	u, ok := units[unit]
	switch {
	case !ok:
		return 0, BadArgument
	case v.Kind == event.Instant:
		return v.Time(), ""
	case v.Kind == event.String:
		if t, ok = jsontext.ParseTime(v.Bytes(h)); !ok {
			return 0, BadTimestamp
		}
		return t, ""
	case v.Kind == event.Int:
		n := v.Int()
		if u.ms > 1 {
			n, ok = mulInt(n, u.ms)
		}
		t = event.Time(floorDiv(n, u.per))
	case v.Kind == event.Decimal128:
		t, ok = decimalTime(v.Decimal(), u.per, u.ms)
	case v.Kind == event.Float:
		d, _, fits := event.FloorFloat(v.Float())
		t, ok = decimalTime(d, u.per, u.ms)
		ok = ok && fits
	case v.Kind == event.Missing:
		return 0, MissingField
	default:
		return 0, WrongType
	}
	if !ok || !t.IsFinite() {
		return 0, OutOfRange
	}
	return t, ""
}

func decimalTime(d event.Decimal, per, ms int64) (event.Time, bool) {
	hi, lo, frac := d.Split()
	if hi != int64(lo)>>63 {
		return 0, false
	}
	// Whole units first, so that the product stays in range; the fraction is below one unit.
	n, ok := mulInt(int64(lo), ms)
	if !ok {
		return 0, false
	}
	n += int64(frac / uint64(1_000_000_000_000_000_000/ms))
	return event.Time(floorDiv(n, per)), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func prepareUnit(args []*typed) (any, error) {
	if len(args) < 2 {
		return "ms", nil
	}
	unit := args[1].lit.Text
	if _, ok := units[unit]; !ok {
		return nil, errors.New("the unit of a timestamp is s, ms, us or ns")
	}
	return unit, nil
}

func runTimestamp(s *callStep, f *frame) {
	unit := s.aux.(string)
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		t, code := ToTime(f.m.h, s.cols[0][i], unit)
		switch code {
		case "":
			s.out[i] = event.TimeValue(t)
		case BadTimestamp:
			s.out[i] = s.fail(f.m, 0, code, "has a text that is no RFC 3339 time")
		default:
			s.out[i] = s.fail(f.m, 1, code, "is outside of all times")
		}
	}
}

func runDuration(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		switch v.Kind {
		case event.Int:
			v = event.DurationValue(event.Duration(v.Int()))
		case event.String:
			d, err := event.ParseDuration(string(v.Bytes(f.m.h)))
			v = event.DurationValue(d)
			if err != nil {
				v = s.fail(f.m, 0, BadArgument, "has a text that is "+err.Error())
			}
		}
		s.out[i] = v
	}
}

// timeFormat is a prepared format: text and directives in turn.
type timeFormat struct {
	parts []string // "%Y" or text
	zone  *time.Location
}

// directives are those of strftime that need no language but English.
const directives = "YmdHMSLjaAbByIpzsFT%"

func prepareFormat(args []*typed) (any, error) {
	p := &timeFormat{zone: time.UTC}
	if !strings.Contains(args[1].lit.Text, "%") { // such as 15:04 or rfc3339, which other languages know
		return nil, errors.New("this time format has no % and would give the same text always; write %Y-%m-%dT%H:%M:%S.%L%z, for example")
	}
	for rest := args[1].lit.Text; rest != ""; {
		i := strings.IndexByte(rest, '%')
		switch {
		case i < 0:
			i = len(rest)
		case i == 0 && (len(rest) == 1 || strings.IndexByte(directives, rest[1]) < 0):
			return nil, errors.New("a % in a time format is followed by one of " + directives + ", as in %Y-%m-%dT%H:%M:%S.%L%z")
		case i == 0:
			i = 2
		}
		p.parts = append(p.parts, rest[:i])
		rest = rest[i:]
	}
	if len(args) < 3 {
		return p, nil
	}
	off := args[2].lit.Text
	t, err := time.Parse("-07:00", off)
	if off == "Z" || off == "UTC" {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the offset is UTC or like +01:00; zones with a name, as %q may be one, are not available in this version", off)
	}
	_, sec := t.Zone()
	p.zone = time.FixedZone("", sec)
	return p, nil
}

func runFormatTime(s *callStep, f *frame) {
	p := s.aux.(*timeFormat)
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		at := s.cols[0][i].Time()
		if at < minFormat || at > maxFormat {
			s.out[i] = s.fail(f.m, 0, OutOfRange, "has a time outside of the years 0 to 9999")
			continue
		}
		buf := f.m.h.Begin()
		t := time.UnixMilli(int64(at)).In(p.zone)
		for _, part := range p.parts {
			buf = appendTime(buf, t, part)
		}
		s.out[i] = event.HeapValue(event.String, f.m.h.End(buf))
	}
}

// The first and last times that have a year of four digits, a day off for the zones.
const (
	minFormat event.Time = -62167132800000
	maxFormat event.Time = 253402214400000
)

// layouts are Go's layouts for the directives that have one.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'j': "002", 'a': "Mon", 'A': "Monday", 'b': "Jan",
	'B': "January", 'y': "06", 'I': "03", 'p': "PM", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05",
}

func appendTime(dst []byte, t time.Time, part string) []byte {
	if len(part) != 2 || part[0] != '%' {
		return append(dst, part...)
	}
	switch part[1] {
	case '%':
		return append(dst, '%')
	case 'L':
		ms := t.Nanosecond() / 1e6
		return append(dst, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	case 's':
		return strconv.AppendInt(dst, t.Unix(), 10)
	}
	return t.AppendFormat(dst, layouts[part[1]])
}
