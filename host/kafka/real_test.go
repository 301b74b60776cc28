package kafka

import (
	"testing"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/e2e/kafkatest"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
)

// real runs a test against Apache Kafka.
func real(t *testing.T, b *kafkatest.Broker) *env {
	e := &env{t: t, ctx: t.Context(), addr: b.Addr}
	t.Cleanup(e.close)
	return e
}

// The same protocol against Apache Kafka: commit with metadata, abort, restart of a killed static member with a
// transaction open, the broker killed and started again.
func TestSession_apacheKafka(t *testing.T) {
	broker := kafkatest.Start(t, kafkatest.Options{Secure: true})
	t.Run("transactions", func(t *testing.T) { realTransactions(real(t, broker)) })
	t.Run("secure", func(t *testing.T) { realSecure(real(t, broker), broker) })
	t.Run("broker restart", func(t *testing.T) { realBrokerRestart(real(t, broker), broker) })
}

func realTransactions(e *env) {
	t := e.t
	e.topic("in", 2)
	e.produce(append(values("in", 0, 0, 3), values("in", 1, 3, 5)...)...)
	s := e.ready(e.options())
	diff(t, "records", 5, len(e.drain(s)))
	if outcome, err := e.epoch(s, "token-1", "a", "b"); outcome != engine.Committed {
		t.Fatal(outcome, err)
	}
	offs := e.fetch(s)
	diff(t, "committed offsets", []engine.Offset{
		{Partition: engine.Partition{Topic: "in", ID: 0}, Offset: 3, LeaderEpoch: -1, Metadata: "token-1"},
		{Partition: engine.Partition{Topic: "in", ID: 1}, Offset: 2, LeaderEpoch: -1},
	}, offs)

	// Aborted, read again, refused under another generation, committed.
	e.produce(values("in", 0, 5, 6)...)
	again := e.drain(s)
	if _, err := s.Begin(e.ctx); err != nil {
		t.Fatal(err)
	}
	e.send(s, "lost")
	if err := s.Flush(e.ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Abort(e.ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Seek(e.ctx, offs); err != nil {
		t.Fatal(err)
	}
	diff(t, "read again", again, e.drain(s))
	m, err := s.Begin(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	e.send(s, "zombie")
	if err := s.Flush(e.ctx); err != nil {
		t.Fatal(err)
	}
	m.Generation++
	if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome != engine.Aborted || err != nil {
		t.Fatal(outcome, err)
	}
	if err := s.Seek(e.ctx, offs); err != nil {
		t.Fatal(err)
	}
	diff(t, "read again", again, e.drain(s))
	if outcome, err := e.epoch(s, "token-2", "c"); outcome != engine.Committed {
		t.Fatal(outcome, err)
	}
	realKill(e, s)
}

// realKill leaves a transaction open, as a process that was killed does; the same instance starts at once.
func realKill(e *env, s *Session) {
	t := e.t
	m, err := s.Begin(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	e.send(s, "open")
	if err := s.Flush(e.ctx); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	next := e.ready(e.options())
	took := time.Since(start)
	t.Logf("a killed static member was replaced within %v", took)
	if took > 5*time.Second {
		t.Errorf("the restart took %v: the session timeout was waited for", took)
	}
	if outcome, _ := s.End(e.ctx, m, positions(s, "t")); outcome == engine.Committed {
		t.Error("a fenced life committed")
	}
	if got := e.drain(next); len(got) != 0 {
		t.Errorf("read again: %v", got)
	}
	e.produce(values("in", 1, 6, 7)...)
	diff(t, "read", []string{"in/1/2=6"}, e.drain(next))
	if outcome, err := e.epoch(next, "token-3", "d"); outcome != engine.Committed {
		t.Fatal(outcome, err)
	}
	diff(t, "results", []string{"a", "b", "c", "d"}, e.committedValues("out", 1))
	for _, st := range next.Partitions(nil) {
		if st.Position != st.End || !st.CaughtUp {
			t.Errorf("not caught up: %+v", st)
		}
	}
}

func realSecure(e *env, b *kafkatest.Broker) {
	t := e.t
	login := func(user, password string) *config.SASL {
		return &config.SASL{Mechanism: "scram-sha-256", User: config.NewSecret(user), Password: config.NewSecret(password)}
	}
	plain := login(kafkatest.User, kafkatest.Password)
	plain.Mechanism = "plain"
	trust := &config.TLS{CA: b.CA}
	for name, tc := range map[string]struct {
		addr string
		tls  *config.TLS
		sasl *config.SASL
		code string // of the fault; empty: it works
	}{
		"tls":                   {addr: b.TLS, tls: trust},
		"tls and plain":         {addr: b.SASLTLS, tls: trust, sasl: plain},
		"tls and scram":         {addr: b.SASLTLS, tls: trust, sasl: login(kafkatest.User, kafkatest.Password)},
		"scram":                 {addr: b.SASLPlaintext, sasl: login(kafkatest.User, kafkatest.Password)},
		"wrong password":        {addr: b.SASLPlaintext, sasl: login(kafkatest.User, "wrong"), code: CodeCredentials},
		"no user":               {addr: b.SASLPlaintext, code: CodeCredentials},
		"plaintext to tls":      {addr: b.TLS, code: CodeTLS},
		"tls to plaintext":      {addr: b.Addr, tls: trust, code: CodeTLS},
		"tls to plain sasl":     {addr: b.SASLPlaintext, tls: trust, sasl: plain, code: CodeTLS},
		"not trusted":           {addr: b.TLS, tls: &config.TLS{}, code: CodeTLS},
		"unreachable":           {addr: "127.0.0.1:1", code: commit.CodeBroker},
		"not verified, by wish": {addr: b.TLS, tls: &config.TLS{InsecureSkipVerify: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o := e.options()
			o.Pipeline = "secure"
			o.Broker = &config.Broker{Addresses: []string{tc.addr}, TLS: tc.tls, SASL: tc.sasl}
			start := time.Now()
			s, err := Open(e.ctx, o)
			if err == nil {
				defer s.Close()
			}
			wantFault(t, err, tc.code)
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
			if err == nil {
				if _, _, err := s.FetchOffsets(e.ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The broker dies in the middle of an epoch and comes back: the outcome is what the broker says then.
func realBrokerRestart(e *env, b *kafkatest.Broker) {
	t := e.t
	o := e.options()
	o.Pipeline = "restart"
	o.Sources[0].Kafka = kafkaOf("r-in")
	e.topic("r-in", 1)
	e.produce(values("r-in", 0, 0, 10)...)
	s := e.ready(o)
	diff(t, "records", 10, len(e.drain(s)))
	if outcome, err := e.epoch(s, "t1", "r1"); outcome != engine.Committed {
		t.Fatal(outcome, err)
	}
	m, err := s.Begin(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	e.send(s, "r2")
	if err := s.Flush(e.ctx); err != nil {
		t.Fatal(err)
	}
	b.Kill()
	b.Restart()
	outcome, err := s.End(e.ctx, m, positions(s, "t2"))
	t.Logf("after the broker's restart: outcome %v, %v", outcome, err)
	want := "t1"
	if outcome == engine.Committed {
		want = "t2"
	} else {
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		offs := e.recover(s)
		if outcome == engine.Unknown && len(offs) == 1 {
			want = offs[0].Metadata
		}
	}
	e.produce(values("r-in", 0, 10, 11)...)
	diff(t, "read", []string{"r-in/0/10=10"}, e.drain(s))
	if outcome, err := e.epoch(s, "t3", "r3"); outcome != engine.Committed {
		t.Fatal(outcome, err)
	}
	got := e.committedValues("out", 1)
	found := map[string]int{}
	for _, v := range got {
		found[v]++
	}
	r2 := 0
	if want == "t2" {
		r2 = 1
	}
	if found["r1"] != 1 || found["r2"] != r2 || found["r3"] != 1 {
		t.Errorf("the group says %s, results are %v", want, found)
	}
}
