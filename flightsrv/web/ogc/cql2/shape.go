package cql2

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// kinds are the names of geometries in WKT, in lower case.
var kinds = func() map[string]geoarrow.Kind {
	names := map[string]geoarrow.Kind{}
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		names[strings.ToLower(k.String())] = k
	}
	return names
}()

// isShape reports whether a word begins a geometry in WKT.
func isShape(w string) bool { return kinds[strings.ToLower(w)] != geoarrow.NoKind }

// shape parses a geometry in WKT, or BBOX(…).
func (p *textParser) shape(depth int) (Shape, error) {
	t := p.take()
	if t.is("bbox") {
		box, err := p.box()
		return Shape{Box: box}, err
	}
	s := Shape{Tree: geoarrow.Tree{Kind: kinds[strings.ToLower(t.text)]}}
	switch {
	case s.Kind == geoarrow.NoKind:
		p.next--
		return s, p.unexpected("a geometry")
	case depth > 8:
		return s, errorAt(Place{Byte: t.at}, "collections are nested too deep")
	}
	p.accept("z")
	if s.Kind == geoarrow.GeometryCollection {
		return s, p.each(func() error {
			m, err := p.shape(depth + 1)
			if err == nil && m.Box != nil {
				err = errorAt(Place{Byte: t.at}, "a BBOX in a collection")
			}
			s.Members = append(s.Members, m.Tree)
			s.Dim |= m.Dim
			return err
		})
	}
	if err := p.coordinates(&s.Tree); err != nil {
		return s, err
	}
	return s, checkShape(&s.Tree, Place{Byte: t.at})
}

// box parses the four or six numbers of BBOX.
func (p *textParser) box() (*[4]float64, error) {
	at := Place{Byte: p.peek().at}
	var v []float64
	err := p.each(func() error {
		f, err := p.float()
		v = append(v, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return boxOf(v, at)
}

// boxOf returns the box of four or six numbers. Heights are ignored.
func boxOf(v []float64, at Place) (*[4]float64, error) {
	switch {
	case len(v) == 6:
		v = []float64{v[0], v[1], v[3], v[4]}
	case len(v) != 4:
		return nil, errorAt(at, "a box has four or six numbers, not %d", len(v))
	}
	if v[1] > v[3] {
		return nil, errorAt(at, "the box's lower bound of y, %v, is above the upper one, %v", v[1], v[3])
	}
	return &[4]float64{v[0], v[1], v[2], v[3]}, nil
}

// each parses elements in parentheses, with commas between them.
func (p *textParser) each(element func() error) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if !p.accept(",") {
			return p.expect(")")
		}
	}
}

// coordinates parses the coordinates of a geometry other than a collection.
func (p *textParser) coordinates(t *geoarrow.Tree) error {
	if t.Kind.IsMulti() {
		return p.each(func() error {
			m := geoarrow.Tree{Kind: t.Kind - 3}
			var err error
			if m.Kind == geoarrow.Point && !p.peek().is("(") { // MULTIPOINT(1 2, 3 4)
				m.Runs = make([][]float64, 1)
				err = p.position(&m)
			} else {
				err = p.coordinates(&m)
			}
			t.Members = append(t.Members, m)
			t.Dim |= m.Dim
			return err
		})
	}
	run := func() error {
		t.Runs = append(t.Runs, nil)
		return p.each(func() error { return p.position(t) })
	}
	if t.Kind == geoarrow.Polygon {
		return p.each(run)
	}
	return run()
}

// position parses a position, and appends it to the last run.
func (p *textParser) position(t *geoarrow.Tree) error {
	at := Place{Byte: p.peek().at}
	var v []float64
	for len(v) < 2 || p.peek().kind == number || p.peek().is("-") || p.peek().is("+") {
		f, err := p.float()
		if err != nil {
			return err
		}
		v = append(v, f)
	}
	return addPosition(t, v, at)
}

// addPosition appends a position to the last run of a geometry.
func addPosition(t *geoarrow.Tree, v []float64, at Place) error {
	last := len(t.Runs) - 1
	first := last == 0 && len(t.Runs[0]) == 0
	switch {
	case len(v) < 2 || len(v) > 3:
		return errorAt(at, "a position has two or three numbers, not %d", len(v))
	case first && len(v) == 3:
		t.Dim = geoarrow.XYZ
	case len(v) != t.Dim.Size():
		return errorAt(at, "positions of one geometry have different numbers of ordinates")
	}
	t.Runs[last] = append(t.Runs[last], v...)
	return nil
}

// checkShape returns an error for lines and rings that are too short, and rings that are not closed.
func checkShape(t *geoarrow.Tree, at Place) error {
	n := t.Dim.Size()
	for _, run := range t.Runs {
		switch positions := len(run) / n; {
		case t.Kind == geoarrow.Point && positions != 1:
			return errorAt(at, "a point has one position, not %d", positions)
		case t.Kind == geoarrow.LineString && positions < 2:
			return errorAt(at, "a line has two positions or more")
		case t.Kind == geoarrow.Polygon && positions < 4:
			return errorAt(at, "a ring has four positions or more")
		case t.Kind == geoarrow.Polygon && !slices.Equal(run[:n], run[len(run)-n:]):
			return errorAt(at, "a ring is not closed")
		}
	}
	if len(t.Runs) == 0 && len(t.Members) == 0 {
		return errorAt(at, "a geometry without positions")
	}
	for i := range t.Members {
		if t.Members[i].Dim != t.Dim && t.Kind != geoarrow.GeometryCollection {
			return errorAt(at, "positions of one geometry have different numbers of ordinates")
		}
		if err := checkShape(&t.Members[i], at); err != nil {
			return err
		}
	}
	return nil
}

// WKT returns the text of a geometry, in x and y.
func WKT(t *geoarrow.Tree) string {
	return string(appendBody(append([]byte(strings.ToUpper(t.Kind.String())), ' '), t))
}

func appendBody(b []byte, t *geoarrow.Tree) []byte {
	n := t.Dim.Size()
	b = append(b, '(')
	for i := range t.Members {
		if i > 0 {
			b = append(b, ',')
		}
		if t.Kind == geoarrow.GeometryCollection {
			b = append(b, WKT(&t.Members[i])...)
		} else {
			b = appendBody(b, &t.Members[i])
		}
	}
	for i, run := range t.Runs {
		if i > 0 {
			b = append(b, ',')
		}
		if t.Kind == geoarrow.Polygon {
			b = append(b, '(')
		}
		for k := 0; k < len(run); k += n {
			if k > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, run[k], 'g', -1, 64)
			b = append(b, ' ')
			b = strconv.AppendFloat(b, run[k+1], 'g', -1, 64)
		}
		if t.Kind == geoarrow.Polygon {
			b = append(b, ')')
		}
	}
	return append(b, ')')
}
