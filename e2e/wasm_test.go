package e2e

import bin "encoding/binary"

// The types of the functions that a plugin exports, by their numbers in module.
const (
	typeVoid   = iota // () -> ()
	typeArena         // (i32, i32) -> i32
	typeHandle        // (i32) -> i32
	typeCall          // (i32, i32, i32) -> i32
)

// pluginExports are all that a plugin must export, with their types.
var pluginExports = []struct {
	name string
	kind byte
}{
	{"_initialize", typeVoid}, {"wgate_abi_1", typeVoid}, {"wgate_arena", typeArena},
	{"wgate_open", typeHandle}, {"wgate_call", typeCall}, {"wgate_close", typeHandle},
}

// module assembles a WebAssembly module that looks like a plugin and does nothing: it has the exports of a plugin but those
// in without, imports one function for each pair of imports, and has a manifest if manifest is not empty.
func module(without string, imports [][2]string, manifest string) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, body []byte) {
		b = append(bin.AppendUvarint(append(b, id), uint64(len(body))), body...)
	}
	text := func(dst []byte, s string) []byte {
		return append(bin.AppendUvarint(dst, uint64(len(s))), s...)
	}
	const i32 = 0x7f
	section(1, []byte{4, 0x60, 0, 0, 0x60, 2, i32, i32, 1, i32, 0x60, 1, i32, 1, i32, 0x60, 3, i32, i32, i32, 1, i32})
	in := []byte{byte(len(imports))}
	for _, i := range imports {
		in = append(text(text(in, i[0]), i[1]), 0, typeVoid)
	}
	section(2, in)
	var kinds, bodies, exports []byte
	for _, x := range pluginExports {
		if x.name == without {
			continue
		}
		index := byte(len(imports) + len(kinds))
		kinds = append(kinds, x.kind)
		exports = append(text(exports, x.name), 0, index)
		if x.kind == typeVoid {
			bodies = append(bodies, 2, 0, 0x0b)
		} else {
			bodies = append(bodies, 4, 0, 0x41, 0, 0x0b) // i32.const 0
		}
	}
	n := byte(len(kinds))
	section(3, append([]byte{n}, kinds...))
	section(5, []byte{1, 0, 1})
	section(7, append(append([]byte{n + 1}, exports...), text(nil, "memory")[0], 'm', 'e', 'm', 'o', 'r', 'y', 2, 0))
	section(10, append([]byte{n}, bodies...))
	if manifest != "" {
		section(0, append(text(nil, "wgate:manifest"), manifest...))
	}
	return b
}
