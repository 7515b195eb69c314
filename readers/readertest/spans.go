package readertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// checkSpans reads each chunk that a parser emits again, by its span, with the CPU engine: it is one
// chunk of the same rows. If types are inferred, all of its columns can be read as text too.
func checkSpans(t testing.TB, f readers.Format, in Input, inferred bool, parser func(readers.Layout) readers.Parser) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	if r.err != nil {
		return
	}
	ctx := context.Background()
	layout, err := r.layout(ctx)
	if err != nil {
		return
	}
	read := func(p readers.Parser, span readers.Span, limits readers.Limits) (chunks []readers.Chunk) {
		_, err := p.Parse(ctx, r.src, readers.Request{Span: span, Limits: limits}, func(c readers.Chunk) error {
			chunks = append(chunks, c)
			return nil
		})
		if err != nil && span.To >= 0 {
			t.Errorf("%+v: %v", span, err)
		}
		return chunks
	}
	cpu := f.CPU(layout)
	for _, c := range read(parser(layout), readers.Span{To: -1}, in.Limits) { // up to the error, if there is one
		if c.Columns.Rows == 0 {
			continue
		}
		span := c.Span
		again := read(cpu, span, in.Limits.Unbatched())
		if len(again) == 1 {
			span.Text = append(slices.Clone(span.Text), textColumns(c.Columns, again[0].Columns)...)
			if len(span.Text) > len(c.Span.Text) {
				again = read(cpu, span, in.Limits.Unbatched())
			}
		}
		if len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%+v again: %d chunks", span, len(again))
			return
		}
		got, want := again[0].Columns, c.Columns
		if a, b := columnsText(got, want), columnsText(want, got); !bytes.Equal(a, b) {
			t.Errorf("%+v again, got:\n%s\nwant:\n%s", span, clip(a), clip(b))
			return
		}
		if !inferred {
			continue
		}
		span.Text = nil
		for i := range c.Columns.Attributes {
			span.Text = append(span.Text, c.Columns.Attributes[i].ID())
		}
		if again = read(cpu, span, readers.Limits{}); len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%+v as text: %d chunks", span, len(again))
			return
		}
	}
}

// textColumns returns the columns that are text in a chunk and something else in another one of the
// same rows: they are to be read as text.
func textColumns(c, other *geoarrow.Columns) (ids []geoarrow.ColumnID) {
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if b := columnOf(other, a.ID()); b != nil && isString(a) && !isString(b) {
			ids = append(ids, a.ID())
		}
	}
	return ids
}

func isString(c *geoarrow.Column) bool { return c.Type.ID() == arrow.STRING }

// columnOf returns the column of an identity, or nil.
func columnOf(c *geoarrow.Columns, id geoarrow.ColumnID) *geoarrow.Column {
	for i := range c.Attributes {
		if c.Attributes[i].ID() == id {
			return &c.Attributes[i]
		}
	}
	return nil
}

// columnsText writes the values of columns, as wide as those of other columns: a chunk may be as wide
// as the part that its rows were read in. It leaves out columns of nulls that the others lack. The
// order of columns is that of their names.
func columnsText(columns, others *geoarrow.Columns) []byte {
	var texts []string
	for i := range columns.Attributes {
		c := &columns.Attributes[i]
		other := columnOf(others, c.ID())
		switch {
		case other == nil && c.Nulls == columns.Rows:
			continue
		case other != nil && typeText(c) != typeText(other):
			wide, ok := c.Widen(c.Facts.Join(other.Facts).Resolve(geoarrow.RoleAttribute), columns.Rows)
			if !ok {
				texts = append(texts, fmt.Sprintf("%q: needed as text", c.Name))
				continue
			}
			c = &wide
		}
		var b bytes.Buffer
		dumpColumn(&b, c)
		texts = append(texts, fmt.Sprintf("%srounded %d replaced %d\n", b.String(), c.Rounded, c.Replaced))
	}
	slices.Sort(texts)
	b := bytes.NewBufferString(strings.Join(texts, ""))
	if g := columns.Geometry; g != nil {
		fmt.Fprintf(b, "geometry %q\n", wktRows(g))
	}
	return b.Bytes()
}
