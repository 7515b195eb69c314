package gpkg

import (
	"context"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
)

// record is the values of a row of a metadata table, by the names of their columns in lower case.
type record map[string]sqlite.Value

// each calls f with the rows of a metadata table, if there is one.
func (p *geoPackage) each(ctx context.Context, name string, f func(r record) error) error {
	o, ok := p.named[name]
	if !ok || o.Type != "table" || o.Root == 0 {
		return nil
	}
	t, err := sqlite.ParseTable(o.SQL)
	if err != nil {
		return &sqlite.Fault{Offset: o.Offset, Err: fmt.Errorf("table %s: %w", name, err)}
	}
	if t.WithoutRowid {
		return &sqlite.Fault{Offset: o.Offset, Err: fmt.Errorf("table %s: %w", name, errWithoutRowid)}
	}
	values := record{}
	return p.db.Each(ctx, o.Root, func(row *sqlite.Row, all []sqlite.Value) error {
		clear(values)
		i := 0
		for _, c := range t.Columns {
			if c.Virtual {
				continue
			}
			if i < len(all) {
				values[strings.ToLower(c.Name)] = all[i]
				if c.Rowid {
					values[strings.ToLower(c.Name)] = sqlite.Value{Class: sqlite.Integer, Int: row.ID}
				}
			}
			i++
		}
		if err := f(values); err != nil {
			return &sqlite.Fault{Offset: row.Offset, Err: fmt.Errorf("table %s: %w", name, err)}
		}
		return nil
	})
}

// text returns a text of a metadata table.
func (p *geoPackage) text(r record, column string) (string, error) {
	v := r[column]
	s, err := p.db.String(&v)
	if err != nil {
		return "", fmt.Errorf("%s: %w", column, err)
	}
	return s, nil
}

// columnKey is the key of a column in geoPackage.json.
func columnKey(table, column string) string {
	return strings.ToLower(table) + "\x00" + strings.ToLower(column)
}

// readJSON returns the columns whose MIME type is that of JSON, which the extension for schemas has.
func (p *geoPackage) readJSON(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	err := p.each(ctx, tableColumns, func(r record) error {
		var texts [3]string
		for i, column := range [...]string{"table_name", "column_name", "mime_type"} {
			var err error
			if texts[i], err = p.text(r, column); err != nil {
				return err
			}
		}
		if texts[2] == "application/json" {
			all[columnKey(texts[0], texts[1])] = true
		}
		return nil
	})
	return all, err
}
