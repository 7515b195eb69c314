package engine

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// The folder of a file is its schema, and the root is MainSchema. A name in a schema is that of a file
// in it, or its stem. The catalog resolves names without a schema: see catalog.Resolve.
//
// DuckDB ignores case. A name that equals an entry's means that entry. Otherwise it means all that
// differ only in case, and the query must be more specific if there are several.

// Table is an entry of the catalog as SQL names it.
type Table struct {
	Schema string // the folder, "a/b" if nested; MainSchema for the root
	Name   string // of the file, with extension, and "#layer" if there are several
	Entry  string // name in the catalog
}

// tableList is the tables that a caller may describe, sorted by schema and name.
type tableList struct {
	changes uint64 // of the catalog, when the list was made
	tables  []Table
}

// tableName is a name in a schema, in lower case.
type tableName struct{ schema, name string }

func tableNameOf(schema, name string) tableName { return tableName{lower(schema), lower(name)} }

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

// Stem returns the name of the table without its extension. Queries find it under that name too.
func (t *Table) Stem() string { return tree.Stem(t.Name) }

// lists are the lists of tables by the caller's scope.
type lists struct {
	mu   sync.Mutex
	kept map[string]*tableList
}

// maxListed is how many tables the lists that are kept have together, unless there is only one.
const maxListed = 1 << 21

// list returns the current tables that the caller may describe.
func (e *Engine) list(ctx context.Context) *tableList {
	count, changes := e.cfg.Catalog.Count()
	key := scopeOf(ctx, e.cfg.Catalog, access.Describe)
	e.lists.mu.Lock()
	n := e.lists.kept[key]
	e.lists.mu.Unlock()
	if n != nil && n.changes == changes {
		return n
	}
	n = &tableList{changes: changes}
	if e.cfg.Catalog.Scope(ctx) == access.All {
		n.tables = make([]Table, 0, count)
	}
	for entry := range e.cfg.Catalog.Entries(ctx, "", "") {
		n.tables = append(n.tables, tableOf(entry.Name))
	}
	slices.SortFunc(n.tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	e.lists.keep(key, n)
	return n
}

// keep keeps a list, and removes those of former entries.
func (x *lists) keep(key string, n *tableList) {
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
	if x.kept == nil || tables > maxListed {
		x.kept = map[string]*tableList{}
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
	return slices.Clone(e.list(ctx).tables)
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
		if tree.IsReserved(ref.Name) && !strings.Contains(ref.Name, ".") {
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

// entry finds the entry that a name in a schema means, as catalog.Resolve does; "" is no schema.
func (e *Engine) entry(ctx context.Context, p access.Privilege, schema, name string) (string, error) {
	switch {
	case schema == "":
		return e.cfg.Catalog.Resolve(ctx, p, name)
	case strings.EqualFold(schema, MainSchema):
		return e.cfg.Catalog.Resolve(ctx, p, name, "")
	}
	return e.cfg.Catalog.Resolve(ctx, p, name, schema)
}
