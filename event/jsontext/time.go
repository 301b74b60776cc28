package jsontext

import "github.com/wgate/wgate/event"

// ParseTime reads an RFC 3339 timestamp, such as "2023-11-14T23:13:20.5+01:00"; digits past the millisecond are cut off. A
// blank may stand for the T. There are no leap seconds.
func ParseTime(b []byte) (t event.Time, ok bool) {
	if len(b) < len("2006-01-02T15:04:05Z") || b[4] != '-' || b[7] != '-' || b[13] != ':' || b[16] != ':' ||
		b[10]|0x20 != 't' && b[10] != ' ' {
		return 0, false
	}
	y, ok1 := number(b[0:4], 9999)
	mo, ok2 := number(b[5:7], 12)
	d, ok3 := number(b[8:10], 31)
	ho, ok4 := number(b[11:13], 23)
	mi, ok5 := number(b[14:16], 59)
	s, ok6 := number(b[17:19], 59)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || mo == 0 || d == 0 || d > monthDays(y, mo) {
		return 0, false
	}
	ms, rest := int64(0), b[19:]
	if rest[0] == '.' {
		i := digits(rest, 1)
		if i == 1 {
			return 0, false
		}
		for j := 1; j <= 3; j++ {
			ms *= 10
			if j < i {
				ms += int64(rest[j] - '0')
			}
		}
		rest = rest[i:]
	}
	off, ok := zone(rest)
	if !ok {
		return 0, false
	}
	sec := days(y, mo, d)*86400 + ho*3600 + mi*60 + s - off
	return event.Time(sec*1000 + ms), true
}

// number reads digits and nothing else.
func number(b []byte, most int64) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= most
}

// zone reads Z or +hh:mm and returns seconds east of UTC.
func zone(b []byte) (sec int64, ok bool) {
	if len(b) == 1 && b[0]|0x20 == 'z' {
		return 0, true
	}
	if len(b) != 6 || b[0] != '+' && b[0] != '-' || b[3] != ':' {
		return 0, false
	}
	h, ok1 := number(b[1:3], 23)
	m, ok2 := number(b[4:6], 59)
	sec = h*3600 + m*60
	if b[0] == '-' {
		sec = -sec
	}
	return sec, ok1 && ok2
}

func monthDays(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// days counts the days from 1970-01-01 in the proleptic Gregorian calendar, with years that start in March.
func days(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	leap := floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400)
	return 365*y + leap + (153*(m-3)+2)/5 + d - 1 - 719468
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
