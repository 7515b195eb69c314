package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

var (
	magic     = []byte("PAR1")
	encrypted = []byte("PARE")
)

const (
	tailBytes      = 8         // length of the footer, magic
	footerBytes    = 512 << 10 // most footers are shorter: one request of a remote file brings them
	arrowSchemaKey = "ARROW:schema"
)

// footer is what is known before any row.
type footer struct {
	meta     *metadata.FileMetaData
	manifest *pqarrow.SchemaManifest
	types    []arrow.DataType // of the fields that are assembled from columns
	int96    map[int]bool     // columns of INT96, by their number
	logical  map[int]*logical // GEOMETRY and GEOGRAPHY, by the number of the column
	plan     *records.Plan
}

// open reads the footer. at is the offset of an error.
func (f *footer) open(src *source.File) (at int64, err error) {
	if src.Size < tailBytes+int64(len(magic)) {
		return src.Size, fmt.Errorf("a file of %d bytes: one that begins and ends with %q is expected", src.Size, magic)
	}
	src.Prefetch([2]int64{src.Size - footerBytes, src.Size})
	tail := make([]byte, tailBytes)
	if err := read(src, tail, src.Size-tailBytes); err != nil {
		return src.Size, err
	}
	if bytes.Equal(tail[4:], encrypted) {
		return src.Size - 4, errors.New("the footer is encrypted, which is not read")
	}
	if !bytes.Equal(tail[4:], magic) {
		return src.Size - 4, fmt.Errorf("the file ends with %q instead of %q: it is not complete, or no Parquet",
			tail[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	at = src.Size - tailBytes - length
	if at < int64(len(magic)) {
		return src.Size - tailBytes, fmt.Errorf("a footer of %d bytes in a file of %d", length, src.Size)
	}
	text := make([]byte, length)
	if err := read(src, text, at); err != nil {
		return at, err
	}
	if f.logical, err = checkFooter(text); err != nil {
		return at, err
	}
	return at, records.Guard(func() error { return f.parse(text) })
}

// read fills p with bytes that are known to exist.
func read(src *source.File, p []byte, at int64) error {
	n, err := src.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w: it was %d bytes long", src.Name, source.ErrChanged, src.Size)
	}
	return err
}

func (f *footer) parse(text []byte) error {
	meta, err := metadata.NewFileMetaData(text, nil)
	if err != nil {
		return err
	}
	if meta.IsSetEncryptionAlgorithm() {
		return errors.New("columns are encrypted, which is not read")
	}
	// Arrow's own code would read this schema without checks, and refuse a file for unknown types
	// in it.
	kept, origin := meta.FileMetaData.KeyValueMetadata[:0], ""
	var keys, values []string
	for _, kv := range meta.FileMetaData.KeyValueMetadata {
		if kv.Key == arrowSchemaKey {
			origin = kv.GetValue()
			continue
		}
		kept = append(kept, kv)
		keys, values = append(keys, kv.Key), append(values, kv.GetValue())
	}
	meta.FileMetaData.KeyValueMetadata = kept
	f.meta = meta
	if f.int96, err = showInt96(meta); err != nil {
		return err
	}
	if f.manifest, err = pqarrow.NewSchemaManifest(meta.Schema, nil, &pqarrow.ArrowReadProperties{}); err != nil {
		return err
	}
	fields := make([]arrow.Field, len(f.manifest.Fields))
	for i := range f.manifest.Fields {
		if fields[i], err = f.field(&f.manifest.Fields[i]); err != nil {
			return &records.FieldError{Field: f.manifest.Fields[i].Field.Name, Err: err}
		}
	}
	applyOrigin(fields, origin)
	f.applyLogical(fields, func(name string) (string, bool) {
		i := slices.Index(keys, name)
		if i < 0 {
			return "", false
		}
		return values[i], true
	})
	f.types = make([]arrow.DataType, len(fields))
	for i := range fields {
		f.types[i] = fields[i].Type
	}
	said := arrow.NewMetadata(keys, values)
	f.plan, err = records.NewPlan(arrow.NewSchema(fields, &said))
	return err
}

// applyLogical gives columns of GEOMETRY and GEOGRAPHY the metadata of GeoArrow. The reference
// system of these types takes precedence over the writer's Arrow schema.
func (f *footer) applyLogical(fields []arrow.Field, property func(name string) (string, bool)) {
	for i := range fields {
		s := &f.manifest.Fields[i]
		if !isLeaf(s) {
			continue
		}
		l := f.logical[s.ColIndex]
		if l == nil || fields[i].Type.ID() != arrow.BINARY {
			continue
		}
		fields[i].Metadata = l.metadata(property)
	}
}

// applyOrigin adds to fields what the writer's Arrow schema has in addition to Parquet's: extension
// types and other metadata, time zones, durations. A schema that does not fit, or can't be read, is
// ignored.
func applyOrigin(fields []arrow.Field, text string) {
	message, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		if message, err = base64.RawStdEncoding.DecodeString(text); err != nil {
			return
		}
	}
	const mark, head = math.MaxUint32, 8 // a mark and the length of what follows, which is believed
	if len(message) <= head || binary.LittleEndian.Uint32(message) != mark ||
		uint64(binary.LittleEndian.Uint32(message[4:])) > uint64(len(message)-head) {
		return
	}
	var origin *arrow.Schema
	err = records.Guard(func() error {
		if err := records.CheckSchema(message[head:]); err != nil {
			return err
		}
		r, err := ipc.NewReader(bytes.NewReader(message),
			ipc.WithAllocator(&records.Allocator{Most: int64(len(message))}))
		if err != nil {
			return err
		}
		origin = r.Schema()
		return nil
	})
	if err != nil || origin.NumFields() != len(fields) {
		return
	}
	for i, o := range origin.Fields() {
		f := &fields[i]
		if o.Name != f.Name {
			continue
		}
		if o.Metadata.Len() > 0 {
			f.Metadata = o.Metadata
		}
		f.Type = originType(f.Type, o.Type)
	}
}

// originType returns the type that values were written from, where they are the same bits.
func originType(t, origin arrow.DataType) arrow.DataType {
	switch o := origin.(type) {
	case *arrow.TimestampType:
		if _, ok := t.(*records.Int96); ok {
			return records.NewInt96(o.TimeZone)
		}
		if at, ok := t.(*arrow.TimestampType); ok && at.Unit == o.Unit && at.TimeZone == "UTC" && o.TimeZone != "" {
			return o
		}
	case *arrow.DurationType:
		if t.ID() == arrow.INT64 {
			return o
		}
	case *arrow.ListType: // some writers have every element optional
		list, ok := t.(*arrow.ListType)
		if ok && !o.ElemField().Nullable && arrow.TypeEqual(list.Elem(), o.Elem()) {
			return o
		}
	}
	return t
}

// path returns the name of a column for errors.
func (f *footer) path(column int) string {
	return strings.Join(f.meta.Schema.Column(column).ColumnPath(), ".")
}
