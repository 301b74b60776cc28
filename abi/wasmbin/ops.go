package wasmbin

// Opcodes that code outside of this package looks at.
const (
	OpUnreachable  = 0x00
	OpBlock        = 0x02
	OpLoop         = 0x03
	OpIf           = 0x04
	OpEnd          = 0x0b
	OpCall         = 0x10
	OpCallIndirect = 0x11
	OpDrop         = 0x1a
	OpLocalGet     = 0x20
	OpLocalTee     = 0x22
	OpGlobalGet    = 0x23
	OpGlobalSet    = 0x24
	OpMemoryGrow   = 0x40
	OpI32Const     = 0x41
	OpI32LtS       = 0x48
	OpI32Sub       = 0x6b
	OpI32ShrU      = 0x76
	OpPrefixFC     = 0xfc // Sub is one of the Sub constants
	OpPrefixFD     = 0xfd // vector instructions
)

// Second opcodes behind OpPrefixFC: the ones that work on as many bytes or elements as the stack's top says.
const (
	SubMemoryInit = 8
	SubMemoryCopy = 10
	SubMemoryFill = 11
	SubTableInit  = 12
	SubTableCopy  = 14
	SubTableGrow  = 15
	SubTableFill  = 17
)

// Op is one instruction: bytes [From, To).
type Op struct {
	From, To int
	Code     byte
	Sub      uint32 // behind a prefix
}

// NextOp reads the instruction at b[at:]. All errors wrap ErrFormat; an instruction that is not of core 2.0 is one.
func NextOp(b []byte, at int) (Op, error) {
	c := cursor{b: b, at: at}
	o := Op{From: at, Code: c.byte()}
	switch code := o.Code; {
	case code >= 0x02 && code <= 0x04 || code == 0x42: // block type, i64.const
		c.leb(64)
	case code == 0x41, code == 0xd0: // i32.const, ref.null
		c.leb(35)
	case code == 0x0e: // br_table
		for range c.count() {
			c.u32()
		}
		c.u32()
	case code == 0x0c, code == 0x0d, code == 0x10, code >= 0x20 && code <= 0x26, code == 0x3f, code == 0x40, code == 0xd2:
		c.u32()
	case code == 0x11, code >= 0x28 && code <= 0x3e: // call_indirect, loads and stores
		c.u32()
		c.u32()
	case code == 0x1c: // select with types
		c.take(c.u32())
	case code == 0x43:
		c.take(4)
	case code == 0x44:
		c.take(8)
	case code == OpPrefixFC:
		o.Sub = c.u32()
		c.bulk(o.Sub)
	case code == OpPrefixFD:
		o.Sub = c.u32()
		c.vector(o.Sub)
	case code <= 0x01, code == 0x05, code == 0x0b, code == 0x0f, code == 0x1a, code == 0x1b, code >= 0x45 && code <= 0xc4, code == 0xd1:
	default:
		c.fail("instruction %#x is not part of core WebAssembly 2.0", code)
	}
	o.To = c.at
	return o, c.err
}

// bulk reads the operands of the instructions behind OpPrefixFC.
func (c *cursor) bulk(sub uint32) {
	switch {
	case sub <= 7:
	case sub == 8, sub == 10, sub == 12, sub == 14:
		c.u32()
		c.u32()
	case sub <= 17:
		c.u32()
	default:
		c.fail("instruction 0xfc %d is not part of core WebAssembly 2.0", sub)
	}
}

// vector reads the operands of the instructions behind OpPrefixFD.
func (c *cursor) vector(sub uint32) {
	switch {
	case sub <= 11, sub == 92, sub == 93:
		c.u32()
		c.u32()
	case sub == 12, sub == 13:
		c.take(16)
	case sub >= 21 && sub <= 34:
		c.byte()
	case sub >= 84 && sub <= 91:
		c.u32()
		c.u32()
		c.byte()
	case sub > 255:
		c.fail("instruction 0xfd %d is not part of core WebAssembly 2.0", sub)
	}
}
