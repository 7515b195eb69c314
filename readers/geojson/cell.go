package geojson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// Cell reads geometry objects in the cells of other formats. The zero value is ready.
type Cell struct{ s *scanner }

// CellError is a defect in the text of a geometry, and its position.
type CellError struct {
	Offset int   // byte in the text
	Depth  bool  // well-formed, but nested beyond the default of --max-depth
	Err    error // what was expected and what was found
}

func (e *CellError) Error() string { return e.Err.Error() }

func (e *CellError) Unwrap() error { return e.Err }

// Begins reports whether a text begins as a geometry object.
func Begins(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	names := jsonrows.Names(text, 1)
	return names["type"] && (names["coordinates"] || names["geometries"])
}

// Read reads a text that is a geometry object, with blanks around it, into the builder, without its
// end. Foreign members are ignored. Its error is a *CellError.
func (c *Cell) Read(g *geoarrow.GeometryBuilder, shapes *rows.Shapes, text []byte) (geoarrow.Kind, error) {
	if c.s == nil {
		c.s = parser{}.scanner(readers.Request{})
	}
	s := c.s
	s.Window.Set(text)
	s.Geom, s.Shapes, s.lastKind = g, shapes, geoarrow.Point
	s.Sink.Foreign = s.Sink.Foreign[:0]
	k, end := s.geometry(s.Space(0), 0)
	if end >= 0 {
		if end = s.Space(end); end < s.N {
			end = s.Wrong(end, "", "", "text after the geometry")
		}
	}
	if end >= 0 {
		return k, nil
	}
	f := &s.Fault
	e := &CellError{Offset: min(f.Pos, s.N), Depth: f.Depth, Err: errors.New(f.Want)}
	if !f.Bare {
		found := "the end of the text"
		if e.Offset < len(text) {
			found = window.Quote(text[e.Offset:])
		}
		e.Err = fmt.Errorf("want %s, found %s", f.Want, found)
	}
	return geoarrow.NoKind, e
}
