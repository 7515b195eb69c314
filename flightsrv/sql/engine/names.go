package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
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

// nameIndex finds tables by the names in queries. There may be a million tables, so that it has hashes
// of their names in place of maps: about 130 bytes for each table.
type nameIndex struct {
	changes  uint64  // of the catalog, when the index was made
	tables   []Table // sorted by schema and name
	hashes   [nameKinds][]nameHash
	suffixes []string // what follows the stems of files, at most maxSuffixes
}

// nameKind is what of a table a name in a query may be.
type nameKind int

const (
	fileIn    nameKind = iota // the file's name, in a schema
	stemIn                    // its stem, in a schema
	fileAny                   // the file's name, in any folder
	stemAny                   // its stem, in any folder
	nameKinds                 // how many there are
)

// nameHash is the hash of a name of a table, without regard to case.
type nameHash struct{ hash, table uint32 }

// maxSuffixes bounds how often an unknown name is looked up.
const maxSuffixes = 8

// maxClosest is how many entries the error for an unknown name lists, as the catalog's own errors
// do.
const maxClosest = 3

// tableName is a name in a schema, in lower case.
type tableName struct{ schema, name string }

func tableNameOf(schema, name string) tableName { return tableName{lower(schema), lower(name)} }

func newNameIndex(count int, entries iter.Seq[*catalog.Entry]) *nameIndex {
	n := &nameIndex{tables: make([]Table, 0, count)}
	for e := range entries {
		n.tables = append(n.tables, tableOf(e.Name))
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
	}
	for kind := range nameKinds {
		hashes := make([]nameHash, 0, len(n.tables))
		for i := range n.tables {
			for schema, name := range n.tables[i].names(kind) {
				hashes = append(hashes, nameHash{hashOf(schema, name), uint32(i)})
			}
		}
		slices.SortFunc(hashes, func(a, b nameHash) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.table, b.table))
		})
		n.hashes[kind] = hashes
	}
	return n
}

// names returns the names of a kind by which queries find the table, and their schemas.
func (t *Table) names(kind nameKind) iter.Seq2[string, string] {
	return func(yield func(schema, name string) bool) {
		switch kind {
		case fileIn:
			if yield(t.Schema, t.Name) && t.Name != t.Entry {
				yield(MainSchema, t.Entry)
			}
		case stemIn:
			if yield(t.Schema, stem(t.Name)) && t.Name != t.Entry {
				yield(MainSchema, stem(t.Entry))
			}
		case fileAny:
			yield("", t.base())
		case stemAny:
			yield("", stem(t.base()))
		}
	}
}

// hashOf returns the FNV-1a hash of a schema and a name in lower case.
func hashOf(schema, name string) uint32 {
	h := uint32(2166136261)
	for _, s := range []string{schema, name} {
		for i := range len(s) {
			c := s[i]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			h = (h ^ uint32(c)) * 16777619
		}
		h *= 16777619 // "a" and "bc" are not "ab" and "c"
	}
	return h
}

// named returns the tables that have a name of a kind, without regard to case.
func (n *nameIndex) named(kind nameKind, schema, name string) []*Table {
	var found []*Table
	hashes, hash := n.hashes[kind], hashOf(schema, name)
	at, _ := slices.BinarySearchFunc(hashes, hash, func(h nameHash, hash uint32) int {
		return cmp.Compare(h.hash, hash)
	})
	want := tableNameOf(schema, name)
	for _, h := range hashes[at:] {
		if h.hash != hash {
			break
		}
		t := &n.tables[h.table]
		for schema, name := range t.names(kind) {
			if tableNameOf(schema, name) == want {
				found = append(found, t)
				break
			}
		}
	}
	return slices.Compact(found)
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
	if found := n.named(fileIn, in, name); len(found) > 0 {
		return exactly(found, func(t *Table) bool {
			return t.Schema == in && t.Name == name || in == MainSchema && t.Entry == name
		})
	}
	own := isOwn(name)
	if found := n.named(stemIn, in, name); len(found) > 0 && !own {
		return exactly(found, func(t *Table) bool {
			return t.Schema == in && stem(t.Name) == name || in == MainSchema && stem(t.Entry) == name
		})
	}
	if schema != "" {
		return nil
	}
	if found := n.named(fileAny, "", name); len(found) > 0 {
		return exactly(found, func(t *Table) bool { return t.base() == name })
	}
	if own {
		return nil
	}
	return exactly(n.named(stemAny, "", name), func(t *Table) bool { return stem(t.base()) == name })
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

// maxIndexed is how many tables the indexes that are kept have together, unless there is only one.
const maxIndexed = 1 << 21

// names returns the index of the current entries on which the caller has a privilege.
func (e *Engine) names(ctx context.Context, p access.Privilege) *nameIndex {
	count, changes := e.cfg.Catalog.Count()
	key := scopeOf(ctx, e.cfg.Catalog, p)
	e.indexes.mu.Lock()
	n := e.indexes.kept[key]
	e.indexes.mu.Unlock()
	if n != nil && n.changes == changes {
		return n
	}
	listed, scope := e.cfg.Catalog.Entries(ctx, "", ""), e.cfg.Catalog.Scope(ctx)
	if scope == access.All {
		n = newNameIndex(count, listed)
	} else {
		n = newNameIndex(0, func(yield func(*catalog.Entry) bool) {
			for entry := range listed {
				if scope.Allows(p, entry.Name) && !yield(entry) {
					return
				}
			}
		})
	}
	n.changes = changes
	e.indexes.keep(key, n)
	return n
}

// keep keeps an index, and removes those of former entries.
func (x *indexes) keep(key string, n *nameIndex) {
	x.mu.Lock()
	defer x.mu.Unlock()
	tables := len(n.tables)
	for k, other := range x.kept {
		if other.changes != n.changes {
			delete(x.kept, k)
			continue
		}
		tables += len(other.tables)
	}
	if x.kept == nil || tables > maxIndexed {
		x.kept = map[string]*nameIndex{}
	}
	x.kept[key] = n
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
