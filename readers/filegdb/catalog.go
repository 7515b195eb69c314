package filegdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// geodatabase is what the system tables say.
type geodatabase struct {
	files   []string // sorted
	layers  []layer
	domains map[string][]byte // definitions, by name; only with the option domains: text
}

// layer is a feature class or a table.
type layer struct {
	name       string
	number     int64  // of its table
	definition []byte // XML; nil: there is none
	dataset    []byte // of its feature dataset; nil: it is in none
	compressed string // its data is in this file, which is not read
}

// Names of system tables.
const itemsTable = "GDB_Items"

// maxLayers bounds the tables of a geodatabase.
const maxLayers = 1 << 16

// open reads the system tables.
func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	if src.MemberNames() == nil {
		return readers.Layout{}, errorAt(src, 0, -1, fmt.Errorf(
			"not a File Geodatabase: that is a folder .gdb, or a .zip archive of one"))
	}
	g := &geodatabase{files: src.MemberNames(), domains: map[string][]byte{}}
	if err := g.read(ctx, src, opts); err != nil {
		return readers.Layout{}, err
	}
	return readers.Layout{Options: opts, Dialect: g}, nil
}

func (g *geodatabase) read(ctx context.Context, src *source.File, opts readers.Options) error {
	numbers, err := tableNumbers(ctx, src)
	if err != nil {
		return err
	}
	if items, ok := numbers[itemsTable]; ok {
		if err := g.readItems(ctx, src, items, numbers, opts); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) { // those that are no items
		if !isPrivate(name) {
			g.add(layer{name: name, number: numbers[name]})
		}
	}
	return nil
}

// isPrivate reports whether a table is not for users.
func isPrivate(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "gdb_") || strings.HasPrefix(lower, "vat_")
}

// add adds a layer whose table is there.
func (g *geodatabase) add(l layer) {
	file := tableName(l.number, ".gdbtable")
	if _, ok := slices.BinarySearch(g.files, file); !ok {
		return
	}
	for _, extension := range []string{".cdf", ".sdc"} {
		if _, ok := slices.BinarySearch(g.files, file+extension); ok {
			l.compressed = file + extension
		}
	}
	g.layers = append(g.layers, l)
}

// tableNumbers returns the numbers of all tables by their names.
func tableNumbers(ctx context.Context, src *source.File) (map[string]int64, error) {
	t, err := openTable(src, 1)
	if err != nil {
		return nil, err
	}
	name := t.find("Name", kindString)
	if name < 0 {
		return nil, errorAt(t.file, 0, -1, fmt.Errorf("the first table has no field Name: it is not GDB_SystemCatalog"))
	}
	numbers := map[string]int64{}
	err = t.eachValues(ctx, func(number int64, values [][]byte) error {
		if len(numbers) >= maxLayers {
			return errorAt(t.file, 0, -1, fmt.Errorf("more than %d tables", maxLayers))
		}
		if values[name] != nil {
			numbers[t.text(name, values)] = number
		}
		return nil
	})
	return numbers, err
}

// eachValues calls row for each row of a system table, with its OBJECTID and values.
func (t *table) eachValues(ctx context.Context, row func(id int64, values [][]byte) error) error {
	if t.slots == 0 {
		return nil
	}
	values := make([][]byte, len(t.fields))
	r := t.rows(ctx, readers.Limits{}.WithDefaults(), windowBytes)
	return r.each(0, t.slots, func(slot, at int64, b []byte, bad error) error {
		if bad == nil {
			if f := t.split(b, values); f != nil {
				f.at += lengthBytes
				bad = f
			}
		}
		if bad != nil {
			e := errorAt(t.file, at, -1, bad)
			return e
		}
		return row(t.objectID(slot), values)
	})
}

// text returns the text of a field as UTF-8.
func (t *table) text(field int, values [][]byte) string {
	if t.utf8 || t.fields[field].kind != kindString {
		return strings.ToValidUTF8(string(values[field]), "\uFFFD")
	}
	return string(appendUTF16(nil, values[field]))
}

// readItems adds the layers of GDB_Items, in its order, and takes their tables out of numbers.
func (g *geodatabase) readItems(ctx context.Context, src *source.File, number int64, numbers map[string]int64,
	opts readers.Options,
) error {
	t, err := openTable(src, number)
	if err != nil {
		return err
	}
	name, place, text := t.find("Name", kindString), t.find("Path", kindString), t.find("Definition", kindXML)
	if name < 0 || place < 0 || text < 0 {
		return errorAt(t.file, 0, -1, fmt.Errorf("the table GDB_Items has no fields Name, Path and Definition"))
	}
	datasets := map[string][]byte{} // definitions by path
	type item struct {
		layer
		path string
	}
	var items []item
	err = t.eachValues(ctx, func(_ int64, values [][]byte) error {
		xml := values[text]
		has := func(element string) bool { return bytes.Contains(xml, []byte(element)) }
		if has("DEFeatureDataset") {
			datasets[t.text(place, values)] = bytes.Clone(xml)
		}
		switch {
		case values[name] == nil || xml == nil:
		case has("DEFeatureClassInfo"), has("DETableInfo"):
			if len(items) < maxLayers {
				l := layer{name: t.text(name, values), definition: bytes.Clone(xml)}
				items = append(items, item{l, t.text(place, values)})
			}
		case has("GPCodedValueDomain2"):
			if opts.Get(optionDomains) == domainsText {
				g.domains[t.text(name, values)] = bytes.Clone(xml)
			}
		case has("DERasterDataset"):
			raster := t.text(name, values)
			for _, prefix := range []string{"", "fras_ras_", "fras_aux_", "fras_bnd_", "fras_blk_"} {
				delete(numbers, prefix+raster)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range items {
		number, ok := numbers[i.name]
		if !ok {
			continue
		}
		delete(numbers, i.name)
		i.number = number
		if at := strings.LastIndexByte(i.path, '\\'); at > 0 {
			i.dataset = datasets[i.path[:at]]
		}
		g.add(i.layer)
	}
	return nil
}

// names returns the names of the layers.
func (g *geodatabase) names() []string {
	names := make([]string, len(g.layers))
	for i := range names {
		names[i] = g.layers[i].name
	}
	return names
}

// find returns the layer of a name; "" is the first one.
func (g *geodatabase) find(src *source.File, name string) (*layer, error) {
	if name == "" && len(g.layers) > 0 {
		return &g.layers[0], nil
	}
	for i := range g.layers {
		if g.layers[i].name == name {
			return &g.layers[i], nil
		}
	}
	if name == "" {
		return nil, errorAt(src, 0, -1, errors.New("the geodatabase has no layers"))
	}
	return nil, &readers.NoLayerError{Name: src.Name, Layer: name, Layers: g.names()}
}
