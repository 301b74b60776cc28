package abi

// Opening is what a guest is told once, before the first call.
type Opening struct {
	LogLevel  uint32
	Memory    uint64 // limit in bytes
	Millis    uint32 // limit of a call's time
	Output    uint32 // limit of the bytes of a call's output
	Config    []byte // JSON; empty: none
	Functions []Function
	Grants    []string // capabilities
}

// AppendOpen appends the open frame for o to dst, which must be empty or end at a multiple of 8.
func AppendOpen(dst []byte, o Opening) []byte {
	base := len(dst)
	var heap []byte
	table := []entry{
		{kind: SectionOpen, flags: FlagCritical, count: 1, length: SizeOpenRow},
		{kind: SectionConfig, count: uint32(len(o.Config)), length: uint32(len(o.Config))},
		{kind: SectionFunctions, count: uint32(len(o.Functions)), length: uint32(len(o.Functions) * SizeFunction)},
		{kind: SectionGrants, count: uint32(len(o.Grants)), length: uint32(len(o.Grants) * SizeFunction)},
		{kind: SectionHeap},
	}
	for _, f := range o.Functions {
		heap = append(heap, f.Name...)
	}
	for _, g := range o.Grants {
		heap = append(heap, g...)
	}
	table[4].count, table[4].length = uint32(len(heap)), uint32(len(heap))
	at := HeaderSize + len(table)*SectionSize
	for i := range table {
		table[i].offset = uint32(at)
		at = align(at + int(table[i].length))
	}
	dst = append(dst, make([]byte, at)...)
	f := dst[base:]
	putHeader(f, header{magic: MagicInput, sections: uint32(len(table)), total: uint32(at), cursor: None})
	putTable(f, table)
	p := f[table[0].offset:]
	le.PutUint32(p[AtOpenRowMinor:], Minor)
	le.PutUint32(p[AtOpenRowLogLevel:], o.LogLevel)
	le.PutUint64(p[AtOpenRowMemory:], o.Memory)
	le.PutUint32(p[AtOpenRowTime:], o.Millis)
	le.PutUint32(p[AtOpenRowOutput:], o.Output)
	copy(f[table[1].offset:], o.Config)
	name := table[4].offset
	put := func(row []byte, id uint32, s string) {
		le.PutUint32(row[AtFunctionID:], id)
		le.PutUint32(row[AtFunctionOffset:], name)
		le.PutUint32(row[AtFunctionLength:], uint32(len(s)))
		name += uint32(len(s))
	}
	for i, fn := range o.Functions {
		put(f[int(table[2].offset)+i*SizeFunction:], fn.ID, fn.Name)
	}
	for i, g := range o.Grants {
		put(f[int(table[3].offset)+i*SizeFunction:], uint32(i), g)
	}
	copy(f[table[4].offset:], heap)
	return dst
}
