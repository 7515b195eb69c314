package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/rtree"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geoPackage writes a GeoPackage 1.4 (OGC 12-128r19) with one table. Rows are inserted as they come,
// in one transaction without a journal: a file that is not complete is discarded as a whole. The row
// of gpkg_contents, the type of the geometries and the index of rows follow at the end.
//
// A table has one geometry column at most. Further geometries are WKT. The key of the rows is a
// column of its own, which counts from 1.
type geoPackage struct {
	layer
	out    *os.File
	db     *sqlite3.Conn
	insert *sqlite3.Stmt
	boxes  rowIndex

	facts    geometryFacts
	rows     int64
	srs      geoPackageSRS
	geometry []byte // of the current row
	text     []byte
}

// layer is the only table of a file.
type layer struct {
	name   string
	schema *arrow.Schema
	key    string // the column that numbers the rows
	shape  int    // the geometry column; -1: none
}

func newGeoPackage(out *os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	if err := distinctNames(schema, "GeoPackage"); err != nil {
		return nil, err
	}
	if err := distinctFolded(schema, "GeoPackage"); err != nil {
		return nil, err
	}
	w := &geoPackage{out: out, layer: layer{
		name: tableName(layerName(out.Name(), ".gpkg")), schema: schema, key: keyName(schema),
		shape: geometryColumn(schema),
	}}
	if err := w.begin(); err != nil {
		return nil, errors.Join(w.explain(err), w.closeDatabase())
	}
	return w, nil
}

// distinctFolded refuses names that differ only by case, which are one name in SQL.
func distinctFolded(schema *arrow.Schema, where string) error {
	seen := map[string]string{}
	for _, f := range schema.Fields() {
		folded := strings.ToLower(f.Name)
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("%s: the columns %q and %q have one name there; give one another name with AS",
				where, other, f.Name)
		}
		seen[folded] = f.Name
	}
	return nil
}

// tableName returns a name that the standard and SQLite do not reserve.
func tableName(name string) string {
	lower := strings.ToLower(name)
	for _, reserved := range []string{"gpkg_", "rtree_", "sqlite_"} {
		if strings.HasPrefix(lower, reserved) {
			return "layer_" + name
		}
	}
	if name == "" {
		return "layer"
	}
	return name
}

// keyName is "fid", followed by a number if the table has such a column.
func keyName(schema *arrow.Schema) string {
	name := "fid"
	for n := 1; ; n++ {
		free := true
		for _, f := range schema.Fields() {
			free = free && !strings.EqualFold(f.Name, name)
		}
		if free {
			return name
		}
		name = fmt.Sprintf("fid_%d", n)
	}
}

// begin opens the database and creates its tables.
func (w *geoPackage) begin() (err error) {
	path, err := filepath.Abs(w.out.Name())
	if err != nil {
		return err
	}
	if w.db, err = sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE); err != nil {
		return err
	}
	if err = rtree.Register(w.db); err != nil {
		return err
	}
	w.srs = geoPackageSystem(w.schema, w.shape)
	if err := w.db.Exec(geoPackageTables + w.layer.create()); err != nil {
		return err
	}
	w.insert, _, err = w.db.Prepare(w.layer.insert())
	return err
}

func (w *geoPackage) Write(rec arrow.Record) error {
	for i := range int(rec.NumRows()) {
		if err := w.row(rec, i); err != nil {
			return errors.Join(fmt.Errorf("row %d: %w", w.rows, w.explain(err)), w.closeDatabase())
		}
		w.rows++
	}
	return nil
}

// row inserts row i of a record.
func (w *geoPackage) row(rec arrow.Record, i int) error {
	if err := w.insert.BindInt64(1, w.rows+1); err != nil {
		return err
	}
	for c, column := range rec.Columns() {
		err := error(nil)
		switch {
		case IsNull(column, i):
			err = w.insert.BindNull(c + 2)
		case c == w.shape:
			err = w.bindGeometry(c+2, column, i)
		default:
			err = w.bind(c+2, w.schema.Field(c), column, i)
		}
		if err != nil {
			return err
		}
	}
	return w.insert.Exec()
}

// bindGeometry binds a geometry as GeoPackageBinary (section 2.1.3), and notes its box for the index:
//
//	GP  version 0  flags  srs_id  [xmin xmax ymin ymax]  ISO WKB
//
// All numbers are little-endian. Points and empty geometries have no envelope.
func (w *geoPackage) bindGeometry(param int, column arrow.Array, i int) error {
	t, _, err := treeAt(column, i)
	if err != nil {
		return err
	}
	const (
		littleEndian = 1
		withXY       = 1 << 1
		isEmpty      = 1 << 4
	)
	box, bound := w.facts.add(&t)
	flags := byte(littleEndian)
	switch {
	case t.Empty():
		flags |= isEmpty
	case bound && t.Kind != geoarrow.Point:
		flags |= withXY
	}
	le := binary.LittleEndian
	b := le.AppendUint32(append(w.geometry[:0], 'G', 'P', 0, flags), uint32(w.srs.id))
	if flags&withXY != 0 {
		for _, v := range [4]float64{box[0], box[2], box[1], box[3]} {
			b = le.AppendUint64(b, math.Float64bits(v))
		}
	}
	w.geometry = append(b, column.(binaryArray).Value(i)...)
	if err := w.insert.BindBlob(param, w.geometry); err != nil || !bound {
		return err
	}
	return w.boxes.add(w.rows+1, box)
}

// Close writes what is known of all rows, and commits.
func (w *geoPackage) Close() error {
	err := w.describe()
	if err == nil {
		err = w.writeIndex()
	}
	if err == nil {
		err = w.db.Exec(w.layer.triggers() + "COMMIT;")
	}
	return errors.Join(w.explain(err), w.closeDatabase())
}

// closeDatabase closes the database, if it is open.
func (w *geoPackage) closeDatabase() error {
	if w.db == nil {
		return nil
	}
	if w.insert != nil {
		_ = w.insert.Close() // repeats the error of its last use
	}
	db := w.db
	w.db = nil
	return db.Close()
}

// explain turns SQLite's error for a full disk into the system's.
func (w *geoPackage) explain(err error) error {
	if errors.Is(err, sqlite3.FULL) {
		return &fs.PathError{Op: "write", Path: w.out.Name(), Err: syscall.ENOSPC}
	}
	return err
}
