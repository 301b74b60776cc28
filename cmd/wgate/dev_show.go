package main

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/kafka"
)

// sharedPrinter lets two goroutines print, each its lines whole.
type sharedPrinter struct {
	mu sync.Mutex
	p  *printer
}

func (s *sharedPrinter) do(f func(*printer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.p)
}

func (s *sharedPrinter) printf(format string, args ...any) {
	s.do(func(p *printer) { p.printf(format, args...) })
}

// resultView shows what is committed to the topics that a pipeline writes.
type resultView struct {
	out    *sharedPrinter
	topics []string
	cancel context.CancelFunc
	done   chan struct{}
}

// follow shows the topics of p from now on, in place of those before.
func (v *resultView) follow(ctx context.Context, p *config.Pipeline, embedded string) error {
	var topics []string
	at := &config.Broker{Name: "embedded", Addresses: []string{embedded}}
	for _, s := range p.Sinks {
		if s.Kafka == nil {
			continue
		}
		if s.Kafka.Broker != nil {
			at = s.Kafka.Broker
		}
		topics = append(topics, s.Kafka.Topic)
	}
	for _, s := range p.Sources {
		if s.Kafka != nil && s.Kafka.Broker != nil {
			at = s.Kafka.Broker
		}
	}
	topics = append(topics, kafka.DeadLetterTopic(p.Name))
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if v.cancel != nil && slices.Equal(v.topics, topics) {
		return nil
	}
	v.stop()
	tail, err := kafka.OpenTail(ctx, kafka.Options{Pipeline: p.Name, Broker: at}, topics)
	if err != nil {
		return err
	}
	ctx, v.cancel = context.WithCancel(ctx)
	v.topics, v.done = topics, make(chan struct{})
	go func() {
		defer close(v.done)
		defer tail.Close()
		v.run(ctx, tail, kafka.DeadLetterTopic(p.Name), len(topics) > 2)
	}()
	return nil
}

// stop ends the showing, if there is any.
func (v *resultView) stop() {
	if v.cancel != nil {
		v.cancel()
		<-v.done
		v.cancel = nil
	}
}

func (v *resultView) run(ctx context.Context, tail *kafka.Tail, dead string, named bool) {
	for {
		recs, err := tail.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			v.out.printf("results cannot be shown: %v\n", err)
			return
		}
		v.out.do(func(p *printer) {
			for _, r := range recs {
				if r.Topic == dead {
					p.deadLetter(r)
					continue
				}
				p.result(r, named)
			}
		})
	}
}

// result writes one record of a result topic: when it came, the topic if there are several, key, window, timing, index,
// value.
func (p *printer) result(r engine.Record, named bool) {
	h := headersOf(r)
	line := p.paint(dim, time.Now().Format(time.TimeOnly))
	if named {
		line += "  " + p.paint(cyan, r.Topic)
	}
	if r.Key != nil {
		line += "  " + shown(r.Key)
	}
	if w := windowText(h["wgate-window-start"], h["wgate-window-end"]); w != "" {
		line += "  " + w
	}
	if t := h["wgate-pane-timing"]; t != "" {
		colour := map[string]string{"early": yellow, "on_time": green, "late": red}[t]
		line += "  " + p.paint(colour, t) + " " + h["wgate-pane-index"]
	}
	if h["wgate-op"] == "retract" {
		line += "  " + p.paint(red, "retract")
	}
	value := "(null)"
	if r.Value != nil {
		value = shown(r.Value)
	}
	p.printf("%s  %s\n", line, value)
}

// deadLetter writes where a record failed and why.
func (p *printer) deadLetter(r engine.Record) {
	h := headersOf(r)
	p.printf("%s  %s  %s: %s: %s (%s, partition %s, offset %s)\n", p.paint(dim, time.Now().Format(time.TimeOnly)), p.paint(red, "dead letter"),
		h["wgate-dl-operator"], h["wgate-dl-code"], shown([]byte(h["wgate-dl-reason"])), h["wgate-dl-topic"], h["wgate-dl-partition"], h["wgate-dl-offset"])
}

func headersOf(r engine.Record) map[string]string {
	h := map[string]string{}
	for _, x := range r.Headers {
		h[x.Key] = string(x.Value)
	}
	return h
}

// windowText writes a window in UTC, with the date where it is not today's.
func windowText(start, end string) string {
	s, errS := strconv.ParseInt(start, 10, 64)
	e, errE := strconv.ParseInt(end, 10, 64)
	if errS != nil || errE != nil {
		return ""
	}
	form := time.TimeOnly
	if from := time.UnixMilli(s).UTC(); from.Format(time.DateOnly) != time.Now().UTC().Format(time.DateOnly) {
		form = time.DateTime
	}
	return "[" + time.UnixMilli(s).UTC().Format(form) + "," + time.UnixMilli(e).UTC().Format(time.TimeOnly) + ")"
}

// shown returns a key or a value as one line of text for a terminal, cut if it is long.
func shown(b []byte) string {
	const most = 400
	cut := ""
	if len(b) > most {
		b, cut = b[:most], "..."
	}
	if s := string(b); printable(s) {
		return s + cut
	}
	return strconv.Quote(string(b)) + cut
}
