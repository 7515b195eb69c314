package flatgeobuf_test

import (
	"encoding/binary"
	"math"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	flatbuffers "github.com/google/flatbuffers/go"
)

// fgbFile is a file to be written, with the tables of another implementation.
type fgbFile struct {
	kind     flat.GeometryType
	columns  []fgbColumn
	count    uint64
	nodes    uint16 // of the index, which is zeros, since it is not read
	crs      *fgbCRS
	features [][]byte
	bare     bool // the index is missing
	shared   int  // how often the last column is there
}

type fgbColumn struct {
	name string
	kind flat.ColumnType
}

type fgbCRS struct {
	org, codeString, wkt string
	code                 int32
}

func (f fgbFile) bytes() []byte {
	b := flatbuffers.NewBuilder(0)
	var columns []flatbuffers.UOffsetT
	for _, c := range f.columns {
		name := b.CreateString(c.name)
		flat.ColumnStart(b)
		flat.ColumnAddName(b, name)
		flat.ColumnAddType(b, c.kind)
		columns = append(columns, flat.ColumnEnd(b))
	}
	for range f.shared - 1 {
		columns = append(columns, columns[len(columns)-1])
	}
	flat.HeaderStartColumnsVector(b, len(columns))
	vector := tables(b, columns)
	crs := f.crs.write(b)
	flat.HeaderStart(b)
	flat.HeaderAddGeometryType(b, f.kind)
	flat.HeaderAddColumns(b, vector)
	flat.HeaderAddFeaturesCount(b, f.count)
	flat.HeaderAddIndexNodeSize(b, f.nodes)
	flat.HeaderAddCrs(b, crs)
	b.FinishSizePrefixed(flat.HeaderEnd(b))
	out := append([]byte("fgb\x03fgb\x01"), b.FinishedBytes()...)
	if f.nodes > 0 && f.count > 0 && !f.bare {
		nodes := f.count
		for n := f.count; ; {
			n = (n + uint64(f.nodes) - 1) / uint64(f.nodes)
			if nodes += n; n == 1 {
				break
			}
		}
		out = append(out, make([]byte, 40*nodes)...)
	}
	for _, feature := range f.features {
		out = append(out, feature...)
	}
	return out
}

func (c *fgbCRS) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	if c == nil {
		return 0
	}
	org, code, wkt := b.CreateString(c.org), b.CreateString(c.codeString), b.CreateString(c.wkt)
	flat.CrsStart(b)
	flat.CrsAddOrg(b, org)
	flat.CrsAddCode(b, c.code)
	flat.CrsAddCodeString(b, code)
	flat.CrsAddWkt(b, wkt)
	return flat.CrsEnd(b)
}

// tables ends a vector of tables that was started.
func tables(b *flatbuffers.Builder, all []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	for i := len(all) - 1; i >= 0; i-- {
		b.PrependUOffsetT(all[i])
	}
	return b.EndVector(len(all))
}

// shape is a geometry. What is nil is absent.
type shape struct {
	kind        flat.GeometryType
	ends        []uint32
	xy, z, m, t []float64
	tm          []uint64
	parts       []shape
}

func (s shape) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var parts []flatbuffers.UOffsetT
	for _, p := range s.parts {
		parts = append(parts, p.write(b))
	}
	var vectors [7]flatbuffers.UOffsetT
	if s.ends != nil {
		flat.GeometryStartEndsVector(b, len(s.ends))
		for i := len(s.ends) - 1; i >= 0; i-- {
			b.PrependUint32(s.ends[i])
		}
		vectors[0] = b.EndVector(len(s.ends))
	}
	for i, v := range [][]float64{s.xy, s.z, s.m, s.t} {
		if v != nil {
			b.StartVector(8, len(v), 8)
			for k := len(v) - 1; k >= 0; k-- {
				b.PrependFloat64(v[k])
			}
			vectors[1+i] = b.EndVector(len(v))
		}
	}
	if s.tm != nil {
		b.StartVector(8, len(s.tm), 8)
		for k := len(s.tm) - 1; k >= 0; k-- {
			b.PrependUint64(s.tm[k])
		}
		vectors[5] = b.EndVector(len(s.tm))
	}
	if parts != nil {
		flat.GeometryStartPartsVector(b, len(parts))
		vectors[6] = tables(b, parts)
	}
	flat.GeometryStart(b)
	for i, add := range []func(*flatbuffers.Builder, flatbuffers.UOffsetT){
		flat.GeometryAddEnds, flat.GeometryAddXy, flat.GeometryAddZ, flat.GeometryAddM, flat.GeometryAddT,
		flat.GeometryAddTm, flat.GeometryAddParts,
	} {
		add(b, vectors[i])
	}
	flat.GeometryAddType(b, s.kind)
	return flat.GeometryEnd(b)
}

// feature returns one of a geometry, or without one, and of properties, which are joined.
func feature(s *shape, properties ...[]byte) []byte {
	b := flatbuffers.NewBuilder(0)
	values := b.CreateByteVector(join(properties...))
	var geometry flatbuffers.UOffsetT
	if s != nil {
		geometry = s.write(b)
	}
	flat.FeatureStart(b)
	flat.FeatureAddGeometry(b, geometry)
	flat.FeatureAddProperties(b, values)
	b.FinishSizePrefixed(flat.FeatureEnd(b))
	return b.FinishedBytes()
}

// at returns a feature of a Point.
func at(x, y float64, properties ...[]byte) []byte {
	return feature(&shape{kind: flat.GeometryTypePoint, xy: []float64{x, y}}, properties...)
}

// value returns a property of a column: numbers unchanged, texts after their length.
func value(column uint16, v any) []byte {
	out := binary.LittleEndian.AppendUint16(nil, column)
	if text, ok := v.(string); ok {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
		return append(out, text...)
	}
	out, err := binary.Append(out, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return out
}

func join(all ...[]byte) (out []byte) {
	for _, b := range all {
		out = append(out, b...)
	}
	return out
}

var nan = math.NaN()

type (
	builder = flatbuffers.Builder
	offsets = []flatbuffers.UOffsetT
)

// newFeature returns a feature whose table begin starts.
func newFeature(begin func(*builder)) []byte {
	b := flatbuffers.NewBuilder(0)
	begin(b)
	b.FinishSizePrefixed(flat.FeatureEnd(b))
	return b.FinishedBytes()
}
