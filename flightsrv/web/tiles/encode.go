package tiles

import (
	"encoding/binary"
	"slices"
)

// geometryType is GeomType of the vector tile specification 2.1, section 4.3.4.
type geometryType uint8

const (
	pointType   geometryType = 1
	lineType    geometryType = 2
	polygonType geometryType = 3
)

// Commands of section 4.3.1.
const (
	moveTo    = 1
	lineTo    = 2
	closePath = 7
)

// commands is the geometry of a feature as section 4.3 encodes it: each integer as a varint.
type commands struct {
	bytes  []byte
	cursor vertex
}

func (c *commands) reset() { c.bytes, c.cursor = c.bytes[:0], vertex{} }

func (c *commands) command(id, count int) {
	c.bytes = binary.AppendUvarint(c.bytes, uint64(count)<<3|uint64(id))
}

func (c *commands) to(v vertex) {
	c.parameter(v.x - c.cursor.x)
	c.parameter(v.y - c.cursor.y)
	c.cursor = v
}

// parameter appends a number in zigzag encoding.
func (c *commands) parameter(v int64) { c.bytes = binary.AppendUvarint(c.bytes, uint64(v<<1^v>>63)) }

// points appends points.
func (c *commands) points(v []vertex) {
	if len(v) == 0 {
		return
	}
	c.command(moveTo, len(v))
	for _, w := range v {
		c.to(w)
	}
}

// line appends a line of two or more vertices.
func (c *commands) line(v []vertex) {
	c.command(moveTo, 1)
	c.to(v[0])
	c.command(lineTo, len(v)-1)
	for _, w := range v[1:] {
		c.to(w)
	}
}

// ring appends a ring of three or more vertices, the last of which is not the first.
func (c *commands) ring(v []vertex, backwards bool) {
	c.command(moveTo, 1)
	c.to(v[0])
	c.command(lineTo, len(v)-1)
	for i := 1; i < len(v); i++ {
		if backwards {
			c.to(v[len(v)-i])
		} else {
			c.to(v[i])
		}
	}
	c.command(closePath, 1)
}

// Fields of the messages of section 4, as the first byte of the field in the protobuf encoding.
const (
	tileLayer     = 3<<3 | 2
	layerName     = 1<<3 | 2
	layerFeature  = 2<<3 | 2
	layerKey      = 3<<3 | 2
	layerValue    = 4<<3 | 2
	layerExtent   = 5 << 3
	layerVersion  = 15 << 3
	featureID     = 1 << 3
	featureTags   = 2<<3 | 2
	featureType   = 3 << 3
	featureShape  = 4<<3 | 2
	valueString   = 1<<3 | 2
	valueFloat    = 2<<3 | 5
	valueDouble   = 3<<3 | 1
	valueInt      = 4 << 3
	valueUint     = 5 << 3
	valueSint     = 6 << 3
	valueBool     = 7 << 3
	layerOverhead = 16 // more than the bytes of a layer in addition to its fields' contents
)

func appendBytes(dst []byte, field byte, b []byte) []byte {
	return append(binary.AppendUvarint(append(dst, field), uint64(len(b))), b...)
}

// sizeOfVarint returns the number of bytes of a varint.
func sizeOfVarint(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// layer collects the features of a tile, up to a number of bytes.
type layer struct {
	max      int
	keys     []string
	values   dictionary
	features []span
	bytes    []byte // fields layerFeature
	fixed    int    // bytes of the rest
	name     string
	extent   int64

	tags, feature []byte // scratch
}

// span is a feature of a layer.
type span struct {
	row      int64
	from, to int
}

func newLayer(name string, keys []string, extent int64, limit int) *layer {
	l := &layer{max: limit, keys: keys, name: name, extent: extent}
	l.fixed = 2*layerOverhead + len(name)
	for _, k := range keys {
		l.fixed += 1 + sizeOfVarint(uint64(len(k))) + len(k)
	}
	return l
}

// size returns the number of bytes of the tile so far, or a little more.
func (l *layer) size() int { return l.fixed + len(l.values.fields) + len(l.bytes) }

// add appends a feature. values are the encoded values of the keys, empty ones being null. It
// reports whether the feature fits; otherwise the layer is unchanged.
func (l *layer) add(row int64, t geometryType, shape []byte, values [][]byte) bool {
	count := len(l.values.values)
	l.tags = l.tags[:0]
	for k, v := range values {
		if len(v) > 0 {
			l.tags = binary.AppendUvarint(l.tags, uint64(k))
			l.tags = binary.AppendUvarint(l.tags, uint64(l.values.number(v)))
		}
	}
	f := binary.AppendUvarint(append(l.feature[:0], featureID), uint64(row))
	if len(l.tags) > 0 {
		f = appendBytes(f, featureTags, l.tags)
	}
	f = append(f, featureType, byte(t))
	f = appendBytes(f, featureShape, shape)
	l.feature = f
	if l.size()+1+sizeOfVarint(uint64(len(f)))+len(f) > l.max {
		l.values.shrink(count)
		return false
	}
	from := len(l.bytes)
	l.bytes = appendBytes(l.bytes, layerFeature, f)
	l.features = append(l.features, span{row, from, len(l.bytes)})
	return true
}

// tile returns the encoded tile, or nil if it has no feature. Features are in the order of rows.
func (l *layer) tile() []byte {
	if len(l.features) == 0 {
		return nil
	}
	order := make([]uint64, len(l.features))
	for i, f := range l.features {
		order[i] = rowOrder(f.row, i)
	}
	slices.Sort(order)
	body := make([]byte, 0, l.size())
	body = append(body, layerVersion, 2)
	body = appendBytes(body, layerName, []byte(l.name))
	for _, i := range order {
		s := l.features[i&(maxFeatures-1)]
		body = append(body, l.bytes[s.from:s.to]...)
	}
	for _, k := range l.keys {
		body = appendBytes(body, layerKey, []byte(k))
	}
	body = append(body, l.values.fields...)
	body = binary.AppendUvarint(append(body, layerExtent), uint64(l.extent))
	return appendBytes(make([]byte, 0, len(body)+layerOverhead), tileLayer, body)
}
