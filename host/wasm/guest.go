package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/host/wasm/meter"
)

// guest is one instance of a module's code with its memory. After any error of a call it must be closed.
type guest struct {
	opt  *Options
	mod  api.Module
	open api.Function
	// arenaOf, call and shut are looked up once: a lookup costs a hundred times what a call does.
	arenaOf, call, shut api.Function
	stack               [3]uint64
	arena               uint32 // where the input arena is
	arenaLen            uint32

	memory   memories
	clock    clock
	random   random
	out, err console
	watch    watchdog

	// Of the running call.
	why      string // what the guest said with fail
	staged   []byte // output frames, one after the other
	ends     []int  // where each ends in staged
	logSpent int
}

// guestKey is the context key under which host functions find their guest.
type guestKey struct{}

func guestOf(ctx context.Context) *guest { return ctx.Value(guestKey{}).(*guest) }

// fault is what became of a call that went wrong.
type fault struct {
	code   string
	text   string
	broken bool // the guest must be thrown away
	cursor uint32
}

// The codes of failed rows.
const (
	codeTrap     = "guest_trap"
	codeDeadline = "guest_deadline"
	codeMemory   = "guest_memory"
	codeFail     = "guest_fail"
	codeFrame    = "bad_frame"
	codeOutput   = "guest_output"
)

// startTime is the least time that a guest gets to start.
const startTime = 10 * time.Second

// newGuest instantiates code and initializes it; it does not open it.
func newGuest(ctx context.Context, rt wazero.Runtime, code wazero.CompiledModule, opt *Options) (*guest, *fault, error) {
	g := &guest{opt: opt}
	g.out = console{g: g, level: slog.LevelInfo}
	g.err = console{g: g, level: slog.LevelWarn}
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdout(&g.out).WithStderr(&g.err).
		WithWalltime(g.clock.walltime, 1e6).WithNanotime(g.clock.nanotime, 1).WithNanosleep(g.clock.sleep).
		WithRandSource(&g.random)
	ctx = context.WithValue(ctx, guestKey{}, g)
	var err error
	if g.mod, err = rt.InstantiateModule(experimental.WithMemoryAllocator(ctx, &g.memory), code, cfg); err != nil {
		g.memory.free()
		return nil, nil, fmt.Errorf("plugin %q: %w", opt.Name, err)
	}
	g.arenaOf, g.call = g.mod.ExportedFunction("wgate_arena"), g.mod.ExportedFunction("wgate_call")
	g.open, g.shut = g.mod.ExportedFunction("wgate_open"), g.mod.ExportedFunction("wgate_close")
	if stop, ok := g.mod.ExportedGlobal(meter.StopExport).(api.MutableGlobal); ok {
		g.watch.stop = stop
	}
	f := g.invoke(ctx, g.mod.ExportedFunction("_initialize"), max(opt.Time.Std(), startTime))
	return g, f, nil
}

// start opens the guest with the configuration. A refusal is a fault whose text is the guest's.
func (g *guest) start(ctx context.Context, frame []byte) *fault {
	ctx = context.WithValue(ctx, guestKey{}, g)
	view, f := g.input(ctx, len(frame))
	if f != nil {
		return f
	}
	copy(view, frame)
	g.stack[0] = uint64(len(frame))
	if f := g.invoke(ctx, g.open, max(g.opt.Time.Std(), startTime)); f != nil {
		return f
	}
	if s := api.DecodeI32(g.stack[0]); s != abi.StatusOK {
		return &fault{code: codeFail, text: g.words(fmt.Sprintf("wgate_open returned %d", s)), broken: true}
	}
	return nil
}

// frameWriter fills a region of the size that it asked for with an input frame.
type frameWriter interface {
	Write(dst []byte, c abi.Call)
}

// process writes the frame that w has prepared, has function c.Fn work on it, and returns the status.
func (g *guest) process(ctx context.Context, w frameWriter, size int, c abi.Call) (int32, *fault) {
	ctx = context.WithValue(ctx, guestKey{}, g)
	view, f := g.input(ctx, size)
	if f != nil {
		return 0, f
	}
	w.Write(view, c)
	g.stack[0], g.stack[1], g.stack[2] = uint64(c.Fn), uint64(c.Op), uint64(size)
	f = g.invoke(ctx, g.call, g.opt.Time.Std())
	if f != nil {
		// The memory of a guest that is dead can still be read.
		f.cursor = abi.None
		if p, ok := g.mod.Memory().ReadUint32Le(g.arena + abi.AtHeaderCursor); ok {
			f.cursor = p
		}
		return 0, f
	}
	return api.DecodeI32(g.stack[0]), nil
}

// input returns a view of the input arena with room for n bytes. It is good until the next call into the guest.
func (g *guest) input(ctx context.Context, n int) ([]byte, *fault) {
	g.reset()
	if uint64(n) > uint64(g.opt.Memory) {
		return nil, &fault{code: codeMemory, text: fmt.Sprintf("a frame of %d bytes is larger than limits.memory", n), broken: false}
	}
	if g.arena == 0 || uint32(n) > g.arenaLen {
		want := uint32(n + n/2)
		g.stack[0], g.stack[1] = uint64(abi.ArenaInput), uint64(want)
		if f := g.invoke(ctx, g.arenaOf, g.opt.Time.Std()); f != nil {
			return nil, f
		}
		g.arena, g.arenaLen = uint32(g.stack[0]), want
		if g.arena == 0 {
			return nil, &fault{code: codeMemory, text: fmt.Sprintf("wgate_arena refused %d bytes", want), broken: true}
		}
	}
	view, ok := g.mod.Memory().Read(g.arena, uint32(n))
	if !ok || g.arena%8 != 0 {
		return nil, &fault{code: codeFrame, text: "wgate_arena gave a region that is not inside the memory or not a multiple of 8", broken: true}
	}
	return view, nil
}

// reset forgets the last call.
func (g *guest) reset() {
	g.why, g.staged, g.ends, g.logSpent = "", g.staged[:0], g.ends[:0], 0
	g.err.reset()
}

// invoke calls f, whose arguments are on g.stack, under a deadline.
func (g *guest) invoke(ctx context.Context, f api.Function, limit time.Duration) *fault {
	g.watch.begin(limit)
	err := f.CallWithStack(ctx, g.stack[:])
	late := g.watch.end()
	if err == nil {
		return nil
	}
	flt := &fault{code: codeTrap, broken: true}
	var exit *sys.ExitError
	what := err.Error()
	switch {
	case late:
		flt.code = codeDeadline
		what = fmt.Sprintf("the call took longer than limits.time = %q\n%s", g.opt.Time, what)
	case g.outOfMemory():
		flt.code = codeMemory
		what = fmt.Sprintf("limits.memory = %d bytes were not enough\n%s", g.opt.Memory, what)
	case errors.As(err, &exit):
		what = fmt.Sprintf("the plugin exited with code %d", exit.ExitCode())
	}
	flt.text = g.words(what)
	return flt
}

// outOfMemory guesses, after a trap, whether memory was the reason.
func (g *guest) outOfMemory() bool {
	if strings.Contains(g.err.text(), "out of memory") {
		return true
	}
	return uint64(g.mod.Memory().Size())+16*pageBytes > uint64(g.opt.Memory)
}

// words joins what is known of a failure: what the guest said, what happened, the end of standard error.
func (g *guest) words(what string) string {
	var parts []string
	if g.why != "" {
		parts = append(parts, cut(g.why, messageBytes/4))
	}
	parts = append(parts, cut(what, messageBytes/2))
	if t := g.err.text(); t != "" {
		parts = append(parts, "standard error:\n"+t)
	}
	return cut(strings.Join(parts, "\n"), messageBytes)
}

// stage takes an output frame.
func (g *guest) stage(frame []byte, ok bool) int32 {
	if !ok {
		return abi.OutBadSpan
	}
	if int64(len(g.staged))+int64(len(frame)) > g.opt.Output {
		return abi.OutOverflow
	}
	g.staged = append(g.staged, frame...)
	g.ends = append(g.ends, len(g.staged))
	return abi.OutOK
}

// log writes a line, unless the guest has written too many in this call.
func (g *guest) log(level slog.Level, text string) {
	if g.opt.Log == nil || g.logSpent > logBytes {
		return
	}
	if g.logSpent += len(text) + 16; g.logSpent > logBytes {
		text = "(the plugin writes too much: the rest of this call's lines is dropped)"
	}
	g.opt.Log(level, text)
}

// close tells the guest and frees it.
func (g *guest) close(ctx context.Context, kind closing) error {
	if kind == orderly {
		g.reset()
		g.stack[0] = 0
		// What it answers changes nothing.
		_ = g.invoke(context.WithValue(ctx, guestKey{}, g), g.shut, 100*time.Millisecond)
	}
	g.watch.quit()
	g.out.flush()
	g.err.flush()
	err := g.mod.Close(ctx)
	g.memory.free()
	return err
}

// closing says how a guest ends.
type closing bool

const (
	orderly closing = true
	broken  closing = false
)

// watchdog sets a guest's stop flag when a call takes too long. Without a flag it does nothing.
type watchdog struct {
	stop  api.MutableGlobal // nil: the code is not metered
	mu    sync.Mutex
	timer *time.Timer
	run   uint64 // counts calls; odd while one runs
	due   uint64 // the call that the timer is for
	fired bool
}

// begin starts the time of a call.
func (w *watchdog) begin(limit time.Duration) {
	if w.stop == nil {
		return
	}
	w.mu.Lock()
	w.run++
	w.due = w.run
	w.mu.Unlock()
	if w.timer == nil {
		w.timer = time.AfterFunc(limit, w.fire)
	} else {
		w.timer.Reset(limit)
	}
}

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run%2 == 1 && w.run == w.due && !w.fired {
		w.fired = true
		w.stop.Set(1)
	}
}

// end stops the time and reports whether it had run out.
func (w *watchdog) end() bool {
	if w.stop == nil {
		return false
	}
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run++
	late := w.fired
	if late {
		w.fired = false
		w.stop.Set(0)
	}
	return late
}

func (w *watchdog) quit() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
