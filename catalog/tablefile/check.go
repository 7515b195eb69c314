package tablefile

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// check returns an error for a table that would not read back unchanged from its file.
func check(ctx context.Context, t *readers.Table) error {
	if len(t.Batches) == 0 {
		return errors.New("no batch: nothing carries the types")
	}
	first := t.Batches[0]
	for i := range first.Attributes {
		if _, ok := geoarrow.TypeName(first.Attributes[i].Type); !ok {
			return fmt.Errorf("column %q: no place for %v", first.Attributes[i].Name, first.Attributes[i].Type)
		}
	}
	for i, b := range t.Batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !sameColumns(first, b) {
			return fmt.Errorf("batch %d has other columns than the first one", i)
		}
	}
	if n := len(t.IDs); n != 0 && n != len(t.Batches[0].Attributes) {
		return fmt.Errorf("names before renaming of %d columns of %d", n, len(t.Batches[0].Attributes))
	}
	for k, id := range t.IDs {
		if id.Role != t.Batches[0].Attributes[k].Role {
			return fmt.Errorf("column %d has the roles %d and %d", k, id.Role, t.Batches[0].Attributes[k].Role)
		}
	}
	for _, text := range texts(t) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8", text)
		}
	}
	return nil
}

func sameColumns(a, b *geoarrow.Columns) bool {
	if len(a.Attributes) != len(b.Attributes) || (a.Geometry == nil) != (b.Geometry == nil) {
		return false
	}
	if a.Geometry != nil && (a.Geometry.Kind != b.Geometry.Kind || a.Geometry.Dim != b.Geometry.Dim) {
		return false
	}
	for i := range a.Attributes {
		p, q := &a.Attributes[i], &b.Attributes[i]
		if p.ID() != q.ID() || p.JSON != q.JSON || p.Mixed != q.Mixed || !arrow.TypeEqual(p.Type, q.Type) {
			return false
		}
	}
	return true
}

// texts returns all texts of a table that are in Arrow's schema or in the description. Both are
// UTF-8.
func texts(t *readers.Table) []string {
	all := append([]string{t.Format, t.Engine}, t.GeometryTypes...)
	for _, crs := range []geoarrow.CRS{t.CRS, t.Summary.CRS} {
		all = append(all, crs.Authority, crs.Code, crs.Text)
	}
	for i := range t.Batches[0].Attributes {
		all = append(all, t.Batches[0].Attributes[i].Name)
	}
	for _, id := range t.IDs {
		all = append(all, id.Name)
	}
	all = append(all, t.Summary.Layers...)
	for name := range t.Summary.Foreign {
		all = append(all, name)
	}
	for _, s := range t.Spans {
		for _, id := range s.Text {
			all = append(all, id.Name)
		}
	}
	return all
}
