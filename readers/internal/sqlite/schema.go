package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Object is a table, a view, an index or a trigger of the schema (section 2.6).
type Object struct {
	Type, Name, Table string
	Root              uint32 // page
	SQL               string // of a table or a view
	Offset            int64  // of its row in the file
}

const (
	schemaRoot = 1
	// maxSchema bounds the bytes of the schema, and of each table that is read as a whole.
	maxSchema = 64 << 20
)

// Schema returns the objects of the database, in the order of their rows.
func (d *Database) Schema(ctx context.Context) ([]Object, error) {
	var all []Object
	err := d.Each(ctx, schemaRoot, func(r *Row, values []Value) error {
		o := Object{Offset: r.Offset}
		for i, to := range []*string{&o.Type, &o.Name, &o.Table, nil, &o.SQL} {
			if i >= len(values) || to == nil || to == &o.SQL && o.Type != "table" && o.Type != "view" {
				continue
			}
			var err error
			if *to, err = d.String(&values[i]); err != nil {
				return faultf(r.Offset, "the schema: column %d: %w", i, err)
			}
		}
		if len(values) > 3 && values[3].Class == Integer && values[3].Int >= 0 && values[3].Int <= int64(d.Pages) {
			o.Root = uint32(values[3].Int)
		}
		all = append(all, o)
		return nil
	})
	return all, err
}

// String returns a text as UTF-8, and "" for a null. Other values are errors.
func (d *Database) String(v *Value) (string, error) {
	switch v.Class {
	case Null:
		return "", nil
	case Text:
		b, err := d.AppendText(nil, v.Bytes)
		return string(b), err
	case Integer:
		return fmt.Sprint(v.Int), nil
	}
	return "", errText
}

var errText = errors.New("expected a text")

// Each calls f with the rows of a table, whose values are valid until the next one.
func (d *Database) Each(ctx context.Context, root uint32, f func(r *Row, values []Value) error) error {
	leaves, err := d.Leaves(ctx, root)
	if err != nil {
		return err
	}
	c := d.Cursor(leaves)
	c.MaxBytes = maxSchema
	if err := c.MoveTo(0, c.End()); err != nil {
		return err
	}
	var row Row
	var values []Value
	left := int64(maxSchema)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := c.Next(&row)
		if large := (*TooLarge)(nil); errors.As(err, &large) {
			return faultf(row.Offset, "a row of metadata has %d bytes, expected %d at most", large.Bytes, maxSchema)
		}
		if err != nil || !more {
			return err
		}
		if left -= int64(len(row.Payload)); left < 0 {
			return faultf(row.Offset, "a table of metadata has more than %d bytes", maxSchema)
		}
		if values, err = d.values(values[:0], &row); err != nil {
			return faultf(row.Offset, "%w", err)
		}
		if err := f(&row, values); err != nil {
			return err
		}
	}
}

// values appends the values of a row.
func (d *Database) values(dst []Value, row *Row) ([]Value, error) {
	var r Record
	if err := r.Open(row.Payload); err != nil {
		return dst, err
	}
	for r.More() {
		var v Value
		if err := r.Next(&v); err != nil {
			return dst, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}
