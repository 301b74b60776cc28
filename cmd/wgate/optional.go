package main

import (
	"flag"
	"fmt"
	"syscall"

	"github.com/urfave/cli/v2"
)

// optionalFlag is a flag that may have a value, as --name=VALUE, and need not. What follows it is an argument. cli has no
// such flag, the standard library has: a boolean one whose value need not be a truth value.
type optionalFlag struct {
	*cli.BoolFlag
	bare string // the value where the flag stands alone
}

func newOptionalFlag(name, bare, env, usage string) *optionalFlag {
	return &optionalFlag{
		BoolFlag: &cli.BoolFlag{Name: name, Usage: usage, EnvVars: []string{env}, DefaultText: bare + " if no value is given"},
		bare:     bare,
	}
}

// Apply adds the flag to a set, with what its variable says.
func (f *optionalFlag) Apply(set *flag.FlagSet) error {
	v := &optionalValue{bare: f.bare}
	for _, name := range f.EnvVars {
		if text, ok := syscall.Getenv(name); ok && text != "" {
			if err := v.Set(text); err != nil {
				return fmt.Errorf("variable %s: %w", name, err)
			}
		}
	}
	set.Var(v, f.Name, f.Usage)
	return nil
}

// optionalValue is the value of an optionalFlag; empty where the flag is absent.
type optionalValue struct{ bare, text string }

func (v *optionalValue) String() string   { return v.text }
func (v *optionalValue) IsBoolFlag() bool { return true }

func (v *optionalValue) Set(text string) error {
	switch text {
	case "true":
		v.text = v.bare
	case "false":
		v.text = ""
	default:
		v.text = text
	}
	return nil
}
