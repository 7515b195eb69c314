package topojson

import (
	"fmt"
	"slices"
)

// layer is a table of a topology: the geometries of a collection, or all other objects.
type layer struct {
	name     string
	from     int64 // offset of the first row, or of what ends the rows
	brackets int   // around the rows
	objects  []object
}

// object is a row that is an object of the topology itself.
type object struct {
	name string
	at   int64
}

// otherLayer is the name of the layer of objects that are no collections.
const otherLayer = "TopoJSON"

// places returns the offsets of the objects in a span.
func (l *layer) places(from, to int64) (all []int64) {
	for _, o := range l.objects {
		if o.at >= from && o.at < to {
			all = append(all, o.at)
		}
	}
	return all
}

// nameAt returns the name of the object at an offset, "" for a row of a collection.
func (l *layer) nameAt(at int64) string {
	i, found := slices.BinarySearchFunc(l.objects, at, func(o object, at int64) int { return int(o.at - at) })
	if !found {
		return ""
	}
	return l.objects[i].name
}

// names returns the names of the layers.
func (t *topology) names() (all []string) {
	for _, l := range t.layers {
		all = append(all, l.name)
	}
	return all
}

// find returns a layer, "" for the first one, or nil.
func (t *topology) find(name string) *layer {
	for _, l := range t.layers {
		if name == "" || l.name == name {
			return l
		}
	}
	return nil
}

// objects reads the layers from the objects at p.
func (s *scanner) objects(p int) bool {
	t := s.topology
	if s.At(p) != '{' {
		s.FailRule(p, topologyRule, "an object of objects")
		return false
	}
	others := &layer{name: otherLayer, brackets: 2}
	seen := map[string]bool{}
	end := s.Walk(p, 1, func(name []byte, at int) int { return s.addObject(string(name), at, others, seen) })
	if end < 0 {
		return false
	}
	if len(others.objects) > 0 {
		for n := 2; seen[others.name]; n++ {
			others.name = fmt.Sprintf("%s_%d", otherLayer, n)
		}
		others.from = others.objects[0].at
		t.layers = append(t.layers, others)
	}
	return true
}

// addObject adds the object at p: a collection as a layer, any other one to the others. It returns
// the index after it, or -1.
func (s *scanner) addObject(name string, p int, others *layer, seen map[string]bool) int {
	if name == "" {
		name = fmt.Sprintf("Layer%d", len(s.topology.layers))
	}
	if seen[name] {
		return s.Wrong(p, "", topologyRule, fmt.Sprintf("a second object %q", name))
	}
	seen[name] = true
	end := s.LooseSkip(p)
	if end < 0 {
		return -1
	}
	if s.At(p) != '{' || !s.isCollection(p) {
		others.objects = append(others.objects, object{name: name, at: s.Base + int64(p)})
		return end
	}
	list := -1
	end = s.Walk(p, 2, func(member []byte, at int) int {
		switch string(member) {
		case "geometries":
			list = at
			return s.LooseSkip(at) // malformed rows are for their reader
		case "type", "bbox":
		default:
			s.topology.foreign[string(member)]++
		}
		return s.Skip(at, 3)
	})
	if end >= 0 && (list < 0 || s.At(list) != '[') {
		return s.Wrong(p, "", geometryRule, fmt.Sprintf("the collection %q has no array of geometries", name))
	}
	l := &layer{name: name, from: s.Base + int64(list) + 1, brackets: 4}
	s.topology.layers = append(s.topology.layers, l)
	return end
}

// checkOthers checks the JSON of the layers whose rows are not read.
func (s *scanner) checkOthers() bool {
	t := s.topology
	read := t.find(s.Layout.Layer)
	for _, l := range t.layers {
		if l == read {
			continue
		}
		if l.objects == nil && s.Skip(int(l.from-1-s.Base), l.brackets-1) < 0 {
			return false
		}
		for _, o := range l.objects {
			if s.Skip(int(o.at-s.Base), l.brackets) < 0 {
				return false
			}
		}
	}
	return true
}

// isCollection reports whether the object at p is a GeometryCollection.
func (s *scanner) isCollection(p int) bool {
	kind, ok := s.LastMembers(p)["type"]
	return ok && string(s.TextAt(kind, s.LooseSkip(kind))) == "GeometryCollection"
}
