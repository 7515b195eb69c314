package csv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// candidate is a column or pair of columns that is the geometry if its first values fit its name.
type candidate struct {
	cell int // -1: x and y
	x, y int
	form geometryForm // of the cell; noGeometry: as the first value

	fresh   bool // of moreCandidates: ordinates in degrees must be in range
	degrees bool // ordinates are degrees, by their names
	widths  bool // the first values must also have a fraction
	latLon  bool // the cell may hold a latitude and a longitude
}

// findGeometry chooses the columns of the geometry: those of the options, else those of the first
// candidate whose first values are geometries or ordinates.
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
	d.guessed = !given
	if len(list) == 1 && given && (list[0].cell < 0 && !d.eitherPoint || list[0].cell >= 0 &&
		list[0].form != noGeometry) {
		d.take(list[0], list[0].form)
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	l := locator{
		text: text{dialect: d, decoder: newDecoder(d.charset)}, list: list,
		seen: make([]valueForm, len(d.names)),
	}
	if d.pad || d.repair { // as the parser reads it
		l.extra = len(d.names)
	}
	found, form, err := l.look(ctx, src)
	switch {
	case err != nil:
		return err
	case found != nil:
		d.take(*found, form)
	case given && list[0].cell < 0:
		d.take(list[0], points)
	case given: // no value is a geometry
		d.take(list[0], wktCells)
	}
	return nil
}

// take chooses a candidate as the geometry.
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
	switch {
	case d.keep:
	case d.guessed:
		d.fields[i] = d.fields[i]&^useAttribute | useGuess
	default:
		d.fields[i] &^= useAttribute
	}
	d.fields[i] |= u
	d.shape = append(d.shape, i)
	slices.Sort(d.shape)
}

// given returns the candidate that the options name.
func (d *dialect) given(opts readers.Options) (list []candidate, ok bool, err error) {
	lat, lon, cell := opts.Get(optLatitude), opts.Get(optLongitude), opts.Get(optGeometry)
	named := cell != auto && cell != "none"
	switch {
	case (lat == "") != (lon == ""):
		return nil, false, &readers.OptionError{
			Option: optLatitude,
			Err:    fmt.Errorf("%s and %s are given together or not at all", optLatitude, optLongitude),
		}
	case lat != "" && cell != auto:
		return nil, false, &readers.OptionError{
			Option: optGeometry,
			Err:    fmt.Errorf("%s and %s say where the geometry is", optLatitude, optLongitude),
		}
	case lat != "":
		c := candidate{cell: -1, degrees: true}
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

// formOf returns the form of cells by the options.
func formOf(opts readers.Options) geometryForm {
	switch opts.Get(optGeometryFormat) {
	case "wkt":
		return wktCells
	case "wkb":
		return wkbCells
	case "geojson":
		return jsonCells
	}
	return noGeometry
}

// column returns the number of the column that an option names.
func (d *dialect) column(option, name string) (int, error) {
	for i, n := range d.names {
		if string(n) == name {
			return i, nil
		}
	}
	return 0, &readers.OptionError{Option: option, Err: fmt.Errorf("the file has no column %q; it has %q",
		name, bytes.Join(d.names, []byte(", ")))}
}

// candidates returns the columns that may be the geometry by their names. First are cells in the
// order of cellNames, then pairs without a prefix in the order of the names, then x and y, then
// pairs with a prefix in the order of the columns.
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
					list = append(list, candidate{cell: -1, x: x, y: y, degrees: true})
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
	return append(list, d.moreCandidates(form)...)
}
