// Package wasmbin looks at the bytes of a WebAssembly module without running or compiling them: what it imports and
// exports, how large its parts are, and its custom sections. wgate refuses what is too large here, before a compiler sees
// it: a module of 36 bytes can ask a compiler for a gigabyte.
//
// The layout is that of the WebAssembly core specification, version 2.0, chapter 5 (binary format).
package wasmbin
