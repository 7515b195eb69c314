package shapefile

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// mend adds the geometry that on_error: null or repair substitutes for a malformed shape, and
// returns the violated rule and a description of the change.
func (d *decoder) mend(content []byte, repair bool) (rule, done string) {
	rule = ruleShape
	kind := d.kind
	defer func() { d.kind = kind }()
	if len(content) >= 4 {
		if t := shapeType(binary.LittleEndian.Uint32(content)); t.known() && t != kind {
			rule, d.kind = ruleShapeType, t
		}
	}
	if repair {
		if rule == ruleShapeType {
			if _, err := d.shape(content); err == nil {
				return rule, fmt.Sprintf("read as a %s in a file of %s", d.kind, kind)
			}
		}
		if done := d.mendParts(content); done != "" {
			return rulePartIndex, done
		}
	}
	d.surplus = 0
	d.geom.Null()
	return rule, "geometry is null"
}

// mendParts adds a shape whose first part does not begin at its first point. Of three possible
// readings, in this order, the first that closes all rings of a polygon counts. Lines have the last
// one, which omits nothing:
//
//	parts 2 7 of 12 points
//	0 5 of the points from 2 on     points that no part has
//	0 5 of all points               points counted from another number
//	0 7 of all points               only the first number is wrong
//
// It gives "" if none is possible.
func (d *decoder) mendParts(content []byte) (done string) {
	if f := d.kind.family(); f != polyLine && f != polygon && f != multiPatch {
		return ""
	}
	b, _, err := d.kind.body(content)
	if err == nil || len(b.parts) == 0 {
		return ""
	}
	first := int(binary.LittleEndian.Uint32(b.parts))
	if first == 0 || first >= b.points {
		return ""
	}
	readings := []struct {
		body body
		done string
	}{
		{b.behind(first), fmt.Sprintf("the %d points before part 0 are left out", first)},
		{b.moved(first), fmt.Sprintf("points are counted from %d", first)},
		{b.fromZero(), "part 0 begins at point 0"},
	}
	for i := range readings {
		r := &readings[i]
		last := i == len(readings)-1
		if _, err := r.body.checkParts(); err != nil || !last && (d.kind.family() != polygon || !r.body.closed()) {
			continue
		}
		if _, err := d.add(&r.body); err == nil {
			return r.done
		}
	}
	return ""
}

// after returns the shape without the points before one, at which part 0 begins.
func (b *body) behind(first int) body {
	out := b.moved(first)
	out.points -= first
	out.xy = b.xy[16*first:]
	if b.z != nil {
		out.z = b.z[8*first:]
	}
	if b.m != nil {
		out.m = b.m[8*first:]
	}
	return out
}

// moved returns the shape with parts that begin n points earlier.
func (b *body) moved(by int) body {
	out := *b
	out.parts = slices.Clone(b.parts)
	for i := 0; i < len(out.parts); i += 4 {
		at := binary.LittleEndian.Uint32(out.parts[i:])
		binary.LittleEndian.PutUint32(out.parts[i:], at-uint32(by)) // a part before part 0 wraps to a value too large
	}
	return out
}

// fromZero returns the shape with a part 0 that begins at point 0.
func (b *body) fromZero() body {
	out := *b
	out.parts = slices.Clone(b.parts)
	clear(out.parts[:4])
	return out
}

// closed reports whether each part has at least 4 points, and ends where it began.
func (b *body) closed() bool {
	for i := range len(b.parts) / 4 {
		from, to := b.part(i)
		if to-from < 4 || string(b.xy[16*from:16*from+16]) != string(b.xy[16*to-16:16*to]) {
			return false
		}
	}
	return true
}
