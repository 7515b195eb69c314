package store

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
	"time"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/source"
)

// The columns of a row, in the order of values and targets. A new column is added at the end. It is
// NULL in older rows, so their checksums stay valid.
const columns = `name, options,
	size, mtime, ctime, device, inode, content,
	format, format_version, rows, table_bytes, bbox, engine, parse_time, parsed_at,
	geometry_types, options_json, crs, last_error, "schema", columns, blocks, shape, siblings, layers,
	object`

// deviceColumn is the place of a column that is 0 in new rows. Older rows have the device of the
// file there, which differs between the hosts of a network file system.
const deviceColumn = 5

// upsert has the values and their checksum as parameters.
const upsert = `INSERT INTO record (` + columns + `, sum) VALUES
	(?,?, ?,?,?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?, ?)
	ON CONFLICT (name, options) DO UPDATE SET
	size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
	device = excluded.device, inode = excluded.inode,
	content = excluded.content, format = excluded.format,
	format_version = excluded.format_version, rows = excluded.rows,
	table_bytes = excluded.table_bytes, bbox = excluded.bbox,
	engine = excluded.engine, parse_time = excluded.parse_time,
	parsed_at = excluded.parsed_at, geometry_types = excluded.geometry_types,
	options_json = excluded.options_json, crs = excluded.crs,
	last_error = excluded.last_error, "schema" = excluded."schema",
	columns = excluded.columns, blocks = excluded.blocks,
	shape = excluded.shape, siblings = excluded.siblings, layers = excluded.layers,
	object = excluded.object, sum = excluded.sum`

// values returns the values to store for a checked record. Each is a string, []byte, int64 or nil.
func (r *Record) values() ([]any, error) {
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
		id.Size, id.Mtime, id.Ctime, int64(0), int64(id.Inode), blob(r.Content),
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

// row is a row as read from the database. It may have any content.
type row struct {
	id            int64
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
	record        Record
}

// targets returns the destinations of Scan for id, sum and columns.
func (w *row) targets() []any {
	r := &w.record
	return []any{
		&w.id, &w.sum, &w.name, &w.options,
		&r.Identity.Size, &r.Identity.Mtime, &r.Identity.Ctime, &w.device, &w.inode, &r.Content,
		&r.Format, &r.FormatVersion, &r.Rows, &r.TableBytes, &w.bbox, &r.Engine, &w.parseTime, &w.parsedAt,
		&w.types, &r.OptionsJSON, &r.CRS, &r.LastError, &r.Schema, &w.stats, &r.Blocks, &r.Shape,
		&w.siblings, &w.layers,
		&w.object,
	}
}

// key returns the key where a listing continues after the row. It does not matter whether the row
// decodes.
func (w *row) key() Key {
	k := Key{Name: string(w.name)}
	copy(k.Options[:], w.options)
	return k
}

// bytes returns approximately how much memory the row takes.
func (w *row) bytes() int {
	r := &w.record
	return len(w.name) + len(w.layers) + len(w.types) + len(w.stats) + len(r.OptionsJSON) + len(r.CRS) +
		len(r.LastError) + len(r.Schema) + len(r.Blocks) + len(r.Shape)
}

// decode returns the record of a scanned row, or an error if the row is invalid.
func (w *row) decode() (Record, error) {
	r := w.record
	if len(w.options) != len(r.Options) {
		return Record{}, fmt.Errorf("options: a digest has %d bytes, not %d", len(r.Options), len(w.options))
	}
	r.Key = Key{Name: string(w.name), Options: [32]byte(w.options)}
	r.Identity.Inode = uint64(w.inode)
	r.ParseTime = time.Duration(w.parseTime)
	if w.parsedAt.Valid {
		r.ParsedAt = time.Unix(0, w.parsedAt.Int64).UTC()
	}
	if n := len(w.siblings); n != 0 && n != len(r.Identity.Siblings) {
		return Record{}, fmt.Errorf("siblings: a digest has %d bytes, not %d", len(r.Identity.Siblings), n)
	}
	copy(r.Identity.Siblings[:], w.siblings)
	if w.object.Valid && w.object.String == "" {
		return Record{}, errors.New("object: an empty text, not NULL")
	}
	r.Identity.Object = source.ObjectVersion(w.object.String)
	var err error
	if r.BBox, err = decodeBox(w.bbox); err != nil {
		return Record{}, err
	}
	if err := decodeJSON(w.types, &r.GeometryTypes); err != nil {
		return Record{}, fmt.Errorf("geometry types: %w", err)
	}
	if err := decodeJSON(w.stats, &r.Columns); err != nil {
		return Record{}, fmt.Errorf("columns: %w", err)
	}
	if w.layers != nil {
		if err := decodeJSON(w.layers, &r.Layers); err != nil {
			return Record{}, fmt.Errorf("layers: %w", err)
		}
	}
	if err := r.check(); err != nil {
		return Record{}, err
	}
	values, err := r.values()
	if err != nil {
		return Record{}, err
	}
	values[deviceColumn] = w.device // of an older row
	if !bytes.Equal(checksum(values), w.sum) {
		return Record{}, errors.New("the checksum does not fit")
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
