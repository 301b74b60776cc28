package main

import (
	"errors"
	"fmt"

	"github.com/wgate/wgate/host/wasm"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // the input was fine, but what was asked for did not come about
	exitInvalid = 2 // the command line, a pipeline or a plugin is not right: running the same again cannot help
)

// invalidError marks an error as one of the input.
type invalidError struct{ err error }

func (e invalidError) Error() string { return e.err.Error() }
func (e invalidError) Unwrap() error { return e.err }

// invalid makes an error of the input.
func invalid(format string, args ...any) error {
	return invalidError{fmt.Errorf(format, args...)}
}

// failedError marks an error, whatever it is of, as a failure of what was asked for: what runs goes on.
type failedError struct{ err error }

func (e failedError) Error() string { return e.err.Error() }
func (e failedError) Unwrap() error { return e.err }

// shownError ends the command with a code after the reason has been shown.
type shownError struct{ code int }

func (e shownError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode maps what a command returned to the code of the process.
func exitCode(err error) int {
	var shown shownError
	var bad invalidError
	var failed failedError
	var refused *wasm.Refused
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &shown):
		return shown.code
	case errors.As(err, &failed):
		return exitFailed
	case errors.As(err, &bad), errors.As(err, &refused):
		return exitInvalid
	}
	return exitFailed
}
