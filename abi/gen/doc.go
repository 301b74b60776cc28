// Command gen writes everything that is generated from abi.json: the constants of the host, those of the Go SDK, and the
// tables of SPEC.md. It runs in folder abi, by go generate.
package main
