package gml

// layers are the names of feature types in order of appearance.
type layers struct {
	names []string
	known map[string]struct{}
}

// add adds a name unless it is known.
func (l *layers) add(name []byte) {
	if _, known := l.known[string(name)]; known {
		return
	}
	if l.known == nil {
		l.known = map[string]struct{}{}
	}
	l.known[string(name)] = struct{}{}
	l.names = append(l.names, string(name))
}

func (l *layers) has(name string) bool {
	_, known := l.known[name]
	return known
}
