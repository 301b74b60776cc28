package main

import (
	"errors"
	"strings"

	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/wasm"
)

// failure is how an error looks from outside.
type failure struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"` // stable, such as WG-222
	Next  string `json:"next,omitempty"` // what to do
}

// report shows err: as JSON on standard output, so that a program finds it where it looks for the result, or as text on
// standard error. What has been shown already is not shown again.
func (s streams) report(err error, asJSON bool) {
	var shown shownError
	if err == nil || errors.As(err, &shown) {
		return
	}
	f := failureOf(err)
	if asJSON {
		// If standard output is gone there is nobody to tell.
		_ = s.showJSON(f)
		return
	}
	p := newPrinter(s.err)
	p.printf("%s %s\n", p.paint(red, "wgate:"), f.Error)
	if f.Next != "" {
		p.printf("  next: %s\n", f.Next)
	}
}

// failureOf takes an error apart into what happened and what to do, where it knows.
func failureOf(err error) failure {
	f := failure{Error: err.Error()}
	var stop *commit.Stop
	var refused *wasm.Refused
	var answer *admin.Failure
	switch {
	case errors.As(err, &stop):
		f.Code, f.Next = stop.Code, stop.Next
	case errors.As(err, &refused):
		f.Next = refused.Next
	case errors.As(err, &answer):
		f.Code, f.Next = answer.Code, answer.Next
	}
	// The text ends in what Next says.
	if f.Next != "" {
		f.Error = strings.TrimSuffix(f.Error, "; "+f.Next)
	}
	return f
}
