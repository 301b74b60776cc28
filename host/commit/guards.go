package commit

// Guards switches guards of the protocol off, so that tests can show that each is needed. Nothing but a test sets one. The
// build tags wgate_no_redo and wgate_no_token set them for a whole binary.
type Guards struct {
	NoRedo  bool // a Pending row is never applied
	NoToken bool // every token counts as equal
}

// guards returns g with what the build switched off.
func (g Guards) built() Guards {
	return Guards{NoRedo: g.NoRedo || builtWithoutRedo, NoToken: g.NoToken || builtWithoutToken}
}

// Weakened reports whether this binary was built without one of the guards: it must not be used but for tests.
func Weakened() bool { return builtWithoutRedo || builtWithoutToken }
