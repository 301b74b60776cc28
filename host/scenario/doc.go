// Package scenario runs the tests of `wgate test`: scripts of what arrives and of what must come of it, on the engine that
// also runs in production, with its ports replaced. The script is the inputs and the clock; outputs and the collections
// that it names are recorded; the state is in memory. Nothing here knows how windows or triggers work: that is what is
// tested.
//
// Read script.go (the source of records and time), task.go (how the engine is put together), run.go (the steps), match.go
// (what is compared) and report.go (what is said of it).
package scenario
