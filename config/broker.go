package config

import (
	"net"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func (ld *loader) readBroker(b *topBlock) {
	b.check(brokerSchema)
	br := &Broker{Name: b.name, Pos: posOf(b.head)}
	if ld.scenario == nil { // a scenario takes the broker's place
		b.required("addresses", `["127.0.0.1:9092"]`)
	}
	br.Addresses = b.texts("addresses", `["127.0.0.1:9092"]`)
	for _, a := range br.Addresses {
		host, port, err := net.SplitHostPort(a)
		if n, perr := strconv.Atoi(port); err != nil || perr != nil || host == "" || n < 1 || n > 65535 {
			b.wrong(b.attr("addresses"), `%q is not HOST:PORT, such as "127.0.0.1:9092".`, a)
		}
	}
	if t, ok := b.block("tls"); ok {
		t.check(tlsSchema)
		br.TLS = &TLS{ServerName: t.text("server_name", ""), InsecureSkipVerify: t.boolean("insecure_skip_verify", false)}
		br.TLS.CA, br.TLS.Cert, br.TLS.Key = t.file("ca"), t.file("cert"), t.file("key")
		if (t.attr("cert") == nil) != (t.attr("key") == nil) {
			ld.fail(t.head, "Incomplete client certificate", `"cert" and "key" belong together: give both, or none.`)
		}
	}
	if s, ok := b.block("sasl"); ok {
		br.SASL = s.readSASL()
	}
	ld.brokers[b.name] = br
	ld.p.Brokers = append(ld.p.Brokers, br)
}

// file reads an attribute that is a path; empty if it is not there.
func (b body) file(name string) string {
	if p := b.text(name, ""); p != "" {
		return b.path(p)
	}
	return ""
}

func (b body) readSASL() *SASL {
	b.check(saslSchema)
	b.required("user", `env("KAFKA_USER")`)
	b.required("password", `env("KAFKA_PASSWORD")`)
	return &SASL{
		Mechanism: b.choice("mechanism", "scram-sha-512", []string{"plain", "scram-sha-256", "scram-sha-512"}),
		User:      b.secret("user", true),
		Password:  b.secret("password", false),
	}
}

// brokerOf reads broker = broker.NAME. Without it the only broker is meant, and the embedded one if there is no broker
// block at all.
func (b body) brokerOf() *Broker {
	ld := b.ld
	a := b.attr("broker")
	if a == nil {
		switch len(ld.brokers) {
		case 0:
			return nil
		case 1:
			return ld.p.Brokers[0]
		}
		ld.fail(b.head, "Missing attribute", "There is more than one broker: say which one is meant, for example: broker = broker.%s.", ld.p.Brokers[0].Name)
		return nil
	}
	steps := dotted(a.Expr)
	if len(steps) != 2 || steps[0] != "broker" {
		b.wrong(a, "Write broker.NAME, where NAME is the label of a broker block.")
		return nil
	}
	br := ld.brokers[steps[1]]
	if br == nil {
		ld.fail(a.Expr.Range(), "Unknown broker", "There is no broker %q.%s", steps[1], didYouMean(steps[1], keysOf(ld.brokers)))
	}
	return br
}

// dotted returns the parts of a reference such as plugin.scoring.score; nil if e is something else.
func dotted(e hclsyntax.Expression) []string {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return nil
	}
	var out []string
	for _, s := range t.Traversal {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			out = append(out, s.Name)
		case hcl.TraverseAttr:
			out = append(out, s.Name)
		default:
			return nil
		}
	}
	return out
}
