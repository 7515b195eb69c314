package cql2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// ParseJSON reads a filter in CQL2 JSON. Errors are *Error.
func ParseJSON(in string) (*Node, error) {
	if len(in) > MaxBytes {
		return nil, errorAt(Place{JSON: true}, "it has more than %d bytes", MaxBytes)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(in)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errorAt(Place{JSON: true}, "it is not JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errorAt(Place{JSON: true}, "there is more than one JSON value")
	}
	p := &jsonParser{}
	return p.node(v, Place{JSON: true}, 0)
}

type jsonParser struct{ nodes int }

// arities are the numbers of operands of operators; those that are missing have two.
var arities = map[string][2]int{
	"and": {2, maxNodes}, "or": {2, maxNodes}, "not": {1, 1}, "isNull": {1, 1}, "between": {3, 3}, "in": {2, 2},
	"casei": {1, 1}, "accenti": {1, 1},
}

// inMember returns the place of a member.
func (p Place) inMember(name string) Place {
	if p.Path != "" {
		name = p.Path + "." + name
	}
	return Place{Path: name, JSON: true}
}

// inElement returns the place of an element of an array.
func (p Place) inElement(i int) Place {
	return Place{Path: fmt.Sprintf("%s[%d]", p.Path, i), JSON: true}
}

func (p *jsonParser) node(v any, at Place, depth int) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, errorAt(at, "the filter has more than %d parts", maxNodes)
	}
	if depth > maxDepth {
		return nil, errorAt(at, "expressions are nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case bool:
		return &Node{Op: Boolean, Text: fmt.Sprint(v), At: at}, nil
	case string:
		return &Node{Op: String, Text: v, At: at}, nil
	case json.Number:
		return &Node{Op: Number, Text: v.String(), At: at}, nil
	case map[string]any:
		return p.object(v, at, depth)
	case nil:
		return nil, errorAt(at, "null is not an expression; there is the operator isNull")
	}
	return nil, errorAt(at, "a list is not an expression here")
}

func (p *jsonParser) object(v map[string]any, at Place, depth int) (*Node, error) {
	for _, leaf := range []string{Property, Date, Timestamp} {
		if value, ok := v[leaf]; ok {
			s, ok := value.(string)
			if !ok {
				return nil, errorAt(at.inMember(leaf), "want a text")
			}
			return &Node{Op: leaf, Text: s, At: at}, nil
		}
	}
	if box, ok := v["bbox"]; ok && v["type"] == nil {
		numbers, err := floats(box, at.inMember("bbox"))
		if err != nil {
			return nil, err
		}
		b, err := boxOf(numbers, at.inMember("bbox"))
		return &Node{Op: Geometry, Shape: &Shape{Box: b}, At: at}, err
	}
	if v["type"] != nil {
		t, err := tree(v, at, 0)
		return &Node{Op: Geometry, Shape: &Shape{Tree: t}, At: at}, err
	}
	op, ok := v["op"].(string)
	if !ok {
		return nil, errorAt(at, "want an object with op and args, property, date, timestamp, bbox, or a geometry")
	}
	args, ok := v["args"].([]any)
	if !ok {
		return nil, errorAt(at.inMember("args"), "want a list of operands")
	}
	return p.operation(op, args, at, depth)
}

func (p *jsonParser) operation(op string, args []any, at Place, depth int) (*Node, error) {
	want, ok := arities[op]
	if !ok {
		want = [2]int{2, 2}
		if op == "-" {
			want[0] = 1
		}
	}
	if len(args) < want[0] || len(args) > want[1] {
		return nil, errorAt(at.inMember("args"), "%.40q has %d operands, not %d", op, want[0], len(args))
	}
	n := &Node{Op: op, At: at}
	if op == "-" && len(args) == 1 {
		n.Op, n.Args = "*", []*Node{{Op: Number, Text: "-1", At: at}}
	}
	in := at.inMember("args")
	for i, a := range args {
		elements, isList := a.([]any)
		if op == "in" && i == 1 {
			if !isList || len(elements) == 0 {
				return nil, errorAt(in.inElement(1), "want a list of values")
			}
			for k, e := range elements {
				x, err := p.node(e, in.inElement(1).inElement(k), depth+1)
				if err != nil {
					return nil, err
				}
				n.Args = append(n.Args, x)
			}
			continue
		}
		x, err := p.node(a, in.inElement(i), depth+1)
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, x)
	}
	return n, nil
}

// floats returns the numbers of a list.
func floats(v any, at Place) ([]float64, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errorAt(at, "want a list of numbers")
	}
	out := make([]float64, 0, len(list))
	for i, e := range list {
		n, ok := e.(json.Number)
		if !ok {
			return nil, errorAt(at.inElement(i), "want a number")
		}
		f, err := n.Float64()
		if err != nil {
			return nil, errorAt(at.inElement(i), "a number out of range")
		}
		out = append(out, f)
	}
	return out, nil
}

// tree returns the geometry of a GeoJSON object.
func tree(v map[string]any, at Place, depth int) (t geoarrow.Tree, err error) {
	name, _ := v["type"].(string)
	t.Kind = kinds[strings.ToLower(name)]
	switch {
	case t.Kind == geoarrow.NoKind || t.Kind.String() != name:
		return t, errorAt(at.inMember("type"), "%.40q is not a type of geometries", name)
	case depth > 8:
		return t, errorAt(at, "collections are nested too deep")
	}
	if t.Kind == geoarrow.GeometryCollection {
		in := at.inMember("geometries")
		list, ok := v["geometries"].([]any)
		if !ok || len(list) == 0 {
			return t, errorAt(in, "want a list of geometries")
		}
		for i, e := range list {
			o, ok := e.(map[string]any)
			if !ok {
				return t, errorAt(in.inElement(i), "want a geometry")
			}
			m, err := tree(o, in.inElement(i), depth+1)
			if err != nil {
				return t, err
			}
			t.Members = append(t.Members, m)
			t.Dim |= m.Dim
		}
		return t, nil
	}
	in := at.inMember("coordinates")
	if err := coordinates(&t, v["coordinates"], in); err != nil {
		return t, err
	}
	return t, checkShape(&t, in)
}

// coordinates sets the coordinates of a geometry other than a collection.
func coordinates(t *geoarrow.Tree, v any, at Place) error {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return errorAt(at, "want a list of coordinates")
	}
	each := func(list []any, at Place, f func(e any, at Place) error) error {
		for i, e := range list {
			if err := f(e, at.inElement(i)); err != nil {
				return err
			}
		}
		return nil
	}
	position := func(e any, at Place) error {
		v, err := floats(e, at)
		if err != nil {
			return err
		}
		return addPosition(t, v, at)
	}
	run := func(e any, at Place) error {
		positions, ok := e.([]any)
		if !ok || len(positions) == 0 {
			return errorAt(at, "want a list of positions")
		}
		t.Runs = append(t.Runs, nil)
		return each(positions, at, position)
	}
	switch {
	case t.Kind.IsMulti():
		return each(list, at, func(e any, at Place) error {
			m := geoarrow.Tree{Kind: t.Kind - 3}
			err := coordinates(&m, e, at)
			t.Members = append(t.Members, m)
			t.Dim |= m.Dim
			return err
		})
	case t.Kind == geoarrow.Polygon:
		return each(list, at, run)
	case t.Kind == geoarrow.Point:
		t.Runs = make([][]float64, 1)
		return position(v, at)
	}
	return run(v, at)
}
