package xlsx

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// shape is how the geometry of a table is written.
type shape uint8

const (
	noShape    shape = iota
	pointShape       // x and y in a column each
	wktShape
	wkbShape    // hexadecimal
	latLonShape // "(40.7, -73.9)"
)

// plan is what the first rows say about a table.
type plan struct {
	first int      // sheet row of the table's first row
	names []string // of the columns so far; one beyond the header is called Field3 by its number
	width int      // number of columns in the first rows
	used  map[string]bool
	tried map[string]int // numbers that were tried at the end of a name: a sheet may have 16,384 equal ones
	heads []head         // the first value of each column in the sample

	shape shape
	x, y  int // columns of the geometry; x is that of a cell
	keep  bool
}

// sampleRows are the rows that decide about the header and the geometry.
const sampleRows = 1000

// newPlan decides by the rows of the block, which are the first of a sheet.
func newPlan(r *sheetReader) (*plan, error) {
	o := &r.book.geometry
	p := &plan{first: 1, used: map[string]bool{}, tried: map[string]int{}, keep: o.keep}
	if len(r.block.rows) > 0 && (o.header == "true" || o.header == auto && isHeader(r)) {
		header := r.block.rows[0]
		p.first = header.number + 1
		p.setNames(r, r.block.cells[header.from:header.to])
	}
	for i := len(p.names); i < r.columns; i++ {
		p.nameOf(i)
	}
	p.width = len(p.names)
	p.findHeads(r)
	return p, p.findGeometry(r)
}

// isHeader reports whether the first row names the columns: each of its cells, up to the last, is a
// text, no two are equal, and another row that is not longer follows it directly.
func isHeader(r *sheetReader) bool {
	if len(r.block.rows) < 2 || r.block.rows[1].number != r.block.rows[0].number+1 {
		return false
	}
	first, second := r.block.rows[0], r.block.rows[1]
	if last := r.block.cells[second.to-1].column; int(last) >= first.to-first.from {
		return false
	}
	seen := map[string]bool{}
	for i, c := range r.block.cells[first.from:first.to] {
		text := string(r.textOf(&c))
		if int(c.column) != i || c.kind != kindShared && c.kind != kindText || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// setNames names the columns by the cells of a header.
func (p *plan) setNames(r *sheetReader, cells []cell) {
	given := make([]string, int(cells[len(cells)-1].column)+1)
	for i := range cells {
		given[cells[i].column] = string(r.textOf(&cells[i]))
	}
	for _, name := range given {
		p.used[name] = true // before a name is made
	}
	taken := map[string]bool{}
	for i, name := range given {
		if name == "" || taken[name] {
			if name == "" {
				name = "Field" + strconv.Itoa(i+1)
			}
			name = p.unused(name)
		}
		taken[name], p.used[name] = true, true
		p.names = append(p.names, name)
	}
}

// unused returns a name, with a number if it is used.
func (p *plan) unused(name string) string {
	free := name
	for p.used[free] {
		p.tried[name]++
		free = name + "_" + strconv.Itoa(p.tried[name])
	}
	return free
}

// nameOf returns the name of column i.
func (p *plan) nameOf(i int) string {
	for len(p.names) <= i {
		name := p.unused("Field" + strconv.Itoa(len(p.names)+1))
		p.used[name] = true
		p.names = append(p.names, name)
	}
	return p.names[i]
}

// isShape reports whether a column is of the geometry.
func (p *plan) isShape(i int) bool {
	return p.shape != noShape && (i == p.x || p.shape == pointShape && i == p.y)
}

// findGeometry finds the columns of the geometry, by the options or by names and values.
func (p *plan) findGeometry(r *sheetReader) (err error) {
	o := &r.book.geometry
	switch {
	case o.cell == "none":
		return nil
	case o.latitude != "":
		p.shape = pointShape
		if p.y, err = p.column(optLatitude, o.latitude); err == nil {
			p.x, err = p.column(optLongitude, o.longitude)
		}
		return err
	case o.cell != auto:
		if p.x, err = p.column(optGeometry, o.cell); err != nil {
			return err
		}
		if p.shape = p.cellShape(r, csv.Guess{Cell: p.x}); p.shape == noShape {
			p.shape = wktShape
		}
		return nil
	}
	for _, g := range csv.Guesses(p.names) {
		switch {
		case g.Cell >= 0:
			if s := p.cellShape(r, g); s != noShape {
				p.shape, p.x = s, g.Cell
				return nil
			}
		case p.isOrdinate(g, g.X, 180) && p.isOrdinate(g, g.Y, 90):
			p.shape, p.x, p.y = pointShape, g.X, g.Y
			return nil
		}
	}
	return nil
}

// column returns the number of the column that an option names.
func (p *plan) column(option, name string) (int, error) {
	if i := slices.Index(p.names, name); i >= 0 {
		return i, nil
	}
	return 0, &readers.OptionError{
		Option: option, Err: fmt.Errorf("the sheet has no column %q; it has %q", name, strings.Join(p.names, ", ")),
	}
}

// head is the first value of a column that is not null.
type head struct {
	cell cell
	text []byte // nil: there is none
}

// findHeads finds the first values of all columns.
func (p *plan) findHeads(r *sheetReader) {
	p.heads = make([]head, p.width)
	for _, row := range r.block.rows {
		if row.number < p.first {
			continue
		}
		for _, c := range r.block.cells[row.from:row.to] {
			if h := &p.heads[c.column]; h.text == nil && c.kind != kindError && c.kind != kindMissing {
				if text := bytes.TrimSpace(r.textOf(&c)); !csv.IsNull(text) {
					*h = head{c, bytes.Clone(text)}
				}
			}
		}
	}
}

// isOrdinate reports whether the first value of a column is an ordinate. most is the maximum in
// degrees.
func (p *plan) isOrdinate(g csv.Guess, column int, most float64) bool {
	c, text := p.heads[column].cell, p.heads[column].text
	if text == nil || c.kind == kindNumber && c.style != formatNumber || c.kind == kindBool || c.kind == kindDate {
		return false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return err == nil && !(g.Ranged && math.Abs(v) > most) && !(g.Widths && v == math.Trunc(v))
}

// cellShape returns the form of the first value of a column; noShape if it is not a geometry.
func (p *plan) cellShape(r *sheetReader, g csv.Guess) shape {
	form := r.book.geometry.form
	c, text := p.heads[g.Cell].cell, p.heads[g.Cell].text
	switch {
	case text == nil, c.kind != kindShared && c.kind != kindText:
		if form == "wkb" {
			return wkbShape
		}
	case wkt.Begins(text) && form != "wkb":
		return wktShape
	case geoarrow.IsHexWKB(text) && form != "wkt":
		return wkbShape
	case g.LatLon && form == auto:
		if lat, lon, ok := latLon(text); ok && math.Abs(lat) <= 90 && math.Abs(lon) <= 180 {
			return latLonShape
		}
	}
	return noShape
}

// latLon reads a latitude and a longitude with a comma between, in brackets or not.
func latLon(text []byte) (lat, lon float64, ok bool) {
	if n := len(text); n > 1 && text[0] == '(' && text[n-1] == ')' {
		text = text[1 : n-1]
	}
	first, second, found := bytes.Cut(text, []byte(","))
	lat, err1 := strconv.ParseFloat(string(bytes.TrimSpace(first)), 64)
	lon, err2 := strconv.ParseFloat(string(bytes.TrimSpace(second)), 64)
	return lat, lon, found && err1 == nil && err2 == nil && !math.IsNaN(lat-lon) && !math.IsInf(lat-lon, 0)
}
