// Package crash kills the process at named points, so that tests can see what a kill -9 leaves behind. In a normal run a
// point costs one comparison.
//
// The environment variable WGATE_CRASH names the point: "applied" kills at its first hit, "applied:3" at the third.
package crash
