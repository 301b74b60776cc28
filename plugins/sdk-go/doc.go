// Package wgate is the SDK for wgate plugins in Go. A plugin registers its functions while the program starts, and has an
// empty main:
//
//	func init() {
//		wgate.Plugin("scores", "1.0.0")
//		wgate.DoFn("score", func(e *wgate.Element, out *wgate.Emitter) {
//			if len(e.Value()) == 0 {
//				out.Fail("empty_value", "the value is empty")
//				return
//			}
//			out.Keep()
//		})
//	}
//
//	func main() {}
//
// Build and pack it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o scores.wasm .
//	wgate plugin pack scores.wasm
//
// Combiner registers a function that folds many elements together, for the compute of an aggregate:
//
//	wgate.Combiner("mean", 1, wgate.Fold[sums]{Add: add, Merge: merge, Extract: extract})
//
// Its accumulators live in wgate's state store.
//
// # Speed
//
// A function is called for every element, so it should allocate nothing: an allocation for each record costs ten times
// what the rest does. Do not use encoding/json there; it is slow inside WebAssembly (more than ten times the native
// speed). Read JSON with Element.Scan, write it with Emitter.Object; both work on the bytes as they are. Prefer Emitter.Keep
// to emitting an equal value: a row that is kept is not copied at all. In WebAssembly calls, turns of loops and the clearing
// of variables larger than 32 bytes (structs with many fields) are what costs; arithmetic is nearly free.
//
// # Rules
//
// The bytes that an Element gives belong to the host's frame and are good until the function returns; copy what must live
// longer. What a function remembers in variables is at best a cache: any instance of the plugin may be asked about any
// element, and an instance may be replaced at any moment. Time is Element.Time and, for processing time, the clock of
// package time, which stands still during a call. Random numbers are the same whenever the same data is processed again.
//
// A panic takes out the element at hand, with its message and stack in the dead letters; the others go on.
//
// # Tests
//
// Outside of WebAssembly the package has a Harness that runs the registered functions through the real frames: tests of a
// plugin are plain Go tests.
package wgate
