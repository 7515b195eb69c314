package xmltext

// FaultAt is why a scanner gave nothing. It costs nothing until it becomes an error.
type FaultAt struct {
	Pos   int    // index in the window
	Want  string // what was expected there, or what is wrong where Bare is set
	Bare  bool
	Rule  string // of the standard
	Depth bool   // not malformed, but nested beyond MaxDepth
	Long  bool   // not malformed, but a piece, which begins there, of more than Most bytes
	seen  int    // index of the last byte that was looked at to tell, where that is after Pos
}

// fail says that something else was expected at p. It returns -1.
func (x *Scanner) fail(p int, rule, want string) int {
	x.Fault = FaultAt{Pos: p, Want: want, Rule: rule}
	return -1
}

// wrong says that what is at p may not be there. It returns -1.
func (x *Scanner) wrong(p int, rule, what string) int {
	x.Fault = FaultAt{Pos: p, Want: what, Bare: true, Rule: rule}
	return -1
}

// seen says how far bytes were looked at for the current fault, the last of them included. It gives
// -1.
func (x *Scanner) seen(p int) int {
	x.Fault.seen = p
	return -1
}
