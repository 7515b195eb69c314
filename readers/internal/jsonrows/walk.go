package jsonrows

// Walk reads the object at p, inside of open brackets, through its closing bracket. It calls each
// with the name and the place of the value of every member; each returns the index after the value,
// or -1. The name is valid until the next key.
func (s *Scanner) Walk(p, open int, each func(name []byte, at int) int) int {
	if open >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	p = s.Space(p + 1)
	for first := true; s.At(p) != '}'; first = false {
		if !first {
			if s.At(p) != ',' {
				return s.Fail(p, `"," or "}"`)
			}
			p = s.Space(p + 1)
		}
		name, at := s.Key(p)
		if at < 0 {
			return -1
		}
		if p = each(name, at); p < 0 {
			return -1
		}
		p = s.Space(p)
	}
	return p + 1
}
