package gml

import "strings"

// step is an element in a feature that holds elements. Values in different ones are told apart by
// it.
type step struct {
	way      string // the names of the elements around, and its own, with "/" between
	name     string
	children map[string]*step
	last     *step // the child that was looked for last
}

// longestWay bounds the names in a way. An element that is nested so deep that they are longer
// begins a new one.
const longestWay = 512

// mostSteps bounds how many are kept: a hostile file has one for each element.
const mostSteps = 1 << 14

// steps are those of a file.
type steps struct {
	root  step
	count int
}

// inside is the element of a name in another one; nil is the feature.
func (t *steps) inside(in *step, name []byte) *step {
	if in == nil {
		in = &t.root
	}
	if in.last != nil && in.last.name == string(name) {
		return in.last
	}
	child := in.children[string(name)]
	if child == nil {
		if t.count++; t.count > mostSteps {
			*t = steps{count: 1}
		}
		child = &step{name: string(name)}
		if child.way = child.name; in.way != "" && len(in.way)+len(name) < longestWay {
			child.way = in.way + "/" + child.name
		}
		if in.children == nil {
			in.children = map[string]*step{}
		}
		in.children[child.name] = child
	}
	in.last = child
	return child
}

// path is the way to an element of a name; in may be nil.
func (in *step) path(name []byte) []byte {
	if in == nil {
		return name
	}
	return append(append(append(make([]byte, 0, len(in.way)+1+len(name)), in.way...), '/'), name...)
}

// isNamed reports whether the element is the one that the option geometry names: by its own name,
// or with those of the elements around it.
func (in *step) isNamed(option string) bool {
	return in != nil && (in.name == option || in.way == strings.ReplaceAll(option, ".", "/"))
}
