package quickstart

import (
	"fmt"
	"math/rand/v2"
)

// Event is one record of the stream. Its JSON is the value of the record, TS is milliseconds since the epoch.
type Event struct {
	User   string `json:"user"`
	Team   string `json:"team"`
	Points int64  `json:"points"`
	TS     int64  `json:"ts"`
	Kind   string `json:"kind"` // score | bonus | ping
}

// The stream begins at Start, a time that every clock is past, and spans Span milliseconds of event time.
const (
	Start int64 = 1_748_779_200_000 // 2025-06-01T12:00:00Z
	Span  int64 = 10 * minute

	second int64 = 1000
	minute       = 60 * second
)

var teams = []string{"red", "green", "blue"}

// Events makes n events from a seed: equal arguments give equal events. Most are a few seconds out of order, as the
// pipeline's watermark allows for, some minutes, which allowed lateness takes, and a few are too late for that. The last
// one is a ping from an hour later, which moves the watermark past every window: a stream has no end by itself.
func Events(seed uint64, n int) []Event {
	rng := rand.New(rand.NewPCG(seed, 0))
	events := make([]Event, 0, n)
	for i := range n - 1 {
		at := Start + Span*int64(i)/int64(n)
		events = append(events, Event{
			User:   fmt.Sprintf("u%02d", 1+rng.IntN(20)),
			Team:   teams[rng.IntN(len(teams))],
			Points: 1 + rng.Int64N(10),
			TS:     max(Start, at-delay(rng)),
			Kind:   kind(rng),
		})
	}
	return append(events, Event{User: "u00", Team: teams[0], TS: Start + Span + 60*minute, Kind: "ping"})
}

// delay is how long an event took to arrive, in ms.
func delay(rng *rand.Rand) int64 {
	switch p := rng.IntN(100); {
	case p < 90:
		return rng.Int64N(8 * second)
	case p < 97:
		return 20*second + rng.Int64N(2*minute)
	}
	return 4*minute + rng.Int64N(5*minute)
}

func kind(rng *rand.Rand) string {
	switch p := rng.IntN(100); {
	case p < 12:
		return "ping"
	case p < 20:
		return "bonus"
	}
	return "score"
}
