// Package plan turns a checked pipeline into what the engine runs: a list of small nodes in an order in which every node
// comes after the one that feeds it, with one collection on every arrow and, for each collection, just the fields that
// somebody downstream reads.
//
// Read node.go (what a node is), build.go (blocks become nodes), require.go (fields are traced back to the sources) and
// bind.go (expressions become programs over columns); explain.go and graph.go show a plan to people.
package plan
