package commit

import (
	"fmt"
	"slices"

	"github.com/wgate/wgate/statestore"
)

// checkMeta compares what the state belongs to with the world as it is. It returns the row to keep from here on: topics
// and partitions may have been added. Empty fields of now are not compared: a pipeline without a broker has no cluster.
func checkMeta(was, now statestore.Meta) (statestore.Meta, *Stop) {
	stop := func(code, format string, args ...any) (statestore.Meta, *Stop) {
		return was, NewStop(code, now.Pipeline, fmt.Sprintf(format, args...), nil)
	}
	for _, f := range []struct{ what, was, now string }{
		{"cluster", was.Cluster, now.Cluster},
		{"group", was.Group, now.Group},
		{"pipeline", was.Pipeline, now.Pipeline},
	} {
		if f.was != "" && f.now != "" && f.was != f.now {
			return stop(CodeOther, "it was written for %s %q, this is %s %q", f.what, f.was, f.what, f.now)
		}
	}
	if was.PlanHash != "" && now.PlanHash != "" && was.PlanHash != now.PlanHash {
		return stop(CodePlan, "it was written under plan %.12s, this is plan %.12s", was.PlanHash, now.PlanHash)
	}
	for _, t := range was.Topics {
		i := slices.IndexFunc(now.Topics, func(n statestore.Topic) bool { return n.Name == t.Name })
		switch {
		case i < 0:
			return stop(CodeVanished, "topic %s is not there any more", t.Name)
		case t.ID != "" && now.Topics[i].ID != "" && t.ID != now.Topics[i].ID:
			return stop(CodeRecreated, "topic %s had id %s and has %s now", t.Name, t.ID, now.Topics[i].ID)
		case now.Topics[i].Partitions < t.Partitions:
			return stop(CodeVanished, "topic %s had %d partitions and has %d now", t.Name, t.Partitions, now.Topics[i].Partitions)
		}
	}
	keep := now
	keep.Format = statestore.FormatVersion
	keep.Cluster, keep.Group = orElse(now.Cluster, was.Cluster), orElse(now.Group, was.Group)
	keep.Instance = orElse(was.Instance, now.Instance)
	if keep.Ops == nil {
		keep.Ops = was.Ops
	}
	return keep, nil
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func sameMeta(a, b statestore.Meta) bool {
	return a.Instance == b.Instance && a.Cluster == b.Cluster && a.Group == b.Group && a.Pipeline == b.Pipeline &&
		a.PlanHash == b.PlanHash && slices.Equal(a.Topics, b.Topics) && slices.Equal(a.Ops, b.Ops)
}
