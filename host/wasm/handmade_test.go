package wasm

import (
	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/abi/wasmbin"
)

// handmade describes a plugin of a few hundred bytes whose wgate_call gives out one span and returns a status.
type handmade struct {
	frame    []byte // put at framePtr
	ptr, len uint32 // the span; 0, 0: frame
	status   int32
	body     []byte    // of wgate_call in place of all that; without the end
	arena    uint32    // what wgate_arena returns, 0: a good one
	without  string    // an export that is left out
	imports  [2]string // one more import: module, name
	bare     bool      // no manifest
	pages    uint32    // of memory at the start, 0: 4
}

const framePtr = 128 << 10

const testManifest = `{"abi":1,"name":"handmade","functions":[{"id":0,"name":"f","kind":"dofn"}]}`

func vec(items ...[]byte) []byte {
	b := wasmbin.AppendU32(nil, uint32(len(items)))
	for _, i := range items {
		b = append(b, i...)
	}
	return b
}

func sized(b []byte) []byte { return append(wasmbin.AppendU32(nil, uint32(len(b))), b...) }

// constI32 is i32.const v, in five bytes.
func constI32(v uint32) []byte {
	return []byte{0x41, byte(v) | 0x80, byte(v>>7) | 0x80, byte(v>>14) | 0x80, byte(v>>21) | 0x80, byte(int32(v)>>28) & 0x7f}
}

func concat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// build writes the module.
func (h handmade) build() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, body []byte) { b = append(append(b, id), sized(body)...) }
	const i = 0x7f
	section(wasmbin.SectionType, vec(
		[]byte{0x60, 0, 0},             // 0 ()
		[]byte{0x60, 2, i, i, 1, i},    // 1 (i32, i32) -> i32
		[]byte{0x60, 1, i, 1, i},       // 2 (i32) -> i32
		[]byte{0x60, 3, i, i, i, 1, i}, // 3 (i32, i32, i32) -> i32
	))
	imports := [][]byte{concat(sized([]byte(abiModule)), sized([]byte("out")), []byte{0, 1})}
	if h.imports[0] != "" {
		imports = append(imports, concat(sized([]byte(h.imports[0])), sized([]byte(h.imports[1])), []byte{0, 0}))
	}
	section(wasmbin.SectionImport, vec(imports...))
	first := byte(len(imports))
	section(wasmbin.SectionFunction, []byte{6, 0, 0, 1, 2, 3, 2})
	pages := h.pages
	if pages == 0 {
		pages = 4
	}
	section(wasmbin.SectionMemory, append([]byte{1, 0}, wasmbin.AppendU32(nil, pages)...))
	exports := [][]byte{concat(sized([]byte("memory")), []byte{2, 0})}
	for k, x := range exportNames {
		if x != h.without {
			exports = append(exports, concat(sized([]byte(x)), []byte{0, first + byte(k)}))
		}
	}
	section(wasmbin.SectionExport, vec(exports...))
	ptr, n, arena := h.ptr, h.len, h.arena
	if ptr == 0 && n == 0 {
		ptr, n = framePtr, uint32(len(h.frame))
	}
	if arena == 0 {
		arena = 64 << 10
	}
	call := h.body
	if call == nil {
		call = concat(constI32(ptr), constI32(n), []byte{0x10, 0, 0x1a}, constI32(uint32(h.status)))
	}
	code := func(ops []byte) []byte { return sized(concat([]byte{0}, ops, []byte{0x0b})) }
	section(wasmbin.SectionCode, vec(
		code(nil), code(nil), code(constI32(arena)), code(constI32(0)), code(call), code(constI32(0)),
	))
	if len(h.frame) > 0 {
		section(wasmbin.SectionData, vec(concat([]byte{0}, constI32(framePtr), []byte{0x0b}, sized(h.frame))))
	}
	if !h.bare {
		section(wasmbin.SectionCustom, concat(sized([]byte(abi.ManifestSection)), []byte(testManifest)))
	}
	return b
}

var exportNames = []string{"_initialize", "wgate_abi_1", "wgate_arena", "wgate_open", "wgate_call", "wgate_close"}
