// Command wgate runs streaming pipelines that are written in HCL: it reads Kafka-compatible topics, runs the user's
// functions as sandboxed WebAssembly plugins, groups by key and event-time window, and writes topics, exactly once.
//
// The package turns flags into values, values into calls and results into views, and decides nothing else. Start with
// app.go (the commands), then reorder.go (why flags may stand anywhere) and view.go (how one result becomes text or
// JSON); every command has a file of its own name. Exit codes are in exit.go.
package main
