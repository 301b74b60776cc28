//go:build wasip1

package wgate

import (
	"runtime"
	"unsafe"
)

//go:wasmimport wgate1 out
func importOut(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport wgate1 fail
func importFail(ptr unsafe.Pointer, n uint32)

// theHost is wgate.
type theHost struct{}

func (theHost) out(frame []byte) int32 {
	return importOut(unsafe.Pointer(unsafe.SliceData(frame)), uint32(len(frame)))
}

func (theHost) fail(text string) {
	importFail(unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

//go:wasmexport wgate_abi_1
func exportABI() {}

//go:wasmexport wgate_arena
func exportArena(which, n uint32) uint32 {
	return uint32(uintptr(unsafe.Pointer(self.arena(which, n))))
}

// The exports end with Gosched: else the workers of the garbage collector never get their turn, since no export blocks.

//go:wasmexport wgate_open
func exportOpen(n uint32) int32 {
	s := self.open(n)
	runtime.Gosched()
	return s
}

//go:wasmexport wgate_call
func exportCall(fn, op, n uint32) int32 {
	s := self.call(fn, op, n)
	runtime.Gosched()
	return s
}

//go:wasmexport wgate_close
func exportClose(uint32) int32 { return statusOK }

//go:wasmexport wgate_describe
func exportDescribe() int32 { return self.describe() }
