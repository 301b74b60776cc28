package e2e

import (
	"strconv"
	"testing"
	"time"
)

// kafkaBrokerRestarts stops the broker in good order, and kills it, when everything is committed, and starts it again. The
// pipeline goes on by itself.
func kafkaBrokerRestarts(t *testing.T, k *apache) {
	k.topic(t, "bounce", 3)
	place := func(n int) (string, int32) { return "bounce", int32(n) % 3 }
	f := newFlow(t, k, "bounced", `topic = "bounce"`)
	p := f.run(t)
	n := 0
	for _, end := range []func(){k.Stop, k.Kill, nil} {
		in := k.feed(t, n, place)
		in.more(t, 300)
		n = in.halt(t)
		if end == nil {
			break
		}
		k.drained(t, p, f.name, "bounce")
		k.stable(t, f.name+"-copy", f.name+"-sums")
		k.away(t, p, end)
	}
	k.produce(t, closing(t, "bounce", 3)...)
	k.drained(t, p, f.name, "bounce")
	p.stop(t)
	wantScores(t, k.committed(t, "bounce"), 0, n)
	f.want(t, n)
}

// away ends the broker, gives wgate some time to try in vain, and starts the broker again.
func (k *apache) away(t *testing.T, p *process, end func()) {
	t.Helper()
	end()
	time.Sleep(time.Second)
	if p.ended() {
		t.Fatalf("wgate ended with the broker: %v\n%s", p.err, p.output())
	}
	k.Restart()
}

// kafkaBrokerKilled kills the broker while the pipeline is at work. Where the broker itself has lost what it had
// committed, the results say nothing about wgate: then the story is told once more.
func kafkaBrokerKilled(t *testing.T, k *apache) {
	for try := range 4 {
		if k.LostMarkers() {
			k.Forget()
		}
		if told := kafkaKilledOnce(t, k, "killed"+strconv.Itoa(try)); told || t.Failed() {
			return
		}
		t.Log("the broker has lost the end of a transaction; once more")
	}
	t.Error("each time that it was killed the broker lost the end of a transaction: nothing is known of wgate")
}

// kafkaKilledOnce returns false if the broker has lost something.
func kafkaKilledOnce(t *testing.T, k *apache, name string) bool {
	k.topic(t, name, 3)
	in := k.feed(t, 0, func(n int) (string, int32) { return name, int32(n) % 3 })
	f := newFlow(t, k, name, `topic = "`+name+`"`)
	p := f.run(t)
	in.more(t, 300)
	k.progress(t, p, f.name)
	k.away(t, p, k.Kill)
	in.more(t, 300)
	n := in.halt(t)
	if k.LostMarkers() {
		p.kill()
		return false
	}
	k.produce(t, closing(t, name, 3)...)
	k.drained(t, p, f.name, name)
	p.stop(t)
	if k.LostMarkers() {
		return false
	}
	wantScores(t, k.committed(t, name), 0, n)
	f.want(t, n)
	return true
}

// progress waits until something new was committed: the pipeline is at work.
func (k *apache) progress(t *testing.T, p *process, pipeline string) {
	t.Helper()
	sum := func() (all int64) {
		offs, err := k.adm.FetchOffsets(t.Context(), "wgate."+pipeline)
		if err == nil {
			for _, o := range offs.Offsets().Sorted() {
				all += o.At
			}
		}
		return all
	}
	before := sum()
	until(t, time.Minute, "the pipeline commits", func() bool {
		if p.ended() {
			t.Fatalf("wgate ended by itself: %v\n%s", p.err, p.output())
		}
		return sum() > before
	})
}
