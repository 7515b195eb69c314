package export

import (
	"bufio"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// flatStream writes FlatGeobuf 3 without an index, row by row: the number of features in the header
// is 0, which means unknown. What the header tells of the geometries is known before, or read from
// the first record.
type flatStream struct {
	flatLayer
	w     *bufio.Writer
	row   []byte
	known bool // the types of all geometries
	begun bool // the header is written
	rows  int64
}

// NewFlatGeobufStream writes FlatGeobuf without an index. name is that of the layer. types are the
// types of all geometries, as [geoarrow.RowKind] names them; nil: unknown.
func NewFlatGeobufStream(out io.Writer, schema *arrow.Schema, name string, types []string) (Writer, error) {
	w := &flatStream{
		flatLayer: newFlatLayer(name, schema), w: bufio.NewWriterSize(out, bufferBytes), known: types != nil,
	}
	for k := range w.facts.kinds {
		for _, name := range types {
			w.facts.kinds[k] = w.facts.kinds[k] || geoarrow.RowKind(k).String() == name
		}
	}
	return w, distinctNames(schema, "FlatGeobuf")
}

func (w *flatStream) Write(rec arrow.Record) error {
	if err := w.begin(rec); err != nil {
		return err
	}
	for i := range int(rec.NumRows()) {
		if err := w.feature(rec, i); err != nil {
			return fmt.Errorf("row %d: %w", w.rows, err)
		}
		w.rows++
	}
	return nil
}

// begin writes the header. If the types of the geometries are not known, each feature has its own
// type, and the first record tells whether there are Z and M.
func (w *flatStream) begin(rec arrow.Record) error {
	if w.begun {
		return nil
	}
	w.begun = true
	if !w.known && rec != nil && w.geometry >= 0 {
		for i := range int(rec.NumRows()) {
			t, ok, err := treeAt(rec.Column(w.geometry), i)
			if err != nil {
				return err
			}
			if ok {
				w.facts.kinds[geoarrow.MakeRowKind(t.Kind, t.Dim)] = true
			}
		}
		// Later records may have other types.
		dim := w.facts.dim()
		w.facts.kinds[geoarrow.MakeRowKind(geoarrow.Point, dim)] = true
		w.facts.kinds[geoarrow.MakeRowKind(geoarrow.Polygon, dim)] = true
	}
	_, err := w.w.Write(w.header(0, false))
	return err
}

func (w *flatStream) feature(rec arrow.Record, i int) (err error) {
	if w.row, err = w.properties(w.row[:0], rec, i); err != nil {
		return err
	}
	var wkb []byte
	if w.geometry >= 0 && !IsNull(rec.Column(w.geometry), i) {
		wkb = rec.Column(w.geometry).(binaryArray).Value(i)
		t, err := geoarrow.ParseWKB(wkb)
		if err != nil {
			return err
		}
		if dim := w.facts.dim(); t.Dim&^dim != 0 {
			return fmt.Errorf("a %s with more ordinates than the first rows have, which FlatGeobuf can't stream: "+
				"select rows of one dimension", geoarrow.MakeRowKind(t.Kind, t.Dim))
		}
	}
	b, err := w.build(w.row, wkb)
	if err != nil {
		return err
	}
	_, err = w.w.Write(b)
	return err
}

// Flush writes what is complete.
func (w *flatStream) Flush() error { return w.w.Flush() }

func (w *flatStream) Close() error {
	if err := w.begin(nil); err != nil {
		return err
	}
	return w.w.Flush()
}
