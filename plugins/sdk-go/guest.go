package wgate

import (
	"runtime"
	"unsafe"
)

// flushAt is the size of HEAP at which an output frame is sent before the bundle is through, so that the memory for output
// stays small.
const flushAt = 1 << 20

// guest is the plugin's side of the ABI. There is one in a plugin.
type guest struct {
	arenas [2][]uint64
	in     input
	out    Emitter
	el     Element
	folder folder
	host   host
}

// host is the other side: what the imports do.
type host interface {
	out(frame []byte) int32
	fail(text string)
}

var self = guest{host: theHost{}}

// arena returns a region of at least n bytes for which, nil if there is no such region.
func (g *guest) arena(which, n uint32) *uint64 {
	if which >= uint32(len(g.arenas)) || n > maxFrame {
		return nil
	}
	if words := int(n+7) / 8; len(g.arenas[which]) < words || words == 0 {
		g.arenas[which] = make([]uint64, max(words, 64))
	}
	return &g.arenas[which][0]
}

// frame returns the first n bytes of the input arena.
func (g *guest) frame(n uint32) []byte {
	a := g.arenas[arenaInput]
	if uint64(n) > uint64(len(a))*8 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), n)
}

// open reads the open frame and hands the configuration out.
func (g *guest) open(n uint32) int32 {
	frame := g.frame(n)
	_, table, ok := sections(frame, magicInput)
	if !ok {
		g.host.fail("the open frame is not sound")
		return -1
	}
	c := Config{}
	for i := range table {
		if table[i].kind == sectionConfig {
			text, ok := rowsAt[byte](frame, &table[i])
			if !ok {
				g.host.fail("the configuration is not inside the open frame")
				return -1
			}
			c.text = append([]byte(nil), text...)
		}
	}
	for _, f := range plugin.open {
		err := f(&c)
		if err == nil {
			err = c.err
		}
		if err != nil {
			g.host.fail(err.Error())
			return statusPluginError
		}
	}
	return statusOK
}

// call works through the input frame of n bytes.
func (g *guest) call(fn, op, n uint32) int32 {
	if uint64(fn) >= uint64(len(plugin.functions)) {
		g.host.fail("no such function")
		return -1
	}
	if c := plugin.functions[fn].fold; c != nil && op == opRun {
		return g.fold(c, g.frame(n))
	} else if c != nil || op != opProcess {
		g.host.fail("the function is of another kind")
		return -1
	}
	if !g.in.take(g.frame(n)) {
		g.host.fail("the input frame is not sound")
		return -1
	}
	rows := len(g.in.rows)
	g.el.in = &g.in
	g.out.reset(rows)
	f := plugin.functions[fn].each
	for done := 0; done < rows; {
		done = g.run(f, done)
		if done < rows || len(g.out.frame) > heapAt || g.out.kept || len(g.out.emits) > 0 {
			if s := g.host.out(g.out.build(rows, done)); s != outOK {
				return statusPartial
			}
			g.out.reset(rows)
		}
	}
	return statusOK
}

// run processes rows from row i on until the last one or until there is enough output for a frame, and returns the row to
// go on with. A panic takes out the row at hand.
func (g *guest) run(f Func, i int) (next int) {
	defer func() {
		if r := recover(); r != nil {
			g.out.Fail("guest_trap", panicText(r))
			g.out.end()
			next = int(g.in.head.cursor) + 1
		}
	}()
	in, out, el := &g.in, &g.out, &g.el
	for ; i < len(in.rows); i++ {
		in.head.cursor = uint32(i)
		el.row, el.i = &in.rows[i], i
		out.begin(i)
		f(el, out)
		out.end()
		if len(out.frame) > flushAt {
			return i + 1
		}
	}
	return i
}

// panicText returns what a panic said, and the stack. (Package fmt would double the size of a plugin.)
func panicText(r any) string {
	text := "panic: "
	switch v := r.(type) {
	case error:
		text += v.Error()
	case string:
		text += v
	default:
		text += "a value that is neither an error nor a string"
	}
	stack := make([]byte, 6<<10)
	return text + "\n\n" + string(stack[:runtime.Stack(stack, false)])
}

// describe gives the manifest out.
func (g *guest) describe() int32 {
	if g.host.out(manifest()) != outOK {
		return statusPluginError
	}
	return statusOK
}
