package csv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// Names of columns that may be the geometry, in any case. Those in front are preferred.
var (
	cellNames = [...]string{"wkt", "geom", "geometry", "the_geom", "wkb", "wkb_geometry"}
	xNames    = [...]string{"lon", "lng", "long", "longitude"}
	yNames    = [...]string{"lat", "latitude"}
)

// candidate is a column, or a pair of them, that is the geometry if its first values fit its name.
type candidate struct {
	cell int // -1: x and y
	x, y int
	form geometryForm // of the cell; noGeometry: what the first value is
}

// findGeometry decides which columns are the geometry: those of the options, else those of the first candidate whose first values are geometries or ordinates.
func (d *dialect) findGeometry(ctx context.Context, src *source.File, opts readers.Options) error {
	d.fields = make([]use, len(d.names))
	for i := range d.fields {
		d.fields[i] = useAttribute
	}
	list, given, err := d.given(opts)
	if err != nil || opts.Get(optGeometry) == "none" {
		return err
	}
	if !given {
		list = d.candidates(formOf(opts))
	}
	if len(list) == 1 && given && (list[0].cell < 0 || list[0].form != noGeometry) {
		d.take(list[0], list[0].form)
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	l := locator{text: text{dialect: d, decoder: newDecoder(d.charset)}, list: list, seen: make([]finding, len(d.names))}
	found, form, err := l.look(ctx, src)
	switch {
	case err != nil:
		return err
	case found != nil:
		d.take(*found, form)
	case given: // no value is a geometry
		d.take(list[0], wktCells)
	}
	return nil
}

// take makes a candidate the geometry.
func (d *dialect) take(c candidate, form geometryForm) {
	if d.geometry = form; c.cell < 0 {
		d.geometry = points
		d.use(c.x, useX)
		d.use(c.y, useY)
		return
	}
	d.use(c.cell, useCell)
}

func (d *dialect) use(i int, u use) {
	if !d.keep {
		d.fields[i] &^= useAttribute
	}
	d.fields[i] |= u
	d.shape = append(d.shape, i)
	slices.Sort(d.shape)
}

// given is the candidate that the options name.
func (d *dialect) given(opts readers.Options) (list []candidate, ok bool, err error) {
	lat, lon, cell := opts.Get(optLatitude), opts.Get(optLongitude), opts.Get(optGeometry)
	named := cell != auto && cell != "none"
	switch {
	case (lat == "") != (lon == ""):
		return nil, false, &readers.OptionError{Option: optLatitude, Err: fmt.Errorf("%s and %s are given together or not at all", optLatitude, optLongitude)}
	case lat != "" && cell != auto:
		return nil, false, &readers.OptionError{Option: optGeometry, Err: fmt.Errorf("%s and %s say where the geometry is", optLatitude, optLongitude)}
	case lat != "":
		c := candidate{cell: -1}
		if c.y, err = d.column(optLatitude, lat); err == nil {
			c.x, err = d.column(optLongitude, lon)
		}
		if err == nil && c.x == c.y {
			err = &readers.OptionError{Option: optLongitude, Err: fmt.Errorf("%q is the %s", lon, optLatitude)}
		}
		return []candidate{c}, true, err
	case named:
		i, err := d.column(optGeometry, cell)
		return []candidate{{cell: i, form: formOf(opts)}}, true, err
	}
	return nil, false, nil
}

// formOf is what the options say of cells.
func formOf(opts readers.Options) geometryForm {
	switch opts.Get(optGeometryFormat) {
	case "wkt":
		return wktCells
	case "wkb":
		return wkbCells
	}
	return noGeometry
}

// column is the number of the column that an option names.
func (d *dialect) column(option, name string) (int, error) {
	for i, n := range d.names {
		if string(n) == name {
			return i, nil
		}
	}
	return 0, &readers.OptionError{Option: option, Err: fmt.Errorf("the file has no column %q; it has %q", name, bytes.Join(d.names, []byte(", ")))}
}

// candidates are the columns whose names say that they may be the geometry: cells in the order of cellNames; then pairs without a prefix in the order of the names; then
// x and y; then pairs with a prefix in the order of the columns.
func (d *dialect) candidates(form geometryForm) (list []candidate) {
	lower := make([]string, len(d.names))
	first := map[string]int{}
	for i := len(d.names) - 1; i >= 0; i-- {
		lower[i] = strings.ToLower(strings.TrimSpace(string(d.names[i])))
		first[lower[i]] = i
	}
	for _, name := range cellNames {
		if i, ok := first[name]; ok {
			list = append(list, candidate{cell: i, form: form})
		}
	}
	pairs := func(prefix string) {
		for _, xName := range xNames {
			for _, yName := range yNames {
				x, okX := first[prefix+xName]
				y, okY := first[prefix+yName]
				if okX && okY {
					list = append(list, candidate{cell: -1, x: x, y: y})
				}
			}
		}
	}
	pairs("")
	if x, ok := first["x"]; ok {
		if y, ok := first["y"]; ok {
			list = append(list, candidate{cell: -1, x: x, y: y})
		}
	}
	tried := map[string]bool{"": true}
	for _, name := range lower {
		if cut := strings.LastIndexAny(name, "_-. "); cut >= 0 && !tried[name[:cut+1]] {
			tried[name[:cut+1]] = true
			pairs(name[:cut+1])
		}
	}
	return list
}

// locator reads records until the candidates are decided.
type locator struct {
	text
	list  []candidate
	seen  []finding // by column
	fresh []int     // columns whose finding is of the record at hand
	bad   bool      // the record at hand is not in the encoding
}

// finding is what the first value of a column that is not null is.
type finding uint8

const (
	nothing finding = iota // no value so far
	isText
	isNumber
	isWKT
	isWKB
)

// look gives the candidate that is the geometry, or nil. A malformed record ends the search, as it ends the parse; under on_error: skip it has no say.
func (l *locator) look(ctx context.Context, src *source.File) (*candidate, geometryForm, error) {
	if _, err := l.begin(ctx, src); err != nil {
		return nil, noGeometry, err
	}
	p := l.MoveTo(l.first)
	if p < 0 {
		return nil, noGeometry, l.Err
	}
	for p < l.N {
		if p = l.next(p); p < 0 && l.Err != nil {
			return nil, noGeometry, l.Err
		}
		if c, form, done := l.decide(p < 0); done {
			return c, form, nil
		}
	}
	c, form, _ := l.decide(true)
	return c, form, nil
}

// next looks at the record at p and gives the index of the next one, or -1.
func (l *locator) next(p int) int {
	at := l.Base + int64(p)
	next, n := l.record(p, l.field)
	if !l.skipErrors || next >= 0 && !l.bad && (n == len(l.seen) || l.pad) {
		return next
	}
	l.forget()
	if next >= 0 || l.Err != nil || l.fault.file {
		return next
	}
	for p = l.MoveTo(at); p >= 0; p = 0 {
		if end := l.pass(p); end >= 0 {
			return l.lineEnds(end)
		}
		if !l.fault.cut || !l.Fill(p) {
			break
		}
	}
	return -1
}

// forget takes back what the record at hand showed.
func (l *locator) forget() {
	for _, i := range l.fresh {
		l.seen[i] = nothing
	}
}

// field looks at a field, if it is the first value of its column.
func (l *locator) field(i int, c cell) {
	if i == 0 { // a record that the window cut begins anew
		l.fresh, l.bad = l.fresh[:0], false
	}
	if l.skipErrors && c.high && !l.bad {
		_, ok := l.bytes(c)
		l.bad = !ok
	}
	if i >= len(l.seen) || l.seen[i] != nothing {
		return
	}
	b, ok := l.bytes(c)
	if b = trim(b); !ok || nullLike(b) {
		return
	}
	l.seen[i], l.fresh = isText, append(l.fresh, i)
	if _, isInf := special(b); isInf {
		return
	}
	if _, ok := l.number(b, true); ok {
		l.seen[i] = isNumber // unless it is WKB that happens to have no letters
	}
	switch {
	case wkt.Begins(b):
		l.seen[i] = isWKT
	case geoarrow.IsHexWKB(b):
		l.seen[i] = isWKB
	}
}

// decide goes through the candidates up to one that has shown too little, unless nothing more comes. Those before it are none, and not looked at again.
func (l *locator) decide(last bool) (found *candidate, form geometryForm, done bool) {
	for i := range l.list {
		switch c := &l.list[i]; {
		case c.cell >= 0 && l.seen[c.cell] == isWKT && c.form != wkbCells:
			return c, wktCells, true
		case c.cell >= 0 && l.seen[c.cell] == isWKB && c.form != wktCells:
			return c, wkbCells, true
		case c.cell < 0 && l.seen[c.x] == isNumber && l.seen[c.y] == isNumber:
			return c, points, true
		case c.cell >= 0 && l.seen[c.cell] == nothing, c.cell < 0 && (l.seen[c.x] == nothing || l.seen[c.y] == nothing):
			if !last {
				l.list = l.list[i:]
				return nil, noGeometry, false
			}
			l.settled = false // a value may follow behind the end of the file
		}
	}
	return nil, noGeometry, true
}
