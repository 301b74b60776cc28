package event

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time in milliseconds.
type Duration int64

// Units of a Duration.
const (
	Millisecond Duration = 1
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
	Day                  = 24 * Hour
)

// ErrDuration is returned by ParseDuration for text that is not a duration.
var ErrDuration = errors.New(`not a duration: write a number and a unit (ms, s, m, h, d), such as "90s", "1.5h" or "1h30m"`)

var units = []struct {
	name string
	ms   Duration
}{{"ms", Millisecond}, {"s", Second}, {"m", Minute}, {"h", Hour}, {"d", Day}}

// ParseDuration reads a duration such as "90s", "1.5h", "1h30m", "250ms" or "1d" (a day is 24 hours). Every number needs
// a unit, no blanks are allowed, a leading minus makes it negative, and the result must be a whole number of
// milliseconds. "0s" is a duration, "0" and "" are not.
func ParseDuration(s string) (Duration, error) {
	neg := strings.HasPrefix(s, "-")
	rest := strings.TrimPrefix(s, "-")
	if rest == "" {
		return 0, ErrDuration
	}
	var sum Duration
	for rest != "" {
		i := 0
		for i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == '.') {
			i++
		}
		j := i
		for j < len(rest) && rest[j] >= 'a' && rest[j] <= 'z' {
			j++
		}
		ms, err := scaled(rest[:i], rest[i:j])
		if err != nil {
			return 0, err
		}
		if sum > math.MaxInt64/4-ms {
			return 0, ErrDuration
		}
		sum += ms
		rest = rest[j:]
	}
	if neg {
		sum = -sum
	}
	return sum, nil
}

// scaled reads one number and its unit. It works on integers, so that "0.1s" is exactly 100 ms.
func scaled(num, unit string) (Duration, error) {
	var ms Duration
	for _, u := range units {
		if u.name == unit {
			ms = u.ms
		}
	}
	whole, frac, dot := strings.Cut(num, ".")
	if ms == 0 || whole == "" || dot && frac == "" || len(whole) > 12 || len(frac) > 9 || strings.Contains(frac, ".") {
		return 0, ErrDuration
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/4/int64(ms) {
		return 0, ErrDuration
	}
	d := Duration(n) * ms
	if dot {
		f, err := strconv.ParseInt(frac, 10, 64)
		if err != nil {
			return 0, ErrDuration
		}
		div := int64(math.Pow10(len(frac)))
		if f*int64(ms)%div != 0 {
			return 0, ErrDuration
		}
		d += Duration(f * int64(ms) / div)
	}
	return d, nil
}

// String formats d as ParseDuration reads it, largest unit first: "1h30m", "250ms", "0s". Days are written in hours.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for i := 3; i >= 0; i-- {
		if n := d / units[i].ms; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(units[i].name)
			d -= n * units[i].ms
		}
	}
	return b.String()
}

// Std converts d to a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) * time.Millisecond }
