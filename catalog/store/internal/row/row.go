// Package row encodes a record as a row of an SQL database, with a checksum. All stores in
// databases have the same values in their rows.
package row

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Columns are the columns of a row as SQL, without the checksum, in the order of Encode and of
// Row.Targets. A new column is added at the end. It is NULL in older rows, so their checksums stay
// valid.
const Columns = `name, options,
	size, mtime, ctime, device, inode, content,
	format, format_version, rows, table_bytes, bbox, engine, parse_time, parsed_at,
	geometry_types, options_json, crs, last_error, "schema", columns, blocks, shape, siblings, layers,
	object`

// Names returns the names of Columns.
func Names() []string { return strings.Split(strings.Join(strings.Fields(Columns), ""), ",") }

// Assignments returns the part of an upsert that replaces the values of a row and its checksum.
func Assignments() string {
	var set []string
	for _, name := range append(Names(), "sum") {
		if name != "name" && name != "options" {
			set = append(set, name+" = excluded."+name)
		}
	}
	return strings.Join(set, ", ")
}

// A page is what a listing reads at once, so that no transaction is open during a slow listing.
const (
	PageRows  = 256
	PageBytes = 4 << 20 // the page ends after the row that exceeds it
)

// MaxValueBytes is the maximum size of a text or blob. It limits what Encode accepts, and what a
// damaged length can make us allocate.
const MaxValueBytes = 64 << 20

// Encode returns the values to store for a record: those of Columns, and their checksum. Each is a
// string, []byte, int64 or nil. It returns an error for a record that cannot be stored.
func Encode(r *store.Record) ([]any, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	values, err := values(r)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		n := 0
		switch v := v.(type) {
		case string:
			n = len(v)
		case []byte:
			n = len(v)
		}
		if n > MaxValueBytes {
			return nil, fmt.Errorf("record of %s: %s: %d bytes, at most %d", r.Name, Names()[i], n, MaxValueBytes)
		}
	}
	return append(values, checksum(values)), nil
}

// values returns the values to store for a checked record.
func values(r *store.Record) ([]any, error) {
	types, err := json.Marshal(r.GeometryTypes)
	if err != nil {
		return nil, err
	}
	stats, err := json.Marshal(r.Columns)
	if err != nil {
		return nil, err
	}
	var parsedAt any
	if !r.ParsedAt.IsZero() {
		parsedAt = r.ParsedAt.UnixNano()
	}
	var layers any
	if len(r.Layers) > 0 {
		text, err := json.Marshal(r.Layers)
		if err != nil {
			return nil, err
		}
		layers = string(text)
	}
	id := r.Identity
	var siblings any
	if id.Siblings != [16]byte{} {
		siblings = id.Siblings[:]
	}
	var object any
	if id.Remote() {
		object = string(id.Object)
	}
	return []any{
		r.Name, r.Options[:],
		id.Size, id.Mtime, id.Ctime, int64(id.Device), int64(id.Inode), blob(r.Content),
		r.Format, int64(r.FormatVersion), r.Rows, r.TableBytes, blob(appendBox(nil, r.BBox)), r.Engine,
		int64(r.ParseTime), parsedAt,
		string(types), r.OptionsJSON, r.CRS, r.LastError, blob(r.Schema), string(stats), blob(r.Blocks),
		blob(r.Shape), siblings, layers,
		object,
	}, nil
}

// blob returns b, or NULL if b is empty.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

const sumBytes = 16

// checksum detects rows with a flipped bit or with mixed values. It is the first bytes of the
// SHA-256 of all values that are not nil, as
//
//	0         4         12
//	| column  | length  | bytes, or an int64 in place of the length |
//
// with little-endian integers.
func checksum(values []any) []byte {
	h := sha256.New()
	var head [12]byte
	for i, v := range values {
		binary.LittleEndian.PutUint32(head[:], uint32(i))
		switch v := v.(type) {
		case nil:
		case int64:
			binary.LittleEndian.PutUint64(head[4:], uint64(v))
			h.Write(head[:])
		case string:
			binary.LittleEndian.PutUint64(head[4:], uint64(len(v)))
			h.Write(head[:])
			_, _ = io.WriteString(h, v) // a hash never returns an error
		case []byte:
			binary.LittleEndian.PutUint64(head[4:], uint64(len(v)))
			h.Write(head[:])
			h.Write(v)
		default:
			panic(fmt.Sprintf("value %d of a row is a %T", i, v))
		}
	}
	return h.Sum(nil)[:sumBytes]
}

// Row is a row as read from the database. It may have any content.
type Row struct {
	sum           []byte
	name, options []byte
	device, inode int64
	parseTime     int64
	parsedAt      sql.NullInt64
	bbox          []byte
	types, stats  []byte
	siblings      []byte
	layers        []byte
	object        sql.NullString
	record        store.Record
}

// Targets returns the destinations of Scan for sum and Columns.
func (w *Row) Targets() []any {
	r := &w.record
	return []any{
		&w.sum, &w.name, &w.options,
		&r.Identity.Size, &r.Identity.Mtime, &r.Identity.Ctime, &w.device, &w.inode, &r.Content,
		&r.Format, &r.FormatVersion, &r.Rows, &r.TableBytes, &w.bbox, &r.Engine, &w.parseTime, &w.parsedAt,
		&w.types, &r.OptionsJSON, &r.CRS, &r.LastError, &r.Schema, &w.stats, &r.Blocks, &r.Shape,
		&w.siblings, &w.layers,
		&w.object,
	}
}

// Key returns the key where a listing continues after the row. It does not matter whether the row
// decodes.
func (w *Row) Key() store.Key {
	k := store.Key{Name: string(w.name)}
	copy(k.Options[:], w.options)
	return k
}

// Sum returns the checksum as it was read.
func (w *Row) Sum() []byte { return w.sum }

// Bytes returns approximately how much memory the row takes.
func (w *Row) Bytes() int {
	r := &w.record
	return len(w.name) + len(w.layers) + len(w.types) + len(w.stats) + len(r.OptionsJSON) + len(r.CRS) +
		len(r.LastError) + len(r.Schema) + len(r.Blocks) + len(r.Shape)
}

// Decode returns the record of a scanned row, or an error if the row is invalid.
func (w *Row) Decode() (store.Record, error) {
	r := w.record
	if len(w.options) != len(r.Options) {
		return store.Record{}, fmt.Errorf("options: a digest has %d bytes, not %d", len(r.Options), len(w.options))
	}
	r.Key = store.Key{Name: string(w.name), Options: [32]byte(w.options)}
	r.Identity.Device, r.Identity.Inode = uint64(w.device), uint64(w.inode)
	r.ParseTime = time.Duration(w.parseTime)
	if w.parsedAt.Valid {
		r.ParsedAt = time.Unix(0, w.parsedAt.Int64).UTC()
	}
	if n := len(w.siblings); n != 0 && n != len(r.Identity.Siblings) {
		return store.Record{}, fmt.Errorf("siblings: a digest has %d bytes, not %d", len(r.Identity.Siblings), n)
	}
	copy(r.Identity.Siblings[:], w.siblings)
	if w.object.Valid && w.object.String == "" {
		return store.Record{}, errors.New("object: an empty text, not NULL")
	}
	r.Identity.Object = source.ObjectVersion(w.object.String)
	var err error
	if r.BBox, err = decodeBox(w.bbox); err != nil {
		return store.Record{}, err
	}
	if err := decodeJSON(w.types, &r.GeometryTypes); err != nil {
		return store.Record{}, fmt.Errorf("geometry types: %w", err)
	}
	if err := decodeJSON(w.stats, &r.Columns); err != nil {
		return store.Record{}, fmt.Errorf("columns: %w", err)
	}
	if w.layers != nil {
		if err := decodeJSON(w.layers, &r.Layers); err != nil {
			return store.Record{}, fmt.Errorf("layers: %w", err)
		}
	}
	if err := r.Check(); err != nil {
		return store.Record{}, err
	}
	values, err := values(&r)
	if err != nil {
		return store.Record{}, err
	}
	if !bytes.Equal(checksum(values), w.sum) {
		return store.Record{}, errors.New("the checksum does not fit")
	}
	return r, nil
}

// decodeJSON decodes the result of json.Marshal. It checks UTF-8, because json would replace
// invalid bytes by U+FFFD.
func decodeJSON(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8")
	}
	return json.Unmarshal(text, v)
}

const boxBytes = 4 * 8

// appendBox appends four float64, little-endian:
//
//	0     8     16    24    32
//	| xmin | ymin | xmax | ymax |
func appendBox(b []byte, box *[4]float64) []byte {
	if box == nil {
		return b
	}
	for _, v := range box {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func decodeBox(b []byte) (*[4]float64, error) {
	switch len(b) {
	case 0:
		return nil, nil
	case boxBytes:
		var box [4]float64
		for i := range box {
			box[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return &box, nil
	}
	return nil, fmt.Errorf("bbox: has %d bytes, not %d", len(b), boxBytes)
}
