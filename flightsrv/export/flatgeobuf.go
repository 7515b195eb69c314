package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/vibeflight/vibeflight/catalog/rtree"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// flatGeobuf writes FlatGeobuf 3.
//
//	magic    8 bytes
//	header   a flatbuffer after its length
//	index    a packed Hilbert R-tree; none where a geometry is null or empty, which has no place in one
//	features a flatbuffer each after its length, in the order of the index or of the table
//
// If there are only single geometries and those of their Multi type, the type of all is Multi. The
// header is known last, so rows wait in a file without a name in the folder of the output, with 48
// bytes of each in memory.
type flatGeobuf struct {
	out      *os.File
	schema   *arrow.Schema
	geometry int // column; -1: none

	spool  *os.File
	waits  *bufio.Writer // into spool
	at     []int64       // start of each row's properties and WKB in spool, and the end of the last
	boxes  [][4]float64
	facts  geometryFacts
	builds *flatbuffers.Builder
}

const (
	flatGeobufMagic = "fgb\x03fgb\x01"
	indexNodeSize   = 16
	indexItemBytes  = 40 // xmin, ymin, xmax, ymax, offset
)

func newFlatGeobuf(to io.Writer, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	out := to.(*os.File)
	if err := distinctNames(schema, "FlatGeobuf"); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(filepath.Dir(out.Name()), ".rows")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spool.Name()); err != nil { // a killed process leaves no file
		return nil, err
	}
	return &flatGeobuf{
		out: out, schema: schema, geometry: geometryColumn(schema), spool: spool,
		waits: bufio.NewWriterSize(spool, bufferBytes), at: []int64{0},
		builds: flatbuffers.NewBuilder(64 << 10),
	}, nil
}

// Write writes rows to the spool: the length of the properties, the properties, WKB.
func (w *flatGeobuf) Write(rec arrow.Record) error {
	var row []byte
	for i := range int(rec.NumRows()) {
		row = append(row[:0], 0, 0, 0, 0)
		for c, column := range rec.Columns() {
			if c == w.geometry || IsNull(column, i) {
				continue
			}
			var err error
			row = binary.LittleEndian.AppendUint16(row, uint16(w.property(c)))
			if row, err = appendProperty(row, rec.Schema().Field(c), column, i); err != nil {
				return fmt.Errorf("row %d: %w", len(w.at)-1, err)
			}
		}
		binary.LittleEndian.PutUint32(row, uint32(len(row)-4))
		row, err := w.place(row, rec, i)
		if err != nil {
			return fmt.Errorf("row %d: %w", len(w.at)-1, err)
		}
		if _, err := w.waits.Write(row); err != nil {
			return err
		}
		w.at = append(w.at, w.at[len(w.at)-1]+int64(len(row)))
	}
	return nil
}

// place appends the WKB of row i, and records its box.
func (w *flatGeobuf) place(row []byte, rec arrow.Record, i int) ([]byte, error) {
	if w.geometry < 0 || IsNull(rec.Column(w.geometry), i) {
		return row, nil
	}
	t, _, err := treeAt(rec.Column(w.geometry), i)
	if err != nil {
		return row, err
	}
	if box, ok := w.facts.add(&t); ok {
		w.boxes = append(w.boxes, box)
	}
	return append(row, rec.Column(w.geometry).(binaryArray).Value(i)...), nil
}

// binaryArray is a column of bytes.
type binaryArray interface{ Value(int) []byte }

// property is the index of a column among the properties.
func (w *flatGeobuf) property(column int) int {
	if w.geometry >= 0 && column > w.geometry {
		return column - 1
	}
	return column
}

func (w *flatGeobuf) Close() error {
	defer w.spool.Close()
	if err := w.waits.Flush(); err != nil {
		return err
	}
	rows := len(w.at) - 1
	var index []byte
	order := make([]int32, rows) // of the features
	for i := range order {
		order[i] = int32(i)
	}
	if rows > 0 && len(w.boxes) == rows {
		index = rtree.Build(w.boxes, order)
	}
	leaves := index[max(0, len(index)-rows*indexItemBytes):]
	if index != nil {
		for i := range order {
			order[i] = int32(binary.LittleEndian.Uint64(leaves[i*indexItemBytes+32:]))
		}
	}
	head := append([]byte(flatGeobufMagic), w.header(rows, index != nil)...)
	start := int64(len(head) + len(index))
	if _, err := w.out.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if err := w.features(order, leaves); err != nil {
		return err
	}
	_, err := w.out.WriteAt(append(head, index...), 0)
	return err
}

// features writes the features in an order, and the start of each into the leaves of the index, if
// there is one.
func (w *flatGeobuf) features(order []int32, leaves []byte) error {
	out := bufio.NewWriterSize(w.out, bufferBytes)
	var row []byte
	var at uint64
	for i, r := range order {
		size := int(w.at[r+1] - w.at[r])
		row = append(row[:0], make([]byte, size)...)
		if _, err := w.spool.ReadAt(row, w.at[r]); err != nil {
			return err
		}
		feature, err := w.feature(row)
		if err != nil {
			return err
		}
		if leaves != nil {
			binary.LittleEndian.PutUint64(leaves[i*indexItemBytes+32:], at)
		}
		at += uint64(len(feature))
		if _, err := out.Write(feature); err != nil {
			return err
		}
	}
	return out.Flush()
}

// feature builds the flatbuffer of a row in the spool.
func (w *flatGeobuf) feature(row []byte) ([]byte, error) {
	b := w.builds
	b.Reset()
	split := 4 + binary.LittleEndian.Uint32(row)
	properties := b.CreateByteVector(row[4:split])
	var shape flatbuffers.UOffsetT
	if wkb := row[split:]; len(wkb) > 0 {
		t, err := geoarrow.ParseWKB(wkb)
		if err != nil {
			return nil, err
		}
		shape = flatShape{b, w.facts.dim()}.add(w.facts.promoted(t))
	}
	flat.FeatureStart(b)
	if shape != 0 {
		flat.FeatureAddGeometry(b, shape)
	}
	flat.FeatureAddProperties(b, properties)
	b.FinishSizePrefixed(flat.FeatureEnd(b))
	return b.FinishedBytes(), nil
}

// header builds the flatbuffer of the header.
func (w *flatGeobuf) header(rows int, indexed bool) []byte {
	b := flatbuffers.NewBuilder(4 << 10)
	name := b.CreateString(layerName(w.out.Name()))
	columns := w.columns(b)
	crs := w.crs(b)
	var envelope flatbuffers.UOffsetT
	if w.facts.bound > 0 {
		flat.HeaderStartEnvelopeVector(b, 4)
		for i := 3; i >= 0; i-- {
			b.PrependFloat64(w.facts.box[i])
		}
		envelope = b.EndVector(4)
	}
	dim, nodes := w.facts.dim(), uint16(0)
	if indexed {
		nodes = indexNodeSize
	}
	flat.HeaderStart(b)
	flat.HeaderAddName(b, name)
	flat.HeaderAddEnvelope(b, envelope)
	flat.HeaderAddGeometryType(b, flat.GeometryType(w.facts.kind()))
	flat.HeaderAddHasZ(b, dim&geoarrow.HasZ != 0)
	flat.HeaderAddHasM(b, dim&geoarrow.HasM != 0)
	flat.HeaderAddColumns(b, columns)
	flat.HeaderAddFeaturesCount(b, uint64(rows))
	flat.HeaderAddIndexNodeSize(b, nodes)
	flat.HeaderAddCrs(b, crs)
	b.FinishSizePrefixed(flat.HeaderEnd(b))
	return b.FinishedBytes()
}

// layerName is the name of a file without its folder, its extension and its temporary suffix.
func layerName(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "."), ".fgb")
	return name
}

func (w *flatGeobuf) columns(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var columns []flatbuffers.UOffsetT
	for i, f := range w.schema.Fields() {
		if i == w.geometry {
			continue
		}
		name := b.CreateString(f.Name)
		flat.ColumnStart(b)
		flat.ColumnAddName(b, name)
		flat.ColumnAddType(b, columnType(f))
		columns = append(columns, flat.ColumnEnd(b))
	}
	flat.HeaderStartColumnsVector(b, len(columns))
	for i := len(columns) - 1; i >= 0; i-- {
		b.PrependUOffsetT(columns[i])
	}
	return b.EndVector(len(columns))
}

// crs84WKT is OGC:CRS84 in WKT (OGC 18-010r11).
const crs84WKT = `GEOGCRS["WGS 84 (CRS84)",DATUM["World Geodetic System 1984",` +
	`ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],` +
	`PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],` +
	`AXIS["geodetic longitude (Lon)",east,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],` +
	`AXIS["geodetic latitude (Lat)",north,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]],ID["OGC","CRS84"]]`

// crs writes the reference system: by its code if it is registered, otherwise as text.
func (w *flatGeobuf) crs(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	if w.geometry < 0 {
		return 0
	}
	crs, _ := crsOf(w.schema.Field(w.geometry))
	if crs == (geoarrow.CRS{}) {
		return 0
	}
	text := crs.Text
	if crs == geoarrow.CRS84 {
		text = crs84WKT // its code is not a number, and GDAL reads only numbers
	}
	var org, name, wkt flatbuffers.UOffsetT
	number, err := strconv.ParseInt(crs.Code, 10, 32)
	if crs.Authority != "" {
		org = b.CreateString(crs.Authority)
	}
	if err != nil && crs.Code != "" {
		name = b.CreateString(crs.Code)
	}
	if text != "" {
		wkt = b.CreateString(text)
	}
	flat.CrsStart(b)
	flat.CrsAddOrg(b, org)
	flat.CrsAddCode(b, int32(number))
	flat.CrsAddCodeString(b, name)
	flat.CrsAddWkt(b, wkt)
	return flat.CrsEnd(b)
}

// columnType is the type of a column. Types that FlatGeobuf lacks are text, and lists and structs
// are JSON.
func columnType(f arrow.Field) flat.ColumnType {
	if isJSON(f) {
		return flat.ColumnTypeJson
	}
	switch f.Type.ID() {
	case arrow.BOOL:
		return flat.ColumnTypeBool
	case arrow.INT8:
		return flat.ColumnTypeByte
	case arrow.UINT8:
		return flat.ColumnTypeUByte
	case arrow.INT16:
		return flat.ColumnTypeShort
	case arrow.UINT16:
		return flat.ColumnTypeUShort
	case arrow.INT32:
		return flat.ColumnTypeInt
	case arrow.UINT32:
		return flat.ColumnTypeUInt
	case arrow.INT64:
		return flat.ColumnTypeLong
	case arrow.UINT64:
		return flat.ColumnTypeULong
	case arrow.FLOAT32:
		return flat.ColumnTypeFloat
	case arrow.FLOAT64:
		return flat.ColumnTypeDouble
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return flat.ColumnTypeDateTime
	case arrow.BINARY:
		if !isWKB(f) { // a second geometry is WKT
			return flat.ColumnTypeBinary
		}
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST, arrow.STRUCT, arrow.MAP:
		return flat.ColumnTypeJson
	}
	return flat.ColumnTypeString
}
