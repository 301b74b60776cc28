// Package host puts a pipeline together and runs it: it opens the state, the broker, the files and the plugins, hands them
// to the engine as ports, and closes everything again. job.go is one pipeline at work; node.go is what `wgate serve` runs,
// many of them.
package host
