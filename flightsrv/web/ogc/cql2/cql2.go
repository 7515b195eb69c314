// Package cql2 reads filters of features in the Common Query Language (OGC 21-065r2), as text and as
// JSON, and compiles them to SQL. It accepts:
//
//	logic        AND, OR, NOT
//	comparison   = <> < > <= >=, IS NULL, LIKE, BETWEEN, IN
//	text         CASEI, ACCENTI
//	arithmetic   + - * / % DIV ^
//	space        S_INTERSECTS and the other functions of simple features, with a literal geometry
//	literals     numbers, texts, TRUE, FALSE, DATE, TIMESTAMP, BBOX and geometries
//
// It refuses functions of time and arrays, and functions that a server defines itself.
package cql2

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Limits of a filter.
const (
	MaxBytes = 16 << 10 // of its text
	maxDepth = 64       // of expressions in each other
	maxNodes = 5000
)

// Node is an expression. Operators have the names of CQL2 JSON.
type Node struct {
	Op    string  // "and", "=", "like", …, "s_intersects", or one of the following constants
	Args  []*Node // operands
	Text  string  // of a property or a literal
	Shape *Shape  // of a literal geometry
	At    Place   // in the filter
}

// Operators of nodes without operands.
const (
	Property  = "property"
	String    = "string"
	Number    = "number"
	Boolean   = "boolean" // its Text is "true" or "false"
	Date      = "date"
	Timestamp = "timestamp"
	Geometry  = "geometry"
)

// Shape is a geometry in a filter, with x first.
type Shape struct {
	geoarrow.Tree
	// Box is xmin, ymin, xmax, ymax of BBOX(…), whose Tree is empty. xmin > xmax is a box that crosses
	// the antimeridian.
	Box *[4]float64
	CRS string // URI of its reference system; empty: that of the filter
	// Meets means that only the part of the box matters that is near the features.
	Meets bool
}

// Place is a position in a filter.
type Place struct {
	Byte int    // in text, from 0
	Path string // in JSON, as "args[0].args[1]"; may be empty at its root
	JSON bool
}

func (p Place) String() string {
	switch {
	case !p.JSON:
		return fmt.Sprintf("byte %d", p.Byte)
	case p.Path == "":
		return "the whole expression"
	}
	return p.Path
}

// Error says what is wrong with a filter.
type Error struct {
	At   Place
	What string
	// Unsupported means that the filter is valid, and that this server can't evaluate it.
	Unsupported bool
}

func (e *Error) Error() string { return fmt.Sprintf("filter, %s: %s", e.At, e.What) }

func errorAt(p Place, format string, args ...any) *Error {
	return &Error{At: p, What: fmt.Sprintf(format, args...)}
}

// And joins conditions; nil without any.
func And(conditions ...*Node) *Node {
	var args []*Node
	for _, n := range conditions {
		if n != nil {
			args = append(args, n)
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return &Node{Op: "and", Args: args, At: args[0].At}
}
