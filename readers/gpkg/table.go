package gpkg

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
)

// table is what is known of a layer's table before its rows.
type table struct {
	columns  []column // in the order of their values in a record
	geometry int      // index of the column of geometries; -1: there is none
	rowid    int      // of the column of rowids; -1: there is none
	srs      int64
	leaves   []uint32
	utf8     bool // texts are in UTF-8
	crs      geoarrow.CRS
}

// column is a column of the table.
type column struct {
	name    string
	store   store
	missing sqlite.Value // value of rows that are older than the column
	broken  error        // why that value is not known; nil: it is
}

// store is the representation of a column's values.
type store uint8

const (
	storeAny store = iota // text of a value of any class
	storeBool
	storeInt32
	storeInt64
	storeFloat
	storeText
	storeJSON
	storeBytes
	storeDate // days since 1970-01-01
	storeTime // microseconds since 1970-01-01T00:00:00Z
	storeRowid
	storeGeometry
)

// stores are the stores of the types of GeoPackage (Table 1), and of types that GDAL knows too.
var stores = map[string]store{
	"BOOLEAN": storeBool, "TINYINT": storeInt32, "SMALLINT": storeInt32, "MEDIUMINT": storeInt32,
	"INT": storeInt64, "INTEGER": storeInt64, "FLOAT": storeFloat, "DOUBLE": storeFloat, "REAL": storeFloat,
	"NUMERIC": storeFloat, "TEXT": storeText, "BLOB": storeBytes, "DATE": storeDate, "DATETIME": storeTime,
}

// kinds are the kinds of every value of a store, so that a column has its type in every part of a
// file, even without values. Bytes, dates and times get their types at the end of a chunk.
var kinds = [...]geoarrow.FactKinds{
	storeAny:   geoarrow.FactString,
	storeBool:  geoarrow.FactBool,
	storeInt32: geoarrow.FactInt32,
	storeInt64: geoarrow.FactInt64,
	storeFloat: geoarrow.FactFloat,
	storeText:  geoarrow.FactString,
	storeJSON:  geoarrow.FactJSON,
	storeBytes: geoarrow.FactString,
	storeDate:  geoarrow.FactInt32,
	storeTime:  geoarrow.FactInt64,
	storeRowid: geoarrow.FactInt64,
}

// storeOf returns the store of a declared type, such as TEXT(16).
func storeOf(declared string) store {
	base, _, sized := strings.Cut(declared, "(")
	s := stores[strings.ToUpper(strings.TrimSpace(base))]
	if sized && s != storeText && s != storeBytes {
		return storeAny
	}
	return s
}

var (
	errView         = errors.New("the layer is a view, which is not read: only tables are")
	errVirtual      = errors.New("the layer is a virtual table, which is not read")
	errWithoutRowid = errors.New("the table is WITHOUT ROWID, which is not read")
)

// open returns the layer's table. Defects are *sqlite.Faults.
func (l *layer) open(ctx context.Context, p *geoPackage) (*table, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.table != nil {
		return l.table, nil
	}
	t, err := l.read(ctx, p)
	if f := (*sqlite.Fault)(nil); err != nil && !errors.As(err, &f) {
		if ctx.Err() != nil {
			return nil, err
		}
		err = &sqlite.Fault{Offset: l.object.Offset, Err: fmt.Errorf("layer %q: %w", l.name, err)}
	}
	if err == nil {
		l.table = t
	}
	return t, err
}

func (l *layer) read(ctx context.Context, p *geoPackage) (*table, error) {
	switch {
	case l.object.Type == "view":
		return nil, errView
	case l.object.Root == 0:
		return nil, errVirtual
	}
	declared, err := sqlite.ParseTable(l.object.SQL)
	if err != nil {
		return nil, err
	}
	if declared.WithoutRowid {
		return nil, errWithoutRowid
	}
	t := &table{geometry: -1, rowid: -1, srs: l.srs, utf8: p.db.Encoding == sqlite.UTF8}
	taken := map[string]bool{}
	for _, c := range declared.Columns {
		if taken[strings.ToLower(c.Name)] {
			return nil, fmt.Errorf("two columns %q", c.Name)
		}
		taken[strings.ToLower(c.Name)] = true
		if c.Virtual {
			continue
		}
		out := column{name: c.Name, store: storeOf(c.Type)}
		if out.store == storeText && p.json[columnKey(l.name, c.Name)] {
			out.store = storeJSON
		}
		out.missing, out.broken = literal(c.Default)
		switch {
		case c.Rowid:
			t.rowid = len(t.columns)
			out.store = storeRowid
		case l.column != "" && strings.EqualFold(c.Name, l.column):
			t.geometry = len(t.columns)
			out.store = storeGeometry
		}
		t.columns = append(t.columns, out)
	}
	if l.column != "" && t.geometry < 0 {
		return nil, fmt.Errorf("no column %q, which %s names", l.column, tableGeometries)
	}
	if t.geometry >= 0 {
		t.crs = p.crs(l.srs)
	}
	t.leaves, err = p.db.Leaves(ctx, l.object.Root)
	return t, err
}

// literal returns the value of a DEFAULT clause.
func literal(text string) (sqlite.Value, error) {
	text = strings.TrimSpace(text)
	for len(text) > 2 && text[0] == '(' && text[len(text)-1] == ')' {
		text = text[1 : len(text)-1]
	}
	switch upper := strings.ToUpper(text); {
	case text == "" || upper == "NULL":
		return sqlite.Value{}, nil
	case upper == "TRUE":
		return sqlite.Value{Class: sqlite.Integer, Int: 1}, nil
	case upper == "FALSE":
		return sqlite.Value{Class: sqlite.Integer}, nil
	case len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0]:
		quote := text[:1]
		value := strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote)
		return sqlite.Value{Class: sqlite.Text, Bytes: []byte(value)}, nil
	case len(text) > 2 && upper[0] == 'X' && text[1] == '\'':
		if b, err := hex.DecodeString(text[2 : len(text)-1]); err == nil {
			return sqlite.Value{Class: sqlite.Blob, Bytes: b}, nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return sqlite.Value{Class: sqlite.Integer, Int: n}, nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return sqlite.FloatValue(x), nil
	}
	return sqlite.Value{}, fmt.Errorf("the row is older than the column, whose default value %s is not a literal", text)
}
