// Package abi is the border between wgate and its plugins, as bytes: version 1 of the ABI that SPEC.md describes. It writes
// the frames that a guest reads, reads and checks the frames that a guest writes, and knows the manifest inside a plugin
// file. It runs nothing: package host/wasm does.
//
// All constants come from abi.json, by go generate; so do those of the SDKs and the tables of SPEC.md. Start with
// writer.go (input frames), then reader.go (output frames).
package abi

//go:generate go run ./gen
