package xmltext

// FaultAt is the reason for a scanner's failure. It is cheap until it becomes an error.
type FaultAt struct {
	Pos   int    // index in the window
	Want  string // what was expected there, or the whole message if Bare is set
	Bare  bool
	Rule  string // of the standard
	Depth bool   // well-formed, but nested beyond MaxDepth
	Long  bool   // well-formed, but a piece, which begins there, of more than Most bytes
	seen  int    // index of the last byte that was examined, if that is after Pos
}

// fail sets the fault: something else was expected at p. It returns -1.
func (x *Scanner) fail(p int, rule, want string) int {
	x.Fault = FaultAt{Pos: p, Want: want, Rule: rule}
	return -1
}

// wrong sets the fault: the text at p is not allowed there. It returns -1.
func (x *Scanner) wrong(p int, rule, what string) int {
	x.Fault = FaultAt{Pos: p, Want: what, Bare: true, Rule: rule}
	return -1
}

// seen sets the last byte that was examined for the current fault. It returns -1.
func (x *Scanner) seen(p int) int {
	x.Fault.seen = p
	return -1
}
