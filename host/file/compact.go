package file

// appendCompact appends valid JSON text without its line ends, which stand between tokens only: in a string a line end is
// always escaped.
func appendCompact(dst, p []byte) []byte {
	for _, c := range p {
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
		}
	}
	return dst
}
