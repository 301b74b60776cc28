// Package meter rewrites WebAssembly modules so that they give way and can be stopped. It turns bytes into bytes and knows
// nothing of a runtime.
//
// Compiled WebAssembly cannot be interrupted, and while it runs Go's garbage collector cannot stop the world: an endless
// loop in a plugin would freeze the whole process. The rewritten module counts down a global at the head of every loop and
// at the entry of every function that calls others, by the number of instructions that follow, and before instructions
// that work on many bytes. When the count is used up the code executes memory.grow with 0 pages, which does nothing but
// leave to Go for a moment, looks at the stop flag, and goes on or traps. The flag is a mutable global that the module
// exports for the host to set.
//
// Nothing is renumbered: what is added stands behind what is there.
package meter
