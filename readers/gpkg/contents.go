package gpkg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Tables of a GeoPackage.
const (
	tableContents   = "gpkg_contents"
	tableGeometries = "gpkg_geometry_columns"
	tableSystems    = "gpkg_spatial_ref_sys"
	tableColumns    = "gpkg_data_columns"
)

// geoPackage is what is known before any row.
type geoPackage struct {
	db      *sqlite.Database
	objects []sqlite.Object          // of the schema
	named   map[string]sqlite.Object // tables and views by their names in lower case
	layers  []*layer
	systems map[int64]system
	json    map[string]bool // columns of JSON texts, by columnKey
}

// layer is a table or view of the rows of a layer.
type layer struct {
	name   string
	object sqlite.Object
	column string // of the geometries; "": it has none
	srs    int64  // of the geometries

	mu    sync.Mutex
	table *table // once a parse needed it
}

// openPackage reads the tables that say what layers there are.
func openPackage(ctx context.Context, src *source.File) (*geoPackage, error) {
	if err := checkJournal(src); err != nil {
		return nil, err
	}
	wal, err := src.Sibling(extWAL)
	if err != nil {
		return nil, err
	}
	p := &geoPackage{}
	if p.db, err = sqlite.Open(src, wal); err != nil {
		return nil, err
	}
	if p.objects, err = p.db.Schema(ctx); err != nil {
		return nil, err
	}
	p.named = map[string]sqlite.Object{}
	for _, o := range p.objects {
		if name := strings.ToLower(o.Name); o.Type == "table" || o.Type == "view" {
			if _, there := p.named[name]; !there {
				p.named[name] = o
			}
		}
	}
	if p.systems, err = p.readSystems(ctx); err != nil {
		return nil, err
	}
	if p.json, err = p.readJSON(ctx); err != nil {
		return nil, err
	}
	return p, p.readLayers(ctx)
}

// journalMagic is what a rollback journal begins with while its transaction may have to be undone.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// checkJournal refuses a database of which a transaction was not completed.
func checkJournal(src *source.File) error {
	journal, err := src.Sibling(extJournal)
	if err != nil || journal == nil {
		return err
	}
	head, err := journal.Head(len(journalMagic))
	if err != nil {
		return fmt.Errorf("%s: %w", journal.Name, err)
	}
	if string(head) != journalMagic {
		return nil
	}
	return &sqlite.Fault{Err: errors.New("the rollback journal next to the file says that a transaction was not " +
		"completed: open the file with SQLite once, which undoes it")}
}

// maxLayers bounds the layers of a file.
const maxLayers = 1 << 14

// readLayers lists the layers in GDAL's order: those of features and those of attributes, each in
// the order of gpkg_contents, then other tables, unless some are attributes.
func (p *geoPackage) readLayers(ctx context.Context) error {
	geometries, err := p.readGeometries(ctx)
	if err != nil {
		return err
	}
	var attributes []*layer
	listed := map[string]bool{}
	add := func(list *[]*layer, l *layer) {
		o, ok := p.named[strings.ToLower(l.name)]
		if ok && !listed[strings.ToLower(l.name)] && l.name != "" && l.name != "ogr_empty_table" {
			l.object = o
			*list = append(*list, l)
		}
	}
	err = p.each(ctx, tableContents, func(r record) error {
		name, err := p.text(r, "table_name")
		if err != nil {
			return err
		}
		kind, err := p.text(r, "data_type")
		if err != nil {
			return err
		}
		g, spatial := geometries[strings.ToLower(name)]
		switch {
		case kind == "features" && spatial:
			add(&p.layers, &layer{name: name, column: g.column, srs: g.srs})
		case kind == "features", kind == "attributes", kind == "aspatial":
			add(&attributes, &layer{name: name})
		}
		listed[strings.ToLower(name)] = true
		return nil
	})
	if err != nil {
		return err
	}
	p.layers = append(p.layers, attributes...)
	if len(attributes) == 0 {
		for _, o := range p.objects {
			if o.Type == "table" && o.Root > 0 && !isInternal(o.Name) {
				add(&p.layers, &layer{name: o.Name})
			}
		}
	}
	switch n := len(p.layers); {
	case n == 0:
		return &sqlite.Fault{Err: errors.New("the GeoPackage has no table of features or attributes")}
	case n > maxLayers:
		return &sqlite.Fault{Err: fmt.Errorf("%d layers, expected %d at most", n, maxLayers)}
	}
	return nil
}

// isInternal reports whether a table is one of a GeoPackage or of SQLite.
func isInternal(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"gpkg_", "sqlite_", "rtree_", "ogr_empty_table"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// geometryColumn is a row of gpkg_geometry_columns.
type geometryColumn struct {
	column string
	srs    int64
}

// readGeometries returns the columns of geometries by their tables' names in lower case.
func (p *geoPackage) readGeometries(ctx context.Context) (map[string]geometryColumn, error) {
	all := map[string]geometryColumn{}
	err := p.each(ctx, tableGeometries, func(r record) error {
		name, err := p.text(r, "table_name")
		if err != nil {
			return err
		}
		g := geometryColumn{srs: r["srs_id"].Int}
		if g.column, err = p.text(r, "column_name"); err != nil {
			return err
		}
		if _, there := all[strings.ToLower(name)]; !there {
			all[strings.ToLower(name)] = g
		}
		return nil
	})
	return all, err
}

// names returns the names of the layers.
func (p *geoPackage) names() []string {
	names := make([]string, len(p.layers))
	for i, l := range p.layers {
		names[i] = l.name
	}
	return names
}

// find returns the layer of a name; "" is the first.
func (p *geoPackage) find(name string) *layer {
	for _, l := range p.layers {
		if name == "" || l.name == name {
			return l
		}
	}
	return nil
}
