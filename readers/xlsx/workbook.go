package xlsx

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workbook is what is known of a file before any row. It is immutable.
type workbook struct {
	sheets   []sheet
	layers   []string // the names of the sheets, all different
	epoch    epoch
	styles   []format // of cells, by their s
	strings  stringTable
	geometry geometryOptions
}

// sheet is a worksheet.
type sheet struct {
	name string
	part string
}

// geometryOptions are the options about columns.
type geometryOptions struct {
	header, types, form string
	latitude, longitude string
	cell                string // auto, none or a name
	keep                bool
	crs                 geoarrow.CRS
	skip, null          bool
}

func (w *workbook) setOptions(opts readers.Options) error {
	w.geometry = geometryOptions{
		header: opts.Get(optHeader), types: opts.Get(optTypes), form: opts.Get(optGeometryFormat),
		latitude: opts.Get(optLatitude), longitude: opts.Get(optLongitude), cell: opts.Get(optGeometry),
		keep: opts.Get(optKeep) == "true", skip: opts.SkipErrors(), null: opts.NullErrors(),
	}
	g := &w.geometry
	if text := opts.Get(optCRS); text != "" {
		var ok bool
		if g.crs, ok = geoarrow.ParseCRS(text); !ok {
			return &readers.OptionError{Option: optCRS, Err: fmt.Errorf(
				"%q names no coordinate reference system; want one as EPSG:3857 or OGC:CRS84", text)}
		}
	}
	switch {
	case (g.latitude == "") != (g.longitude == ""):
		return &readers.OptionError{Option: optLatitude, Err: fmt.Errorf("%s and %s are given together or not at all",
			optLatitude, optLongitude)}
	case g.latitude != "" && g.cell != auto:
		return &readers.OptionError{Option: optGeometry, Err: fmt.Errorf("%s and %s say where the geometry is",
			optLatitude, optLongitude)}
	case g.latitude != "" && g.latitude == g.longitude:
		return &readers.OptionError{Option: optLongitude, Err: fmt.Errorf("%q is the %s", g.longitude, optLatitude)}
	}
	return nil
}

// relation is a relationship of a part to another one.
type relation struct {
	kind   string // the last word of its type: "worksheet"
	target string // the other part
}

// readWorkbook reads the workbook, its styles and its shared strings.
func readWorkbook(ctx context.Context, src *source.File) (*workbook, error) {
	names, err := partNames(src)
	if err != nil {
		return nil, err
	}
	main := "xl/workbook.xml"
	if !names.has(main) { // elsewhere, as the package's relationships say
		relations, err := readRelations(ctx, src, names.member("_rels/.rels"), "")
		if err != nil {
			return nil, err
		}
		for _, r := range relations {
			if r.kind == "officeDocument" {
				main = r.target
			}
		}
	}
	dir, base := path.Split(main)
	relations, err := readRelations(ctx, src, names.member(dir+"_rels/"+base+".rels"), dir)
	if err != nil {
		return nil, err
	}
	w := &workbook{}
	if err := w.readSheets(ctx, src, names.member(main), relations); err != nil {
		return nil, err
	}
	for i := range w.sheets {
		w.sheets[i].part = names.member(w.sheets[i].part)
	}
	for _, id := range slices.Sorted(keysOf(relations)) {
		r := relations[id]
		if !names.has(r.target) {
			continue // a sheet that is not there is an error when it is read
		}
		r.target = names.member(r.target)
		switch r.kind {
		case "styles":
			err = w.readStyles(ctx, src, r.target)
		case "sharedStrings":
			err = w.strings.read(ctx, src, r.target)
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// nameTable is the members of the archive by the names of parts.
type nameTable map[string]string

// partNames returns the members. Names of parts differ in more than the case of letters (part 2,
// section 6.2.2.3), and some programs write them with backslashes.
func partNames(src *source.File) (nameTable, error) {
	members, err := src.Members()
	if err != nil {
		return nil, packError(src, err)
	}
	names := nameTable{}
	for _, member := range members {
		if key := partKey(member); names[key] == "" {
			names[key] = member
		}
	}
	return names, nil
}

func partKey(name string) string { return strings.ToLower(strings.ReplaceAll(name, `\`, "/")) }

func (t nameTable) has(name string) bool { return t[partKey(name)] != "" }

// member returns the member of a part, or its name if it is not there.
func (t nameTable) member(name string) string {
	if member := t[partKey(name)]; member != "" {
		return member
	}
	return name
}

func keysOf(relations map[string]relation) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for id := range relations {
			if !yield(id) {
				return
			}
		}
	}
}

// readRelations reads a relationships part. Targets are relative to a folder.
func readRelations(ctx context.Context, src *source.File, name, dir string) (map[string]relation, error) {
	p, err := openPart(ctx, src, name, readers.Limits{})
	if err != nil {
		return nil, err
	}
	relations := map[string]relation{}
	ok := p.root("Relationships") && p.each(func(local []byte) bool {
		if string(local) != "Relationship" {
			return true
		}
		var r relation
		kind, _ := p.X.Attr("Type")
		r.kind = path.Base(string(kind))
		target, _ := p.X.Attr("Target")
		if r.target = string(target); strings.HasPrefix(r.target, "/") {
			r.target = r.target[1:]
		} else {
			r.target = path.Join(dir, r.target)
		}
		id, _ := p.X.Attr("Id")
		relations[string(id)] = r
		return true
	})
	if !ok {
		err = p.fault(-1)
	}
	return relations, p.close(err)
}

// readSheets reads the workbook part.
func (w *workbook) readSheets(ctx context.Context, src *source.File, main string, relations map[string]relation) error {
	p, err := openPart(ctx, src, main, readers.Limits{})
	if err != nil {
		return err
	}
	ok := p.root("workbook") && p.each(func(local []byte) bool {
		switch string(local) {
		case "workbookPr":
			if v, _ := p.X.Attr("date1904"); string(v) == "1" || string(v) == "true" {
				w.epoch = epoch1904
			}
		case "sheet":
			name, _ := p.X.Attr("name")
			s := sheet{name: string(name)}
			id, _ := p.relationID()
			r, found := relations[id]
			switch {
			case !found:
				return p.Wrong(p.X.At, "", "ECMA-376 part 1, section 18.2.19",
					fmt.Sprintf("the sheet %q has no part: the relationship %q is missing", s.name, id))
			case r.kind != "worksheet": // a chart, a dialog or macros
				return true
			}
			s.part = r.target
			w.sheets = append(w.sheets, s)
			if len(w.sheets) > maxSheets {
				return p.Wrong(p.X.At, "", "", fmt.Sprintf("more than %d sheets", maxSheets))
			}
			w.layers = append(w.layers, w.unusedLayer(s.name))
		}
		return true
	})
	if ok && len(w.sheets) == 0 {
		ok = p.Wrong(0, "", "", "the workbook has no worksheet")
	}
	if !ok {
		err = p.fault(-1)
	}
	return p.close(err)
}

// maxSheets is far beyond what programs can open.
const maxSheets = 4096

// relationID returns the attribute id of the namespace of relationships, not the sheet's own number.
func (p *part) relationID() (id string, ok bool) {
	for i := range p.X.Attrs() {
		if name, local := p.X.AttrName(i); string(local) == "id" && len(name) > len(local) {
			return string(p.X.AttrValue(i)), true
		}
	}
	return "", false
}

// unusedLayer returns the name of a layer: that of the sheet, with a number if it is empty or used.
func (w *workbook) unusedLayer(name string) string {
	if name == "" {
		name = "Sheet" + strconv.Itoa(len(w.sheets))
	}
	layer := name
	for n := 2; slices.Contains(w.layers, layer); n++ {
		layer = fmt.Sprintf("%s_%d", name, n)
	}
	return layer
}
