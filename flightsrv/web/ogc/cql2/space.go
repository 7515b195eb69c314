package cql2

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// spatial are the functions of two geometries, with their names in SQL.
var spatial = map[string]string{
	"s_intersects": "ST_Intersects", "s_equals": "ST_Equals", "s_disjoint": "ST_Disjoint",
	"s_touches": "ST_Touches", "s_within": "ST_Within", "s_overlaps": "ST_Overlaps", "s_crosses": "ST_Crosses",
	"s_contains": "ST_Contains",
}

// operands returns the literal of a function of the features' geometry and a literal. swapped means
// that the literal comes first.
func (c *compiler) operands(n *Node) (literal *Node, swapped bool, err error) {
	if len(n.Args) != 2 {
		return nil, false, errorAt(n.At, "%s has two operands, not %d", strings.ToUpper(n.Op), len(n.Args))
	}
	geometries := 0
	for i, a := range n.Args {
		if a.Op == Geometry {
			literal, swapped = a, i == 0
			continue
		}
		_, t, err := c.value(a)
		if err != nil {
			return nil, false, err
		}
		if t != GeometryType {
			return nil, false, errorAt(a.At, "it is %v, where a geometry is expected", t)
		}
		geometries++
	}
	if literal == nil || geometries != 1 {
		return nil, false, errorAt(n.At, "%s compares the geometry of features with a literal", strings.ToUpper(n.Op))
	}
	return literal, swapped, nil
}

// place returns the literal of a function in the reference system of the features.
func (c *compiler) place(n, literal *Node) ([]Shape, error) {
	s := *literal.Shape
	s.Meets = n.Op == "s_intersects" || n.Op == "s_disjoint"
	return c.schema.Place(s)
}

// boxes returns the boxes of S_INTERSECTS of the geometry and a box or a point. ok is false for any
// other literal.
func (c *compiler) boxes(n *Node) (boxes []Rect, ok bool, err error) {
	literal, _, err := c.operands(n)
	if err != nil {
		return nil, false, err
	}
	shapes, err := c.place(n, literal)
	if err != nil {
		return nil, false, err
	}
	for _, s := range shapes {
		switch {
		case s.Box != nil:
			boxes = append(boxes, *s.Box)
		case s.Kind == geoarrow.Point:
			x, y := s.Runs[0][0], s.Runs[0][1]
			boxes = append(boxes, Rect{x, y, x, y})
		default:
			return nil, false, nil
		}
	}
	return boxes, true, nil
}

// space returns the SQL of a function of two geometries.
func (c *compiler) space(n *Node) (string, error) {
	literal, swapped, err := c.operands(n)
	if err != nil {
		return "", err
	}
	if n.Op == "s_intersects" || n.Op == "s_disjoint" {
		boxes, ok, err := c.boxes(n)
		if err != nil {
			return "", err
		}
		if ok {
			c.out.Tests = append(c.out.Tests, boxes)
			sql := "b" + strconv.Itoa(len(c.out.Tests)-1)
			if n.Op == "s_disjoint" {
				sql = "(NOT " + sql + ")"
			}
			return sql, nil
		}
	}
	if !c.schema.Spatial {
		return "", &Error{
			At: n.At, Unsupported: true, What: strings.ToUpper(n.Op) + " with this geometry needs DuckDB's spatial " +
				"extension (--duckdb-extensions); S_INTERSECTS with a BBOX or a POINT does not",
		}
	}
	shapes, err := c.place(n, literal)
	if err != nil {
		return "", err
	}
	if len(shapes) > 1 && n.Op != "s_intersects" {
		return "", errorAt(literal.At, "a box across the antimeridian is for S_INTERSECTS and S_DISJOINT only")
	}
	c.out.Shapes = true
	var terms []string
	for _, s := range shapes {
		t := s.Tree
		if s.Box != nil {
			t = boxTree(*s.Box)
		}
		args := []string{"geometry", "ST_GeomFromText('" + WKT(&t) + "')"}
		if swapped {
			args[0], args[1] = args[1], args[0]
		}
		terms = append(terms, fmt.Sprintf("%s(%s)", spatial[n.Op], strings.Join(args, ", ")))
	}
	return "(" + strings.Join(terms, " OR ") + ")", nil
}

// addBounds adds the bounds of the literal of a function to the conditions: a geometry that meets
// the literal meets its bounds.
func (c *compiler) addBounds(n *Node) {
	literal, _, err := c.operands(n)
	if err != nil {
		return
	}
	shapes, err := c.place(n, literal)
	if err != nil {
		return
	}
	var boxes []Rect
	for _, s := range shapes {
		b, ok := s.Bounds()
		if s.Box != nil {
			b, ok = *s.Box, true
		}
		if !ok {
			return
		}
		boxes = append(boxes, b)
	}
	c.out.Boxes = append(c.out.Boxes, boxes)
}

// boxTree returns a box as a polygon, or as a point or a line if it has no area.
func boxTree(b Rect) geoarrow.Tree {
	switch {
	case b[0] == b[2] && b[1] == b[3]:
		return geoarrow.Tree{Kind: geoarrow.Point, Runs: [][]float64{{b[0], b[1]}}}
	case b[0] == b[2] || b[1] == b[3]:
		return geoarrow.Tree{Kind: geoarrow.LineString, Runs: [][]float64{{b[0], b[1], b[2], b[3]}}}
	}
	return geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{{
		b[0], b[1], b[2], b[1], b[2], b[3], b[0], b[3], b[0], b[1],
	}}}
}
