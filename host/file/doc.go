// Package file reads JSON lines and writes them: a file as a source that ends, a file or standard output as a sink.
//
// A source has one partition. The offset of a record is the number of its line, from 1; the position after the last line
// is one more. Blank lines count and give no record. A sink is at least once: what was written before a crash stays, and
// may be written again.
package file
