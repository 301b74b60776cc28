package engine

import (
	"fmt"
	"sort"
	"strings"

	"github.com/wgate/wgate/host/plan"
)

// breakerWindow is how many records max_errors looks back on.
const breakerWindow = 10_000

// breaker stops a pipeline when too large a share of a block's last records failed. It counts in two halves of the
// window, so that it needs no ring of single records.
type breaker struct {
	node    *plan.Node
	limit   float64
	rows    [2]int64 // of the half before and of the running one
	bad     [2]int64
	reasons map[string]int64
}

// BreakerError says that a block failed on too many records.
type BreakerError struct {
	Block   string
	Bad     int64
	Rows    int64
	Limit   float64
	Reasons map[string]int64
}

// Error lists the reasons, the most frequent first.
func (e *BreakerError) Error() string {
	var codes []string
	for c := range e.Reasons { // sorted below
		codes = append(codes, c)
	}
	sort.Slice(codes, func(i, j int) bool {
		a, b := e.Reasons[codes[i]], e.Reasons[codes[j]]
		return a > b || a == b && codes[i] < codes[j]
	})
	for i, c := range codes {
		codes[i] = fmt.Sprintf("%s: %d", c, e.Reasons[c])
	}
	return fmt.Sprintf("%s: %d of the last %d records failed, more than max_errors = %g %% (%s); look at the dead letters, mend the cause, start again",
		e.Block, e.Bad, e.Rows, e.Limit*100, strings.Join(codes, ", "))
}

func (t *Task) breaker(n *plan.Node) *breaker {
	b := t.breakers[n.ID]
	if b == nil {
		b = &breaker{node: n, limit: n.Errors.MaxErrors, reasons: map[string]int64{}}
		t.breakers[n.ID] = b
	}
	return b
}

// passed counts rows that came to the block.
func (b *breaker) passed(rows int) {
	b.rows[1] += int64(rows)
	if b.rows[1] >= breakerWindow/2 {
		b.rows[0], b.bad[0] = b.rows[1], b.bad[1]
		b.rows[1], b.bad[1] = 0, 0
	}
}

// failed counts a row that failed, and says when it was one too many. Below 100 records nothing is decided: the first bad
// record of a quiet topic must not stop it.
func (b *breaker) failed(code string) error {
	b.bad[1]++
	b.reasons[code]++
	bad, rows := b.bad[0]+b.bad[1], b.rows[0]+b.rows[1]
	if b.limit >= 1 || rows < 100 || float64(bad) <= b.limit*float64(rows) {
		return nil
	}
	return &BreakerError{Block: b.node.Block, Bad: bad, Rows: rows, Limit: b.limit, Reasons: b.reasons}
}
