package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/statestore/memstore"
)

// simulate runs one seed: two nodes that are started, killed, cloned and restored from backups, a broker that loses
// requests and replies, rebalances and aborts by itself, an operator who moves offsets. In the end the faults stop, and
// what can still run must come to the end of its inputs.
func simulate(seed uint64, guards commit.Guards) (*simWorld, *simNode) {
	w := newSimWorld(seed)
	a := &simNode{w: w, id: "a", disk: memstore.New(), guards: guards}
	b := &simNode{w: w, id: "b", disk: memstore.New(), guards: guards}
	var backup *memstore.Store
	inside, rare := false, w.r.IntN(4) // which of the rare faults this run may have
	other := func(steps int) {
		inside = true
		defer func() { inside = false }()
		for range steps {
			b.step()
		}
	}
	w.interleave = func() {
		if !inside && rare == 1 && w.chance(4) {
			other(1 + w.r.IntN(10))
		}
	}
	for range 150 {
		a.step()
		switch {
		case rare == 1 && w.chance(2):
			w.log("b gets a clone of the disk of a")
			w.excuses["second owner"] = true
			b.disk, b.committer, b.client = a.disk.Crash(a.disk.Unsynced()), nil, nil
			if w.r.IntN(2) == 0 {
				b.id = "a"
			}
		case rare == 2 && w.chance(2):
			backup = a.disk.Crash(0)
		case rare == 2 && backup != nil && w.chance(3):
			w.log("a gets an old disk back")
			w.excuses["old backup"] = true
			a.disk, a.committer, a.client = backup, nil, nil
		case rare == 3 && a.committer == nil && len(w.offsets) > 0 && w.chance(20): // a tool refuses while members live
			w.moveOffsets()
		}
		if rare == 1 && w.r.IntN(6) == 0 {
			other(1)
		}
		if len(w.violations) > 0 || a.stop != nil && (rare != 1 || b.stop != nil) {
			break
		}
	}
	return w, w.drain(a, b, rare == 1)
}

// moveOffsets is an operator with a tool: it keeps the metadata of all but the partition that it moves.
func (w *simWorld) moveOffsets() {
	p := int32(w.r.IntN(2))
	o := w.offsets[p]
	o.Offset, o.Metadata = int64(w.r.IntN(len(w.inputs[p])+1)), ""
	w.offsets[p] = o
	w.excuses["offsets moved"] = true
	w.log("someone moves the offset of partition %d to %d", p, o.Offset)
}

// drain ends the faults and lets the node that has the state come to the end (I14). It returns that node, nil if all have
// stopped.
func (w *simWorld) drain(a, b *simNode, second bool) *simNode {
	w.faults, w.interleave = false, func() {}
	nodes := []*simNode{a}
	if second {
		nodes = append(nodes, b)
	}
	for _, n := range nodes {
		for range 2000 {
			if len(w.violations) > 0 {
				return nil
			}
			if n.stop != nil && n.committer == nil {
				break
			}
			if n.committer != nil && !n.open && w.done() {
				return n
			}
			w.tick()
			n.step()
		}
		if n.stop == nil {
			w.violate("I14: %s does not come to the end: group at %s of %d %d", n.id, w.offsetText(), len(w.inputs[0]), len(w.inputs[1]))
			return nil
		}
	}
	w.stopCode = a.stop.Code
	if len(w.excuses) == 0 {
		w.violate("%s stops with %s though nothing was done to it", a.id, a.stop.Code)
	}
	return nil
}

func (w *simWorld) done() bool {
	return len(w.inputs[0])+len(w.inputs[1]) >= 40 && !w.undecided() &&
		w.offsets[0].Offset == int64(len(w.inputs[0])) && w.offsets[1].Offset == int64(len(w.inputs[1]))
}

const simSeeds = 3000

func TestCommitterSimulation(t *testing.T) {
	// What a node may stop with after what was done to it.
	allowed := map[string][]string{
		"offsets moved": {commit.CodeMoved},
		"old backup":    {commit.CodeNotHere},
		"second owner":  {commit.CodeNotHere},
	}
	finished, stops, commits := 0, map[string]int{}, 0
	for seed := range uint64(simSeeds) {
		w, n := simulate(seed, commit.Guards{})
		if len(w.violations) > 0 {
			t.Fatalf("seed %d: %s\n%s", seed, w.violations[0], strings.Join(w.trace, "\n"))
		}
		if n != nil {
			finished++
			commits += n.commits
			continue
		}
		for excuse := range w.excuses {
			stops[excuse]++
			if !slices.Contains(allowed[excuse], w.stopCode) {
				t.Fatalf("seed %d: %s after %s\n%s", seed, w.stopCode, excuse, strings.Join(w.trace, "\n"))
			}
		}
	}
	t.Logf("%d of %d runs came to the end with %d commits; the others stopped after %v", finished, simSeeds, commits, stops)
	if finished < simSeeds/3 || len(stops) < 3 {
		t.Fatal("the faults do not do what they should")
	}
}

// TestCommitterSimulationRepeats shows that a seed is a run.
func TestCommitterSimulationRepeats(t *testing.T) {
	for seed := range uint64(50) {
		a, _ := simulate(seed, commit.Guards{})
		b, _ := simulate(seed, commit.Guards{})
		if a.hash != b.hash || len(a.trace) != len(b.trace) {
			t.Fatalf("seed %d gives two traces", seed)
		}
	}
}

// TestCommitterGuardsMatter takes guards away and expects the simulation to find wrong output or wrong state.
func TestCommitterGuardsMatter(t *testing.T) {
	for name, guards := range map[string]commit.Guards{"redo": {NoRedo: true}, "token": {NoToken: true}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(simSeeds) {
				w, _ := simulate(seed, guards)
				for _, v := range w.violations {
					if strings.HasPrefix(v, "I1:") || strings.HasPrefix(v, "I4:") {
						t.Logf("seed %d: %s", seed, v)
						return
					}
				}
			}
			t.Fatalf("nothing went wrong in %d runs without the guard", simSeeds)
		})
	}
}
