package engine

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// How a name in a query finds its entry. The folder of a file is its schema, and the root is
// MainSchema. The first match in this order is used:
//
//	in its schema       by file name       counties."florida.geojson"
//	                    by stem            counties.florida
//	without a schema    by full name       "counties/florida.geojson"; by stem "counties/florida"
//	                    anywhere           "florida.geojson"
//	                    by stem anywhere   florida
//
// A stem that begins like one of DuckDB's own views, such as duckdb_tables, does not name a file:
// DuckDB reads these to list tables.
//
// DuckDB ignores case. A name that equals an entry's means that entry. Otherwise it means all that
// differ only in case, and the query must be more specific if there are several.

// Table is an entry of the catalog as SQL names it.
type Table struct {
	Schema string // the folder, "a/b" if nested; MainSchema for the root
	Name   string // of the file, with extension, and "#layer" if there are several
	Entry  string // name in the catalog
}

// nameIndex finds tables by the names in queries.
type nameIndex struct {
	listed    []*catalog.Entry       // that the caller may describe
	tables    []Table                // sorted by schema and name
	files     map[tableName][]*Table // by schema and file name
	stems     map[tableName][]*Table // by schema and stem
	fileNames map[string][]*Table    // by file name, in any folder
	stemNames map[string][]*Table    // by stem, in any folder
	suffixes  []string               // what follows the stems of files, at most maxSuffixes
}

// maxSuffixes bounds how often an unknown name is looked up.
const maxSuffixes = 8

// maxClosest is how many entries the error for an unknown name lists, as the catalog's own errors
// do.
const maxClosest = 3

// tableName is a name in a schema, in lower case.
type tableName struct{ schema, name string }

func tableNameOf(schema, name string) tableName { return tableName{lower(schema), lower(name)} }

// newNameIndex returns the index of those of the listed entries that it is to have.
func newNameIndex(listed []*catalog.Entry, has func(*catalog.Entry) bool) *nameIndex {
	n := &nameIndex{
		listed: listed, tables: make([]Table, 0, len(listed)), files: map[tableName][]*Table{},
		stems: map[tableName][]*Table{}, fileNames: map[string][]*Table{}, stemNames: map[string][]*Table{},
	}
	for _, e := range listed {
		if has(e) {
			n.tables = append(n.tables, tableOf(e.Name))
		}
	}
	slices.SortFunc(n.tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	for i := range n.tables {
		t := &n.tables[i]
		end := strings.TrimPrefix(t.file(), stem(t.file()))
		if len(n.suffixes) < maxSuffixes && !slices.Contains(n.suffixes, end) {
			n.suffixes = append(n.suffixes, end)
		}
		add(n.files, tableNameOf(t.Schema, t.Name), t)
		add(n.stems, tableNameOf(t.Schema, stem(t.Name)), t)
		add(n.fileNames, lower(t.base()), t)
		add(n.stemNames, lower(stem(t.base())), t)
		if t.Name != t.Entry {
			add(n.files, tableNameOf(MainSchema, t.Entry), t)
			add(n.stems, tableNameOf(MainSchema, stem(t.Entry)), t)
		}
	}
	return n
}

func add[K comparable](m map[K][]*Table, k K, t *Table) { m[k] = append(m[k], t) }

// same reports whether n was made of this list. The catalog shares the slice until an entry
// changes.
func (n *nameIndex) same(listed []*catalog.Entry) bool {
	return n != nil && len(n.listed) == len(listed) && (len(listed) == 0 || &n.listed[0] == &listed[0])
}

// tableOf names the table of an entry. Files in a folder that is called like a schema of DuckDB are
// in the main schema, under their full names.
func tableOf(entry string) Table {
	file, _, _ := strings.Cut(entry, "#")
	folder, _ := path.Split(file)
	schema := strings.TrimSuffix(folder, "/")
	switch lower(schema) {
	case "":
		return Table{Schema: MainSchema, Name: entry, Entry: entry}
	case MainSchema, "information_schema", "pg_catalog", "temp", "system", CatalogName:
		return Table{Schema: MainSchema, Name: entry, Entry: entry}
	}
	return Table{Schema: schema, Name: entry[len(folder):], Entry: entry}
}

// file is the entry's name without its layer.
func (t *Table) file() string {
	file, _, _ := strings.Cut(t.Entry, "#")
	return file
}

// base is the entry's name without its folders.
func (t *Table) base() string { return path.Base(t.file()) + t.layer() }

// Stem returns the name of the table without its extension. Queries find it under that name too.
func (t *Table) Stem() string { return stem(t.Name) }

// layer returns the rest of the entry's name.
func (t *Table) layer() string { return strings.TrimPrefix(t.Entry, t.file()) }

// stem returns a file's name without its extension and that of its packing: "florida" for
// "florida.geojson.gz". A layer remains: "trips#Stops".
func stem(name string) string {
	file, layer, layered := strings.Cut(name, "#")
	for _, packed := range []string{".gz", ".zst"} {
		if base, ok := cutSuffixFold(file, packed); ok && path.Ext(base) != "" {
			file = base
			break
		}
	}
	file = strings.TrimSuffix(file, path.Ext(file))
	if layered {
		return file + "#" + layer
	}
	return file
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
}

// find returns the tables that a name in a schema may mean; "" is no schema.
func (n *nameIndex) find(schema, name string) []*Table {
	in := cmp.Or(schema, MainSchema)
	if found := n.files[tableNameOf(in, name)]; len(found) > 0 {
		return exactly(found, func(t *Table) bool {
			return t.Schema == in && t.Name == name || in == MainSchema && t.Entry == name
		})
	}
	own := isOwn(name)
	if found := n.stems[tableNameOf(in, name)]; len(found) > 0 && !own {
		return exactly(found, func(t *Table) bool {
			return t.Schema == in && stem(t.Name) == name || in == MainSchema && stem(t.Entry) == name
		})
	}
	if schema != "" {
		return nil
	}
	if found := n.fileNames[lower(name)]; len(found) > 0 {
		return exactly(found, func(t *Table) bool { return t.base() == name })
	}
	if own {
		return nil
	}
	return exactly(n.stemNames[lower(name)], func(t *Table) bool { return stem(t.base()) == name })
}

// isOwn reports whether a name is like those of DuckDB's views in its main schema.
func isOwn(name string) bool {
	name = lower(name)
	return strings.HasPrefix(name, "duckdb_") || strings.HasPrefix(name, "sqlite_") ||
		strings.HasPrefix(name, "pragma_")
}

// exactly returns the tables with exactly this name, or all if there are none.
func exactly(found []*Table, called func(*Table) bool) []*Table {
	var exact []*Table
	for _, t := range found {
		if called(t) {
			exact = append(exact, t)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return found
}

// indexes are the name indexes by scope and privilege.
type indexes struct {
	mu   sync.Mutex
	kept map[string]*nameIndex
}

// maxIndexes is how many indexes are kept.
const maxIndexes = 64

// names returns the index of the current entries on which the caller has a privilege.
func (e *Engine) names(ctx context.Context, p access.Privilege) *nameIndex {
	listed := e.cfg.Catalog.List(ctx, "", "")
	s, key := e.cfg.Catalog.Scope(ctx), scopeOf(ctx, e.cfg.Catalog, p)
	e.indexes.mu.Lock()
	n := e.indexes.kept[key]
	e.indexes.mu.Unlock()
	if n.same(listed) {
		return n
	}
	n = newNameIndex(listed, func(e *catalog.Entry) bool { return p == access.Describe || s.Allows(p, e.Name) })
	e.indexes.mu.Lock()
	defer e.indexes.mu.Unlock()
	if e.indexes.kept == nil || len(e.indexes.kept) >= maxIndexes {
		e.indexes.kept = map[string]*nameIndex{}
	}
	e.indexes.kept[key] = n
	return n
}

// scopeOf identifies the entries on which a caller has a privilege, and what it may know of them.
func scopeOf(ctx context.Context, c *catalog.Catalog, p access.Privilege) string {
	rights := c.Scope(ctx).Key()
	if rights == access.All.Key() {
		return rights
	}
	return rights + " " + p.String()
}

// Tables returns the tables that the caller may describe, sorted by schema and name. It reads no
// file.
func (e *Engine) Tables(ctx context.Context) []Table {
	return slices.Clone(e.names(ctx, access.Describe).tables)
}

// A mention is a name in a query and its meaning.
type mention struct {
	schema, name string // of the view that DuckDB finds by that name
	entry        string // in the catalog
}

// resolveName finds the entry that a name in a query means. Unqualified names are looked up in
// schema first. It returns nil for a name of DuckDB's own, such as those of information_schema.
//
// Errors: *catalog.NotFoundError, *AmbiguousError, and errors of access to a file.
func (e *Engine) resolveName(ctx context.Context, p access.Privilege, ref duck.Reference, schema string) (
	*mention, error,
) {
	if ref.Catalog != "" && !strings.EqualFold(ref.Catalog, CatalogName) {
		return nil, nil
	}
	in := ref.Schema
	switch lower(in) {
	case "information_schema", "pg_catalog":
		return nil, nil
	case "", MainSchema:
		// the view of a file would hide DuckDB's own, which list tables
		if isOwn(ref.Name) && !strings.Contains(ref.Name, ".") {
			return nil, nil
		}
	case CatalogName:
		if ref.Catalog == "" {
			in = "" // vibeflight.name
		}
	}
	if ref.Catalog == "" && ref.Schema == "" && schema != "" && !strings.EqualFold(schema, MainSchema) {
		entry, err := e.entry(ctx, p, schema, ref.Name)
		if entry != "" || isAmbiguous(err) {
			return &mention{schema, ref.Name, entry}, err
		}
	}
	entry, err := e.entry(ctx, p, in, ref.Name)
	if err != nil {
		return nil, err
	}
	return &mention{cmp.Or(in, MainSchema), ref.Name, entry}, nil
}

// entry finds the entry that a name in a schema means, among those that the caller may describe.
// Entries on which the caller has the privilege p have precedence. Its error is *AmbiguousError or
// that of catalog.Lookup.
func (e *Engine) entry(ctx context.Context, p access.Privilege, schema, name string) (string, error) {
	full := name
	if schema != "" && !strings.EqualFold(schema, MainSchema) {
		full = schema + "/" + name
	}
	_, missing := e.cfg.Catalog.Lookup(ctx, full) // it also finds a file that was added just now
	if missing == nil {
		return full, nil
	}
	found := e.names(ctx, p).find(schema, name)
	if len(found) == 0 && p != access.Describe {
		found = e.names(ctx, access.Describe).find(schema, name)
	}
	switch len(found) {
	case 0:
		return "", e.notFoundError(ctx, full, missing)
	case 1:
		return found[0].Entry, nil
	}
	return "", newAmbiguousError(name, found)
}

// notFoundError adds to the error for an unknown name the entries with a similar stem.
func (e *Engine) notFoundError(ctx context.Context, full string, err error) error {
	var none *catalog.NotFoundError
	if !errors.As(err, &none) || len(none.Closest) > 0 {
		return err
	}
	for _, end := range e.names(ctx, access.Describe).suffixes {
		_, err := e.cfg.Catalog.Lookup(ctx, full+end)
		var also *catalog.NotFoundError
		if !errors.As(err, &also) {
			continue
		}
		for _, name := range also.Closest {
			if len(none.Closest) < maxClosest && !slices.Contains(none.Closest, name) {
				none.Closest = append(none.Closest, name)
			}
		}
	}
	return none
}
