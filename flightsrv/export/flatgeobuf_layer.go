package export

import (
	"encoding/binary"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// flatLayer is the rows of a FlatGeobuf, which all have the same columns.
type flatLayer struct {
	name     string
	schema   *arrow.Schema
	geometry int // column; -1: none
	facts    geometryFacts
	builds   *flatbuffers.Builder
}

func newFlatLayer(name string, schema *arrow.Schema) flatLayer {
	return flatLayer{
		name: name, schema: schema, geometry: geometryColumn(schema), builds: flatbuffers.NewBuilder(64 << 10),
	}
}

// properties appends the values of row i that are not null: each after the number of its column.
func (w *flatLayer) properties(row []byte, rec arrow.Record, i int) ([]byte, error) {
	for c, column := range rec.Columns() {
		if c == w.geometry || IsNull(column, i) {
			continue
		}
		var err error
		row = binary.LittleEndian.AppendUint16(row, uint16(w.property(c)))
		if row, err = appendProperty(row, rec.Schema().Field(c), column, i); err != nil {
			return row, err
		}
	}
	return row, nil
}

// property is the index of a column among the properties.
func (w *flatLayer) property(column int) int {
	if w.geometry >= 0 && column > w.geometry {
		return column - 1
	}
	return column
}

// build builds the flatbuffer of a feature. An empty wkb is no geometry.
func (w *flatLayer) build(properties, wkb []byte) ([]byte, error) {
	b := w.builds
	b.Reset()
	values := b.CreateByteVector(properties)
	var shape flatbuffers.UOffsetT
	if len(wkb) > 0 {
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
	flat.FeatureAddProperties(b, values)
	b.FinishSizePrefixed(flat.FeatureEnd(b))
	return b.FinishedBytes(), nil
}

// header returns the magic bytes and the flatbuffer of the header. rows is 0 if their number is unknown.
func (w *flatLayer) header(rows int, indexed bool) []byte {
	b := flatbuffers.NewBuilder(4 << 10)
	name := b.CreateString(w.name)
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
	return append([]byte(flatGeobufMagic), b.FinishedBytes()...)
}

func (w *flatLayer) columns(b *flatbuffers.Builder) flatbuffers.UOffsetT {
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
func (w *flatLayer) crs(b *flatbuffers.Builder) flatbuffers.UOffsetT {
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
