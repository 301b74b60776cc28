package statestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Meta says what a store's rows belong to. It is kept as JSON, so that a person can read it.
type Meta struct {
	Format   int        `json:"format"`             // FormatVersion of the binary that wrote it
	Instance string     `json:"instance"`           // a uuid, drawn once for the folder
	Cluster  string     `json:"cluster,omitempty"`  // id of the Kafka cluster
	Group    string     `json:"group,omitempty"`    // consumer group
	Pipeline string     `json:"pipeline,omitempty"` // the pipeline's name
	PlanHash string     `json:"plan_hash,omitempty"`
	Topics   []Topic    `json:"topics,omitempty"`
	Ops      []Operator `json:"operators,omitempty"`
}

// Topic is an input topic as it was when the state was last opened.
type Topic struct {
	Name       string `json:"name"`
	ID         string `json:"id,omitempty"` // Kafka's topic id in hex; empty if the broker gives none
	Partitions int32  `json:"partitions"`
}

// Operator is the number under which the rows of a named operator are kept. A number is never used a second time.
type Operator struct {
	Name    string `json:"name"`
	ID      uint16 `json:"id"`
	Dropped bool   `json:"dropped,omitempty"` // the operator is gone; the number stays taken
}

// AppendMeta appends m with the format version of this binary.
func AppendMeta(dst []byte, m Meta) ([]byte, error) {
	m.Format = FormatVersion
	b, err := json.Marshal(m)
	if err != nil {
		return dst, fmt.Errorf("statestore: meta: %w", err)
	}
	return append(dst, b...), nil
}

// DecodeMeta reads a Meta row. A row of a newer format is ErrNewer, other faults are ErrCorrupt.
func DecodeMeta(b []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return Meta{}, fmt.Errorf("%w: meta: %v", ErrCorrupt, err)
	}
	if m.Format > FormatVersion {
		return Meta{}, fmt.Errorf("%w: its format is %d, this binary reads up to %d", ErrNewer, m.Format, FormatVersion)
	}
	if m.Format < 1 {
		return Meta{}, fmt.Errorf("%w: meta: format %d", ErrCorrupt, m.Format)
	}
	return m, nil
}

// OperatorID returns the number of a live operator.
func (m Meta) OperatorID(name string) (uint16, bool) {
	for _, op := range m.Ops {
		if op.Name == name && !op.Dropped {
			return op.ID, true
		}
	}
	return 0, false
}

// AssignOperators returns m with a number for each of names and all other operators dropped, and whether that changed
// anything. Numbers that stand are kept.
func (m Meta) AssignOperators(names []string) (Meta, bool, error) {
	ops := slices.Clone(m.Ops)
	changed := false
	next := 0
	for i := range ops {
		next = max(next, int(ops[i].ID)+1)
		if !ops[i].Dropped && !slices.Contains(names, ops[i].Name) {
			ops[i].Dropped, changed = true, true
		}
	}
	for _, name := range names {
		if _, ok := (Meta{Ops: ops}).OperatorID(name); ok {
			continue
		}
		if next > 0xFFFF {
			return m, false, errors.New("statestore: the pipeline has used up its 65,536 operator numbers; give it a new state folder")
		}
		ops = append(ops, Operator{Name: name, ID: uint16(next)})
		next, changed = next+1, true
	}
	m.Ops = ops
	return m, changed, nil
}
