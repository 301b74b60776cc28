// Package e2e tells stories of the real binary: it is built, started, killed and asked, as a user would. Its tests know
// nothing of wgate's packages; what they expect they compute by themselves.
package e2e
