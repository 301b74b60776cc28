// Package admin is the HTTP API of a node and the client that `wgate deploy` and its sisters use.
//
// Start with api.go (what goes over the wire), then bundle.go (a pipeline as it is uploaded, and what is refused), guard.go
// (whose requests are answered at all), server.go (the routes) and client.go. The node behind the API is the interface
// Node, which package host implements. docs/openapi.yaml describes the same routes for other programs; a test compares.
//
// Nothing here takes a path, a URL or a client option from a request: files travel by content, plugins by digest. No
// answer has the text of a pipeline, a variable, a secret or a record in it.
package admin
