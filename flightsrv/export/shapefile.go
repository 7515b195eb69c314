package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// shapefile writes a shapefile (ESRI Shapefile Technical Description, July 1998) with its attributes
// in dBASE III. The files are .shp, and in this order .shx, .dbf, .prj and .cpg.
//
// The type of the shapes and the widths of the fields come first and are known last. Rows therefore
// wait in a file without a name in the folder of the output, and only facts about them in memory.
type shapefile struct {
	schema   *arrow.Schema
	geometry int // column
	files    []*os.File
	table    dbfTable

	spool *os.File
	waits *bufio.Writer // into spool
	rows  int64

	family  shapeFamily // 0: no row has a shape
	dim     geoarrow.Dim
	first   int64 // the first row with a shape
	empties int64 // empty geometries, which are null shapes
	row     []byte
}

// Indexes of the files of a shapefile.
const (
	shpFile = iota
	shxFile
	dbfFile
	prjFile
	cpgFile
)

func newShapefile(files []*os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	w := &shapefile{schema: schema, geometry: geometryColumn(schema), files: files}
	if w.geometry < 0 {
		return nil, fmt.Errorf("shapefile: the table has no geometry; .csv, .parquet and .gpkg can be without one")
	}
	if err := w.system(); err != nil {
		return nil, err
	}
	if err := w.table.begin(schema, w.geometry); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(filepath.Dir(files[shpFile].Name()), ".rows")
	if err != nil {
		return nil, err
	}
	w.spool, w.waits = spool, bufio.NewWriterSize(spool, bufferBytes)
	return w, os.Remove(spool.Name()) // a killed process leaves no file
}

// Write writes rows to the spool: the length of the rest, the cells, WKB.
func (w *shapefile) Write(rec arrow.Record) error {
	for i := range int(rec.NumRows()) {
		if err := w.add(rec, i); err != nil {
			return fmt.Errorf("row %d: %w", w.rows, err)
		}
		if _, err := w.waits.Write(w.row); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

// add builds the row of the spool.
func (w *shapefile) add(rec arrow.Record, i int) (err error) {
	const lengths = 8 // of the cells and of WKB
	if w.row, err = w.table.cells(append(w.row[:0], make([]byte, lengths)...), rec, i); err != nil {
		return err
	}
	cells := len(w.row) - lengths
	column := rec.Column(w.geometry)
	t, ok, err := treeAt(column, i)
	switch {
	case err != nil:
		return err
	case ok && t.Empty():
		w.empties++
	case ok:
		if err := w.accept(&t); err != nil {
			return err
		}
		w.row = append(w.row, column.(binaryArray).Value(i)...)
	}
	binary.LittleEndian.PutUint32(w.row, uint32(cells))
	binary.LittleEndian.PutUint32(w.row[4:], uint32(len(w.row)-lengths-cells))
	return nil
}

// accept checks that a geometry can be a shape of the file.
func (w *shapefile) accept(t *geoarrow.Tree) error {
	family := familyOf(t.Kind)
	if family == 0 {
		return fmt.Errorf("a shapefile can't hold a %s", t.Kind)
	}
	if w.family == 0 {
		w.family, w.dim, w.first = family, t.Dim, w.rows
	}
	switch {
	case family|w.family == pointFamily|multiPointFamily:
		w.family = multiPointFamily
	case family != w.family:
		return fmt.Errorf("the geometry is a %s, and that of row %d is not: a shapefile has one type of shapes",
			t.Kind, w.first)
	}
	if t.Dim != w.dim {
		return fmt.Errorf("the geometry is %s, and that of row %d is %s: a shapefile has one type of shapes",
			geoarrow.MakeRowKind(t.Kind, t.Dim), w.first, geoarrow.MakeRowKind(t.Kind, w.dim))
	}
	return acceptParts(t)
}

// Close writes the files.
func (w *shapefile) Close() error {
	defer w.spool.Close()
	if err := w.waits.Flush(); err != nil {
		return err
	}
	if _, err := w.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	table, err := w.table.create(w.files[dbfFile], w.rows)
	if err != nil {
		return err
	}
	shapes := newShapes(w.files[shpFile], w.files[shxFile], w.family, w.dim)
	in := bufio.NewReaderSize(w.spool, bufferBytes)
	for row := range w.rows {
		if err := w.copy(in, table, shapes, row); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	return shapes.Close()
}

// copy writes the next row of the spool.
func (w *shapefile) copy(in io.Reader, table *dbfRecords, shapes *shapes, row int64) error {
	var lengths [8]byte
	if _, err := io.ReadFull(in, lengths[:]); err != nil {
		return err
	}
	cells, wkb := binary.LittleEndian.Uint32(lengths[:]), binary.LittleEndian.Uint32(lengths[4:])
	w.row = append(w.row[:0], make([]byte, int(cells)+int(wkb))...)
	if _, err := io.ReadFull(in, w.row); err != nil {
		return err
	}
	if err := table.Write(row, w.row[:cells]); err != nil {
		return err
	}
	if wkb == 0 {
		return shapes.null()
	}
	t, err := geoarrow.ParseWKB(w.row[cells:])
	if err == nil {
		err = shapes.add(&t)
	}
	if err != nil {
		return fmt.Errorf("row %d: %w", row, err)
	}
	return nil
}

// Notes returns what readers will find otherwise than in the table.
func (w *shapefile) Notes() []string {
	notes := w.table.notes()
	if w.empties > 0 {
		notes = append(notes, fmt.Sprintf("%d empty geometries are null shapes", w.empties))
	}
	return notes
}

// system writes .prj and .cpg. The definition is ESRI's WKT; a file without a system has no .prj.
func (w *shapefile) system() error {
	if _, err := w.files[cpgFile].WriteString("UTF-8"); err != nil {
		return err
	}
	text, err := esriWKT(w.schema.Field(w.geometry))
	if err != nil {
		return err
	}
	_, err = w.files[prjFile].WriteString(text)
	return err
}

// finitePositions reports whether x, y and z of all positions are numbers.
func finitePositions(run []float64, dim geoarrow.Dim) bool {
	m := ordinateOf(dim, geoarrow.HasM)
	for i, v := range run {
		if i%dim.Size() != m && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return false
		}
	}
	return true
}
