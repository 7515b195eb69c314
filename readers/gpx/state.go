package gpx

import "github.com/vibeflight/vibeflight/readers/internal/xmltext"

// state is what a span needs to know of the text before it.
type state struct {
	encoding xmltext.Encoding
	header   header
	place    place // of the first row, if the layer has numbers
}

// Bits of the fields of a packed state, from the lowest on.
const (
	encodingBits = 2
	versionBits  = 1
	layerBits    = 3
	numberBits   = 26
	segmentBits  = 14
	pathBits     = 18
)

// uncounted is the path of a state whose place does not fit: it is counted from the start of the
// file.
const uncounted = 1<<pathBits - 1

// pack returns the state in the form of a Span's.
func (t state) pack() uint64 {
	v := uint64(t.encoding)
	shift := encodingBits
	add := func(field uint64, bits int) {
		v |= field << shift
		shift += bits
	}
	version := uint64(0)
	if t.header.v10 {
		version = 1
	}
	add(version, versionBits)
	add(uint64(t.header.layer), layerBits)
	p := t.place
	// a route has no segment, which is -1
	number, segment, path := uint64(p.number), uint64(p.segment+1), uint64(p.path)
	if number >= 1<<numberBits || segment >= 1<<segmentBits || path >= uncounted {
		number, segment, path = 0, 0, uncounted
	}
	add(number, numberBits)
	add(segment, segmentBits)
	add(path, pathBits)
	return v
}

// unpackState is the inverse of pack. known is false if the place is not in the state.
func unpackState(v uint64) (t state, known bool) {
	take := func(bits int) uint64 {
		field := v & (1<<bits - 1)
		v >>= bits
		return field
	}
	t.encoding = xmltext.Encoding(take(encodingBits))
	t.header.v10 = take(versionBits) == 1
	t.header.layer = layer(take(layerBits))
	t.place.number = int64(take(numberBits))
	t.place.segment = int64(take(segmentBits)) - 1
	t.place.path = int64(take(pathBits))
	return t, t.place.path != uncounted
}
