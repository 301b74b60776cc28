package expr

import "github.com/wgate/wgate/event"

type typed struct {
	op   int
	node *Node
	typ  event.Type
	kind event.Kind
	lit  event.Literal
	args []*typed
}

const (
	tLiteral = iota
	tAs
)

type checker struct {
	scope    Scope
	expr     *Expr
	problems []Problem
}

func (c *checker) check(n *Node) *typed { return &typed{op: -1, node: n} }
func fold(t *typed) *typed              { return t }
func fits(event.Type, event.Kind) bool  { return true }
func article(t event.Type) string       { return "a " + t.String() }
