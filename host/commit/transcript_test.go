package commit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/wgate/wgate/statestore"
)

// TestTranscripts plays the files of testdata: events in, actions out. The commands are
//
//	machine [at_least_once|store_only] [changelog] [restore] [meta=WORLD] [tries=N]   a new machine
//	epoch NAME after PARENT number N at OFFSETS    what a row or a witness may speak of; OFFSETS is "t/0=5 t/1=3"
//	step                                           one event a line, see parseEvent
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := &player{epochs: map[string]Committed{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "machine":
				p.m = New(p.config(d))
				return ""
			case "epoch":
				p.define(d)
				return ""
			case "step":
				var out strings.Builder
				for line := range strings.Lines(d.Input) {
					ev, err := p.parseEvent(strings.Fields(line))
					if err != nil {
						t.Fatalf("%s: %v", d.Pos, err)
					}
					for _, a := range p.m.Step(ev) {
						out.WriteString(p.describe(a) + "\n")
					}
				}
				return out.String()
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

type player struct {
	m      *Machine
	epochs map[string]Committed
}

var world = statestore.Meta{
	Cluster: "c1", Group: "g", Pipeline: "p", PlanHash: "h1", Instance: "i1",
	Topics: []statestore.Topic{{Name: "t", ID: "id1", Partitions: 2}},
}

// metaOf returns the world, changed in one respect.
func metaOf(name string) statestore.Meta {
	m := world
	topic := world.Topics[0]
	switch name {
	case "cluster":
		m.Cluster = "c2"
	case "group":
		m.Group = "g2"
	case "plan":
		m.PlanHash = "h2"
	case "recreated":
		topic.ID = "id2"
	case "shrunk":
		topic.Partitions = 1
	case "grown":
		topic.Partitions = 3
	case "renamed":
		topic.Name = "u"
	}
	m.Topics = []statestore.Topic{topic}
	return m
}

func (p *player) config(d *datadriven.TestData) Config {
	c := Config{Meta: world, InGroup: func(source int) bool { return source == 0 }}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "at_least_once":
			c.Delivery = AtLeastOnce
		case "store_only":
			c.Delivery = StoreOnly
		case "changelog":
			c.Mode = Changelog
		case "restore":
			c.Repair = RestoreOffsets
		case "no_redo":
			c.Unguarded.NoRedo = true
		case "no_token":
			c.Unguarded.NoToken = true
		case "meta":
			c.Meta = metaOf(a.Vals[0])
		case "tries":
			c.MaxRecoveries, _ = strconv.Atoi(a.Vals[0])
		}
	}
	return c
}

func token(name string) Token {
	var t Token
	if name != "-" {
		copy(t[:], name+"...............")
	}
	return t
}

func (p *player) define(d *datadriven.TestData) {
	f := strings.Fields(d.Input)
	n, _ := strconv.ParseUint(f[4], 10, 64)
	c := Committed{Token: token(f[0]), Parent: token(f[2]), Epoch: n, Offsets: offsets(f[6:])}
	c.Anchor = c.Offsets[0].Partition
	p.epochs[f[0]] = c
}

// offsets reads "t/0=5 t/1=3"; a topic that begins with f is of source 1, which is not in the group.
func offsets(fields []string) []Offset {
	var out []Offset
	for _, f := range fields {
		name, at, _ := strings.Cut(f, "=")
		topic, id, _ := strings.Cut(name, "/")
		n, _ := strconv.ParseInt(id, 10, 32)
		off, _ := strconv.ParseInt(at, 10, 64)
		o := Offset{Partition: Partition{Topic: topic, ID: int32(n)}, Offset: off}
		if strings.HasPrefix(topic, "f") {
			o.Source = 1
		}
		out = append(out, o)
	}
	return out
}

// failure reads the last word of an event: "ok", "revoked", "canceled", "stop" or any other, which is an error.
func failure(f []string) (err error, revoked bool) {
	switch last := f[len(f)-1]; {
	case len(f) == 1 || last == "ok":
		return nil, false
	case last == "revoked":
		return nil, true
	case last == "canceled":
		return ErrGivenUp, false
	case last == "stop":
		return NewStop(CodeSecond, "p", "", nil), false
	default:
		return errors.New(last), false
	}
}

func (p *player) parseEvent(f []string) (Event, error) {
	err, revoked := failure(f)
	switch f[0] {
	case "recover":
		return Recover{}, nil
	case "loaded":
		return p.loaded(f[1:]), nil
	case "meta_written":
		return MetaWritten{err}, nil
	case "fenced":
		return Fenced{err}, nil
	case "fetched":
		return p.fetched(f[1:]), nil
	case "bounded":
		return bounded(f[1:]), nil
	case "sought":
		return Seeked{err, revoked}, nil
	case "rebuilt":
		return Rebuilt{err}, nil
	case "waited":
		return Waited{err}, nil
	case "applied":
		return Applied{err}, nil
	case "begin":
		return BeginEpoch{revoked}, nil
	case "began":
		if f[len(f)-1] == "moved" {
			return Began{Member: Member{"m", 4}}, nil
		}
		return Began{Member{"m", 3}, err}, nil
	case "sent":
		return Sent{err}, nil
	case "commit":
		ev := CommitEpoch{Token: token(f[1]), Offsets: offsets(f[2:]), Revoked: revoked}
		return ev, nil
	case "flushed":
		return Flushed{err, revoked}, nil
	case "pending_written":
		return PendingWritten{err, revoked}, nil
	case "ended":
		return Ended{Committed: f[1] == "ok", Err: err}, nil
	case "abort":
		return AbortEpoch{revoked}, nil
	case "abort_ended":
		return AbortEnded{err}, nil
	case "offsets_committed":
		return OffsetsCommitted{err}, nil
	}
	return nil, fmt.Errorf("unknown event %q", f[0])
}

// loaded reads "meta=NAME committed=NAME pending=NAME rows damaged=committed|pending error".
func (p *player) loaded(f []string) Event {
	var ev Loaded
	for _, a := range f {
		key, val, _ := strings.Cut(a, "=")
		switch key {
		case "meta":
			ev.Meta, _ = statestore.AppendMeta(nil, metaOf(val))
		case "committed":
			ev.Committed = AppendCommitted(nil, p.epochs[val])
			ev.HasRows = true
		case "pending":
			ev.Pending, _ = AppendPending(nil, p.epochs[val])
		case "rows":
			ev.HasRows = true
		case "damaged":
			for _, b := range [][]byte{ev.Committed, ev.Pending} {
				if b != nil && (val == "committed") == (&b[0] == first(ev.Committed)) {
					b[3] ^= 1
				}
			}
		case "newer":
			ev.Meta = []byte(`{"format":99}`)
		case "error":
			ev.Err = errors.New("input/output error")
		}
	}
	return ev
}

func first(b []byte) *byte {
	if b == nil {
		return nil
	}
	return &b[0]
}

// fetched reads "unstable", "error", or offsets with the epoch of the witness: "t/0=5@A t/1=3"; "@foreign" is of another
// program.
func (p *player) fetched(f []string) Event {
	ev := Fetched{Stable: true}
	for _, a := range f {
		switch a {
		case "unstable":
			return Fetched{}
		case "error", "stop":
			err, _ := failure([]string{"fetched", a})
			return Fetched{Err: err}
		}
		pos, name, _ := strings.Cut(a, "@")
		o := offsets([]string{pos})[0]
		switch name {
		case "":
		case "foreign":
			o.Metadata = "of another program"
		default:
			o.Metadata = EncodeWitness(Witness{Token: token(name), Epoch: p.epochs[name].Epoch, Position: -1, LeaderEpoch: -1})
		}
		ev.Offsets = append(ev.Offsets, o)
	}
	return ev
}

// bounded reads "0-10 0-20" or "error".
func bounded(f []string) Event {
	var ev Bounded
	for _, a := range f {
		lo, hi, ok := strings.Cut(a, "-")
		if !ok {
			ev.Err = errors.New(a)
			break
		}
		l, _ := strconv.ParseInt(lo, 10, 64)
		h, _ := strconv.ParseInt(hi, 10, 64)
		ev.First, ev.Next = append(ev.First, l), append(ev.Next, h)
	}
	return ev
}

func (p *player) describe(a Action) string {
	switch a := a.(type) {
	case WriteMeta:
		return fmt.Sprintf("write meta: instance %s, %d partitions of %s", a.Meta.Instance, a.Meta.Topics[0].Partitions, a.Meta.Topics[0].Name)
	case Bounds:
		return fmt.Sprint("bounds ", a.Partitions)
	case Seek:
		return "seek" + list(a.Offsets)
	case Wait:
		return "wait " + a.For.String()
	case Redo:
		return "redo " + epochText(a.Committed)
	case WritePending:
		return "write pending " + epochText(a.Committed)
	case End:
		return fmt.Sprintf("end as %s/%d with%s", a.Member.ID, a.Member.Generation, list(a.Offsets))
	case Apply:
		return fmt.Sprintf("apply %s sync=%v", epochText(a.Committed), a.Sync)
	case CommitOffsets:
		return "commit offsets" + list(a.Offsets)
	case Return:
		st := p.m.State()
		s := fmt.Sprintf("return %s, %s at epoch %d, token %s", a.Result, p.m.phase, st.Epoch, name(st.Token))
		if a.Err != nil {
			s = fmt.Sprintf("return %s, error %v", a.Result, a.Err)
		}
		return s
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", a), "commit."))
}

func name(t Token) string {
	if t == (Token{}) {
		return "-"
	}
	return strings.TrimRight(string(t[:]), ".")
}

func epochText(c Committed) string {
	return fmt.Sprintf("%s after %s number %d anchor %s at%s", name(c.Token), name(c.Parent), c.Epoch, c.Anchor, list(c.Offsets))
}

func list(offs []Offset) string {
	s := ""
	for _, o := range offs {
		s += fmt.Sprintf(" %s=%d", o.Partition, o.Offset)
		if w, err := DecodeWitness(o.Metadata); err == nil {
			s += "@" + name(w.Token)
		}
	}
	return s
}
