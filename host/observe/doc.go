// Package observe makes a node visible: metrics for Prometheus (metrics.go, whose names are in names.go and explained in
// docs/metrics.md), the format of its log (log.go) and the last lines of each pipeline's log (journal.go).
//
// Metrics are read from the counters of the engine when somebody asks; a record costs nothing here.
package observe
