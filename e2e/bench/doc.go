// Command bench runs wgate on a workload of the peer baseline: see main.go, which is for Linux.
package main
