// Package wasm runs plugins: WebAssembly modules that speak the ABI of package abi. It implements engine.Invoker.
//
// A Registry admits and compiles plugin files; Registry.Load gives a Module, which is one file under one set of limits;
// Module.NewInstance gives an Instance, which is what one worker calls. An Instance survives its guest: after a trap, a
// missed deadline or a frame that makes no sense the guest is thrown away, a fresh one takes over, and the rows are tried
// again in smaller runs until those that fail alone are found.
//
// Start with registry.go and admit.go, then process.go (what happens to a bundle) and guest.go (one call).
package wasm
