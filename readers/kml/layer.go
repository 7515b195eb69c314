package kml

import "fmt"

// container is a kml, Document or Folder that is open.
type container struct {
	name     string // text of its name element
	folder   bool
	numbered bool // it is a layer: it has a feature of its own
	chosen   bool // its features are the rows
}

// layers are the names of the layers so far.
type layers struct {
	raw   []string       // names of their containers
	names []string       // names of the layers; unknown in a part, which does not know the earlier ones
	taken map[string]int // next number to try for a layer of a name; 0: the name is free
}

// add names the next layer, whose container is called name; an empty one makes it "Layer0",
// "Layer1", … by its place. Of equal names all but the first get "_2", "_3", ….
func (l *layers) add(name string) string {
	l.raw = append(l.raw, name)
	if name == "" {
		name = fmt.Sprintf("Layer%d", len(l.names))
	}
	if l.taken == nil {
		l.taken = map[string]int{}
	}
	unique, n := name, max(2, l.taken[name])
	for l.taken[unique] > 0 {
		unique = fmt.Sprintf("%s_%d", name, n)
		n++
	}
	l.taken[name] = n
	l.taken[unique] = max(2, l.taken[unique])
	l.names = append(l.names, unique)
	return unique
}

// truncate drops all layers except the first n; the others are found again.
func (l *layers) truncate(n int) {
	raw := l.raw[:n]
	if l.taken == nil {
		l.raw = raw
		return
	}
	*l = layers{}
	for _, name := range raw {
		l.add(name)
	}
}
