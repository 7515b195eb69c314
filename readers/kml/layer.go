package kml

import "fmt"

// container is a kml, Document or Folder that is open.
type container struct {
	name     string // what its name element says
	folder   bool
	numbered bool // it is a layer: a feature of its own was met
	chosen   bool // its features are the rows
}

// layers are the names of the layers so far.
type layers struct {
	raw   []string       // what their containers are called
	names []string       // what they are; a part does not know, since it does not know which are before it
	taken map[string]int // the number that the next layer of a name tries; 0: it is free
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

// truncate forgets all layers but the first n, which are found again.
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
