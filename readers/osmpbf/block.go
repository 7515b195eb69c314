package osmpbf

// block is a PrimitiveBlock. Its slices serve one block after the other.
type block struct {
	texts
	groups      []span
	granularity int64 // nanodegrees of a unit of coordinates
	lat, lon    int64 // nanodegrees of coordinate 0
}

// Fields of a PrimitiveBlock.
const (
	blockStrings     = 1
	blockGroups      = 2
	blockGranularity = 17
	blockLat         = 19
	blockLon         = 20
)

// read reads the fields of a block, up to its groups.
func (b *block) read(content []byte) *fault {
	b.texts.reset(content)
	b.groups, b.granularity, b.lat, b.lon = b.groups[:0], 100, 0, 0
	w := wire{b: content, end: len(content)}
	for {
		number, kind, ok := w.next()
		if !ok {
			return w.fault
		}
		switch number {
		case blockStrings:
			if w.expect("stringtable", kind, wireBytes) {
				table := w.message(w.bytes())
				b.strings(&table)
				if w.fault == nil {
					w.fault = table.fault
				}
			}
		case blockGroups:
			if w.expect("primitivegroup", kind, wireBytes) {
				b.groups = append(b.groups, w.bytes())
			}
		case blockGranularity:
			if w.expect("granularity", kind, wireVarint) {
				b.granularity = int64(int32(w.varint()))
			}
		case blockLat:
			if w.expect("lat_offset", kind, wireVarint) {
				b.lat = int64(w.varint())
			}
		case blockLon:
			if w.expect("lon_offset", kind, wireVarint) {
				b.lon = int64(w.varint())
			}
		default: // date_granularity, bbox
			w.skip(kind)
		}
	}
}

// Fields of a PrimitiveGroup.
const (
	groupNodes      = 1
	groupDense      = 2
	groupWays       = 3
	groupRelations  = 4
	groupChangesets = 5
)

// kinds is a set of the kinds of objects in a block.
type kinds uint8

const (
	hasNodes kinds = 1 << iota
	hasWays
	hasRelations
)

// each calls visit with each object of the groups: a node, all dense nodes of a group, a way or a
// relation. It returns the kinds of objects, and the first defect.
func (b *block) each(visit func(field int, s span) *fault) (found kinds, bad *fault) {
	for _, g := range b.groups {
		w := wire{b: b.raw, p: g.from, end: g.to}
		for {
			number, kind, ok := w.next()
			if !ok {
				break
			}
			if number < groupNodes || number > groupRelations { // changesets too
				w.skip(kind)
				continue
			}
			if !w.expect("an object", kind, wireBytes) {
				break
			}
			s := w.bytes()
			if w.fault != nil {
				break
			}
			found |= kindsOf[number]
			if bad := visit(number, s); bad != nil {
				return found, bad
			}
		}
		if w.fault != nil {
			return found, w.fault
		}
	}
	return found, nil
}

var kindsOf = [...]kinds{
	groupNodes: hasNodes, groupDense: hasNodes, groupWays: hasWays, groupRelations: hasRelations,
}

// position returns the degrees of a coordinate as GDAL computes them, offset being b.lat or b.lon.
// Conversions keep the sum from being fused.
func (b *block) position(offset, v int64) float64 {
	return 1e-9 * (float64(offset) + float64(float64(b.granularity)*float64(v)))
}

// isDegrees reports whether a position is on Earth.
func isDegrees(lon, lat float64) bool { return lon >= -180 && lon <= 180 && lat >= -90 && lat <= 90 }
