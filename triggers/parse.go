package triggers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wgate/wgate/event"
)

// Parse reads a trigger as String writes it. Blanks are free. The error says where the text goes wrong; what Validate
// finds is an error too.
func Parse(text string) (Spec, error) {
	p := parser{text: text}
	s, err := p.trigger(0)
	if err != nil {
		return Spec{}, fmt.Errorf("trigger %q: %w", text, err)
	}
	if p.skip(); p.at != len(text) {
		return Spec{}, fmt.Errorf("trigger %q: %w", text, p.want("the end"))
	}
	if bad := s.Validate(); len(bad) > 0 {
		return Spec{}, fmt.Errorf("trigger %q: %s: %s", text, bad[0].Summary, bad[0].Detail)
	}
	return s, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) want(what string) error { return fmt.Errorf("expected %s at column %d", what, p.at+1) }

// take reads tok if it is next.
func (p *parser) take(tok string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], tok) {
		return false
	}
	p.at += len(tok)
	return true
}

// word reads the longest run of letters, digits and underscores.
func (p *parser) word() string {
	p.skip()
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			break
		}
		p.at++
	}
	return p.text[start:p.at]
}

func (p *parser) trigger(depth int) (Spec, error) {
	if depth > MaxDepth {
		return Spec{}, fmt.Errorf("nested more than %d deep", MaxDepth)
	}
	name := p.word()
	k, ok := Lookup(name)
	if name == "" {
		return Spec{}, p.want("a trigger")
	}
	if !ok {
		return Spec{}, fmt.Errorf("there is no trigger %q", name)
	}
	s := Spec{Kind: k}
	if !k.Available() {
		return Spec{}, fmt.Errorf("%s is not available in this version", name)
	}
	if !p.take("(") {
		return Spec{}, p.want(`"("`)
	}
	if err := p.args(&s, depth); err != nil {
		return Spec{}, err
	}
	if !p.take(")") {
		return Spec{}, p.want(`")"`)
	}
	return s, nil
}

func (p *parser) args(s *Spec, depth int) error {
	switch s.Kind {
	case Never:
		return nil
	case AfterWatermark:
		return p.phases(s, depth)
	case AfterCount:
		n, err := strconv.ParseInt(p.word(), 10, 64)
		if err != nil {
			return p.want("a whole number")
		}
		s.Count = n
		return nil
	case AfterDelay, Every:
		return p.duration(s)
	}
	for {
		t, err := p.trigger(depth + 1)
		if err != nil {
			return err
		}
		s.Parts = append(s.Parts, t)
		if !p.take(",") {
			return nil
		}
	}
}

func (p *parser) duration(s *Spec) error {
	if !p.take(`"`) {
		return p.want("a duration in quotes")
	}
	end := strings.IndexByte(p.text[p.at:], '"')
	if end < 0 {
		return p.want("a closing quote")
	}
	d, err := event.ParseDuration(p.text[p.at : p.at+end])
	if err != nil {
		return err
	}
	s.Delay = d
	p.at += end + 1
	return nil
}

func (p *parser) phases(s *Spec, depth int) error {
	if !p.take("{") {
		return nil
	}
	for !p.take("}") {
		name := p.word()
		if !p.take("=") {
			return p.want(`"="`)
		}
		t, err := p.trigger(depth + 1)
		if err != nil {
			return err
		}
		switch {
		case name == "early" && s.Early == nil:
			s.Early = []Spec{t}
		case name == "late" && s.Late == nil:
			s.Late = []Spec{t}
		default:
			return p.want("early and late, once each")
		}
		if !p.take(",") && !strings.HasPrefix(strings.TrimLeft(p.text[p.at:], " \t\r\n"), "}") {
			return p.want(`"," or "}"`)
		}
	}
	return nil
}
