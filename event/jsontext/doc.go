// Package jsontext reads and writes JSON (RFC 8259) as spans of bytes, without allocating and without changing a digit:
// a value that nobody looks into is only skipped.
//
// scan.go checks and skips; read.go makes an event.Value of checked text; members.go walks objects and lists; append.go
// writes; canon.go and compare.go say when two values are equal; typed.go holds values against declared types;
// splice.go changes fields of an object and keeps every other byte.
//
// Text must be UTF-8; values may be nested MaxDepth deep; of members with one name the last one counts, only a walk with
// Each sees all.
// A \u escape of half a surrogate pair stands for U+FFFD.
package jsontext
