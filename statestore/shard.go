package statestore

// shard is a part of the rows of a Resident that mostly goes as a whole: those of one window, of all key groups; or else
// those of one kind of an operator.
type shard struct {
	id  shardID
	mem *Overlay
}

// shardID names a shard: the first n bytes of part. It is the fixed part of the keys of windows without the group; of
// other keys only the operator and the kind.
type shardID struct {
	part [windowEnd - 1]byte
	n    uint8
}

// Where the parts of a key lie: task, operator and kind, then the group, then the end and start of a window.
const (
	kindEnd   = 5
	windowEnd = groupEnd + 16
)

func shardOf(key []byte) (id shardID) {
	id.n = uint8(copy(id.part[:kindEnd], key))
	if len(key) >= windowEnd && Kind(key[4]) == WindowRow {
		id.n += uint8(copy(id.part[kindEnd:], key[groupEnd:windowEnd]))
	}
	return id
}

// has reports whether key, which is that of a window's cell, lies in s.
func (s *shard) has(key []byte) bool {
	return s != nil && s.id.n == windowEnd-1 && string(s.id.part[kindEnd:]) == string(key[groupEnd:windowEnd]) &&
		string(s.id.part[:kindEnd]) == string(key[:kindEnd])
}

// shard returns the shard in which key lies, nil if there is none.
func (r *Resident) shard(key []byte) *shard {
	if len(key) >= windowEnd {
		if r.recent[0].has(key) {
			return r.recent[0]
		}
		if r.recent[1].has(key) {
			return r.recent[1]
		}
	}
	s := r.shards[shardOf(key)]
	if s != nil {
		r.recent[0], r.recent[1] = s, r.recent[0]
	}
	return s
}

// make returns the shard in which key lies.
func (r *Resident) make(key []byte) *shard {
	if s := r.shard(key); s != nil {
		return s
	}
	s := &shard{id: shardOf(key), mem: r.empty()}
	r.shards[s.id] = s
	return s
}

// empty returns an overlay without rows.
func (r *Resident) empty() *Overlay {
	if n := len(r.idle); n > 0 {
		o := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return o
	}
	return NewOverlay(noRows{})
}

// retire keeps the memory of an overlay that is not needed any more.
func (r *Resident) retire(o *Overlay) {
	if len(r.idle) < maxIdle {
		o.Reset(noRows{})
		r.idle = append(r.idle, o)
	}
}

func (r *Resident) drop(id shardID, s *shard) {
	delete(r.shards, id)
	r.recent = [2]*shard{}
	r.retire(s.mem)
}

// compact clears deleted rows out of a shard.
func (r *Resident) compact(s *shard) {
	to := r.empty()
	for i := range s.mem.entries {
		if e := &s.mem.entries[i]; !e.val.del {
			to.set(s.mem.keyOf(uint32(i)), s.mem.arena.get(e.val.val), false, e.hash)
		}
	}
	s.mem, to = to, s.mem
	r.retire(to)
}

// remove deletes a row of an overlay that has nothing below it.
func (o *Overlay) remove(key []byte, h uint32) {
	if i, found := o.find(key, h); found && !o.entries[i].val.del {
		o.entries[i].val.del = true
		o.live--
	}
}

// wornFrom is the number of deleted rows below which clearing out is not worth it.
const wornFrom = 1 << 10

// worn reports whether more than half of what the overlay holds is of no use any more.
func (o *Overlay) worn() bool {
	dead := len(o.entries) - o.live
	return dead > wornFrom && dead > o.live || o.waste > firstChunk && 2*o.waste > o.arena.used
}

// footprint returns about how many bytes of memory the overlay takes.
func (o *Overlay) footprint() int {
	return o.arena.held + len(o.entries)*entryBytes + len(o.buckets)*bucketBytes
}

// bytes returns about how many bytes keys and values have.
func (o *Overlay) bytes() int64 {
	if len(o.entries) == 0 {
		return 0
	}
	return int64(o.arena.used-o.waste) * int64(o.live) / int64(len(o.entries))
}
