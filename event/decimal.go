package event

// Decimal is an exact decimal number: a signed 128-bit count of 10^-18, in two's complement. Its range is about
// +-1.7 * 10^20 with 18 fractional digits.
type Decimal struct {
	Hi int64
	Lo uint64
}
