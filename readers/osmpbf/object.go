package osmpbf

// objects decodes the objects of a block. Its slices serve one object after the other.
type objects struct {
	keys, values   []uint64
	a, b, c        []uint64
	tags           []tag
	id             int64
	at             int // byte of the block where the object begins
	refs           []uint64
	roles, members []uint64
	types          []uint64
	lat, lon       int64
}

// Fields that nodes, ways and relations have in common.
const (
	objectID     = 1
	objectKeys   = 2
	objectValues = 3
)

// begin drops the last object.
func (o *objects) begin(s span) {
	o.at, o.id = s.from, 0
	o.keys, o.values, o.tags = o.keys[:0], o.values[:0], o.tags[:0]
}

// common reads a field that all objects have, except for the id.
func (o *objects) common(w *wire, number, kind int) {
	switch number {
	case objectKeys:
		o.keys = w.numbers("keys", kind, o.keys)
	case objectValues:
		o.values = w.numbers("vals", kind, o.values)
	default: // info
		w.skip(kind)
	}
}

// end checks the object, and joins its tags.
func (o *objects) end(b *block, w *wire, what string, required bool) (bad *fault) {
	if w.fault != nil {
		return w.fault
	}
	if !required {
		return faultf(o.at, "a %s that lacks a required field", what)
	}
	o.tags, bad = b.texts.tags(o.at, o.keys, o.values, o.tags)
	return bad
}

// node reads a Node: its id, position and tags.
func (o *objects) node(b *block, s span) *fault {
	o.begin(s)
	w := wire{b: b.raw, p: s.from, end: s.to}
	var id, lat, lon bool
	for {
		number, kind, ok := w.next()
		if !ok {
			return o.end(b, &w, "node", id && lat && lon)
		}
		switch number {
		case objectID:
			if id = w.expect("id", kind, wireVarint); id {
				o.id = zigzag(w.varint())
			}
		case 8:
			if lat = w.expect("lat", kind, wireVarint); lat {
				o.lat = zigzag(w.varint())
			}
		case 9:
			if lon = w.expect("lon", kind, wireVarint); lon {
				o.lon = zigzag(w.varint())
			}
		default:
			o.common(&w, number, kind)
		}
	}
}

// way reads a Way: its id, nodes and tags.
func (o *objects) way(b *block, s span) *fault {
	o.begin(s)
	o.refs = o.refs[:0]
	w := wire{b: b.raw, p: s.from, end: s.to}
	id := false
	for {
		number, kind, ok := w.next()
		if !ok {
			deltas(o.refs)
			return o.end(b, &w, "way", id)
		}
		switch number {
		case objectID:
			if id = w.expect("id", kind, wireVarint); id {
				o.id = int64(w.varint())
			}
		case 8:
			o.refs = w.numbers("refs", kind, o.refs)
		default:
			o.common(&w, number, kind)
		}
	}
}

// Types of members.
const (
	memberNode = 0
	memberWay  = 1
)

// relation reads a Relation: its id, members and tags.
func (o *objects) relation(b *block, s span) *fault {
	o.begin(s)
	o.roles, o.members, o.types = o.roles[:0], o.members[:0], o.types[:0]
	w := wire{b: b.raw, p: s.from, end: s.to}
	id := false
	for {
		number, kind, ok := w.next()
		if !ok {
			break
		}
		switch number {
		case objectID:
			if id = w.expect("id", kind, wireVarint); id {
				o.id = int64(w.varint())
			}
		case 8:
			o.roles = w.numbers("roles_sid", kind, o.roles)
		case 9:
			o.members = w.numbers("memids", kind, o.members)
		case 10:
			o.types = w.numbers("types", kind, o.types)
		default:
			o.common(&w, number, kind)
		}
	}
	deltas(o.members)
	if bad := o.end(b, &w, "relation", id); bad != nil {
		return bad
	}
	if len(o.members) != len(o.roles) || len(o.members) != len(o.types) {
		return faultf(o.at, "a relation of %d members, %d roles and %d types", len(o.members), len(o.roles),
			len(o.types))
	}
	for i, role := range o.roles {
		if role >= uint64(len(b.spans)) {
			return faultf(o.at, "a role of string %d, of a table of %d", role, len(b.spans))
		}
		if o.types[i] > 2 {
			return faultf(o.at, "a member of type %d, expected 0 to 2", o.types[i])
		}
	}
	return nil
}

// dense is a DenseNodes: ids and coordinates, and the tags as they are.
type dense struct {
	ids, lats, lons []uint64 // signed
	tags            []uint64 // of each node key, value, …, 0; empty: no node has tags
	at              int
}

// read reads the nodes; their tags only if tagged.
func (d *dense) read(b *block, s span, tagged bool) *fault {
	d.ids, d.lats, d.lons, d.tags, d.at = d.ids[:0], d.lats[:0], d.lons[:0], d.tags[:0], s.from
	w := wire{b: b.raw, p: s.from, end: s.to}
	for {
		number, kind, ok := w.next()
		if !ok {
			break
		}
		switch number {
		case 1:
			d.ids = w.numbers("id", kind, d.ids)
		case 8:
			d.lats = w.numbers("lat", kind, d.lats)
		case 9:
			d.lons = w.numbers("lon", kind, d.lons)
		case 10:
			if tagged {
				d.tags = w.numbers("keys_vals", kind, d.tags)
				continue
			}
			w.skip(kind)
		default: // 5: denseinfo
			w.skip(kind)
		}
	}
	if w.fault != nil {
		return w.fault
	}
	if len(d.ids) != len(d.lats) || len(d.ids) != len(d.lons) {
		return faultf(s.from, "%d ids, %d latitudes and %d longitudes of dense nodes", len(d.ids), len(d.lats),
			len(d.lons))
	}
	deltas(d.ids)
	deltas(d.lats)
	deltas(d.lons)
	return nil
}
