// Command hostile is a plugin for tests: what its function does with an element is what the element's value says.
package main

import (
	"errors"
	"os"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

var (
	sink    [][]byte
	forever bool
)

func init() {
	wgate.Plugin("hostile", "1.0.0")
	wgate.OnOpen(func(c *wgate.Config) error {
		forever = true
		if c.String("open", "") == "refuse" {
			return errors.New("this configuration is refused")
		}
		return nil
	})
	wgate.DoFn("act", act, wgate.Tags("side", "other"))
	wgate.Combiner("hurt", 1, wgate.Fold[int64]{
		Add: hurt,
		Merge: func(acc, other *int64) {
			if *acc == 13 {
				panic("an unlucky merge")
			}
			*acc += *other
		},
		Extract: func(acc *int64, out *wgate.Result) {
			switch *acc {
			case 13:
				os.Exit(7)
			case 14:
				out.Fail("no_result", "fourteen has none")
			case 15:
				out.JSON([]byte("{broken"))
			default:
				out.Int(*acc)
			}
		},
	})
	wgate.ByteCombiner("grow", 1, wgate.ByteFold{
		Create:  func() []byte { return []byte{1} },
		Add:     func(acc []byte, _ *wgate.Args) []byte { return append(acc, make([]byte, 700<<10)...) },
		Merge:   func(acc, other []byte) []byte { return append(acc, other...) },
		Extract: func(acc []byte, out *wgate.Result) { out.Int(int64(len(acc))) },
	}, wgate.Total())
	wgate.DoFn("keep", func(_ *wgate.Element, out *wgate.Emitter) { out.Keep() }, wgate.Pure())
}

func main() {}

func act(e *wgate.Element, out *wgate.Emitter) {
	switch string(e.Value()) {
	case `"drop"`:
	case `"exit"`:
		os.Exit(7)
	case `"deadlock"`:
		select {}
	case `"loop"`:
		for forever {
		}
	case `"recurse"`:
		out.Count("depth", int64(recurse(1)))
	case `"oom"`:
		for forever {
			sink = append(sink, make([]byte, 1<<20))
		}
	case `"panic"`:
		out.Emit([]byte(`"must not be seen"`))
		var none []int
		out.Count("n", int64(none[len(e.Value())]))
	case `"fail"`:
		out.Keep()
		out.Fail("refused", "refused on purpose")
	case `"flood"`:
		for range 3 {
			out.Emit(make([]byte, 512<<10))
		}
	case `"big"`:
		out.Emit(append(append([]byte{'"'}, make([]byte, 600<<10)...), '"'))
	case `"side"`:
		out.EmitSame().To(1)
	case `"both"`:
		out.EmitSame().To(2)
		out.Keep()
	case `"fields"`:
		out.Emit([]byte(`1`)).Key([]byte("k2")).Time(42).Header("h", []byte("v")).Header("n", nil)
	case `"text"`:
		out.EmitText([]byte("plain")).KeyNull()
	case `"null"`:
		out.EmitNull().NoHeaders()
	case `"log"`:
		out.Log(wgate.Warn, "a line")
		out.Count("things", 3)
		println("to standard error")
		out.Keep()
	default:
		out.Keep()
	}
}

//go:noinline
func recurse(n int) int {
	if !forever {
		return n
	}
	var pad [64]int
	pad[n&63] = n
	return recurse(n+1) + pad[(n+1)&63]
}

// hurt adds ints up, and does harm with others.
func hurt(acc *int64, args *wgate.Args) {
	v, ok := args.Int(0)
	switch {
	case !ok:
		args.Fail("no_int", "an int is needed")
	case v == -1:
		panic("minus one")
	case v == -2:
		os.Exit(7)
	case v == -3:
		for forever {
		}
	case v == 1000 && *acc > 0:
		args.Fail("full", "it does not fit")
	case v == 2000 && *acc > 0:
		os.Exit(8)
	default:
		*acc += v
	}
}
