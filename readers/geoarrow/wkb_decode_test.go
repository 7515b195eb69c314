package geoarrow

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"
)

// wkbOf writes WKB or EWKB in pieces.
type wkbOf struct {
	binary.AppendByteOrder
	b []byte
}

func little(code uint32) *wkbOf { return (&wkbOf{AppendByteOrder: binary.LittleEndian}).head(code) }
func wide(code uint32) *wkbOf   { return (&wkbOf{AppendByteOrder: binary.BigEndian}).head(code) }

func (w *wkbOf) head(code uint32) *wkbOf {
	order := byte(1)
	if w.AppendByteOrder == binary.AppendByteOrder(binary.BigEndian) {
		order = 0
	}
	w.b = w.AppendUint32(append(w.b, order), code)
	return w
}

func (w *wkbOf) n(n uint32) *wkbOf { w.b = w.AppendUint32(w.b, n); return w }

func (w *wkbOf) at(ordinates ...uint64) *wkbOf {
	for _, v := range ordinates {
		w.b = w.AppendUint64(w.b, v)
	}
	return w
}

func (w *wkbOf) and(m *wkbOf) *wkbOf { w.b = append(w.b, m.b...); return w }

const (
	one, two, three, nanBits = 0x3FF0000000000000, 0x4000000000000000, 0x4008000000000000, 0xFFF8000000000001
)

func TestWKBDecoder(t *testing.T) {
	for _, c := range []struct {
		name string
		wkb  *wkbOf
		want string // WKT
		srid uint32
	}{
		{"point", little(1).at(one, two), "POINT (1 2)", 0},
		{"big-endian", wide(1).at(one, two), "POINT (1 2)", 0},
		{"ISO Z", little(1001).at(one, two, three), "POINT Z (1 2 3)", 0},
		{"ISO ZM", little(3001).at(one, two, three, one), "POINT ZM (1 2 3 1)", 0},
		{"EWKB Z", little(0x80000001).at(one, two, three), "POINT Z (1 2 3)", 0},
		{"EWKB M", little(0x40000001).at(one, two, three), "POINT M (1 2 3)", 0},
		{"EWKB with an SRID", little(0x20000001).n(4326).at(one, two), "POINT (1 2)", 4326},
		{"empty point", little(1001).at(nanBits, nanBits, nanBits), "POINT Z EMPTY", 0},
		{"line", little(2).n(2).at(one, two, three, one), "LINESTRING (1 2, 3 1)", 0},
		{"empty line", little(1002).n(0), "LINESTRING Z EMPTY", 0},
		{
			"polygon", little(3).n(1).n(4).at(one, one, two, one, two, two, one, one),
			"POLYGON ((1 1, 2 1, 2 2, 1 1))", 0,
		},
		{"empty polygon", little(3).n(0), "POLYGON EMPTY", 0},
		{
			"multipoint, orders mixed", little(4).n(2).and(wide(1).at(one, two)).and(little(1).at(two, one)),
			"MULTIPOINT ((1 2), (2 1))", 0,
		},
		{"multiline", little(5).n(1).and(little(2).n(2).at(one, two, two, one)), "MULTILINESTRING ((1 2, 2 1))", 0},
		{"multipolygon", little(6).n(1).and(little(3).n(1).n(1).at(one, two)), "MULTIPOLYGON (((1 2)))", 0},
		{"empty multipolygon", little(6).n(0), "MULTIPOLYGON EMPTY", 0},
		{
			"collection with an SRID in a member",
			little(0x20000007).n(9).n(2).and(little(0x20000001).n(9).at(one, two)).and(
				little(7).n(1).and(little(2).n(0)),
			),
			"GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING EMPTY))", 9,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b GeometryBuilder
			b.Reset()
			var d WKBDecoder
			k, srid, err := d.Read(&b, c.wkb.b)
			if err != nil {
				t.Fatalf("%x: %v", c.wkb.b, err)
			}
			if k == GeometryCollection {
				b.EndCollection()
			} else {
				b.End(k)
			}
			g, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			_, text, err := g.ToWKT()
			if err != nil || string(text) != c.want || srid != c.srid {
				t.Errorf("%x: got %s, SRID %d, %v; want %s, SRID %d", c.wkb.b, text, srid, err, c.want, c.srid)
			}
			if !IsHexWKB([]byte(hex.EncodeToString(c.wkb.b))) {
				t.Errorf("%x does not begin as WKB", c.wkb.b)
			}
			b.Reset()
			for n := range c.wkb.b { // no beginning of it is a geometry, and none leaves a trace
				e := (*WKBError)(nil)
				if _, _, err := d.Read(&b, c.wkb.b[:n]); !errors.As(err, &e) || e.Offset > n {
					t.Errorf("%x: %v", c.wkb.b[:n], err)
				}
			}
		})
	}
}

func TestWKBDecoderErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		wkb    *wkbOf
		offset int
	}{
		{"a byte order", &wkbOf{b: []byte{2, 1, 0, 0, 0}}, 0},
		{"a kind", little(8), 0},
		{"a dimension", little(4001), 0},
		{"bytes after", little(1).at(one, two).n(0), 21},
		{"a count beyond the bytes", little(2).n(1 << 31), 5},
		{"rings beyond the bytes", little(3).n(1 << 30), 5},
		{"members beyond the bytes", little(7).n(1 << 30), 5},
		{"a member of another kind", little(4).n(1).and(little(2).n(0)), 9},
		{"a member of another dimension", little(7).n(1).and(little(1002).n(0)), 9},
		{"a member of another SRID", little(0x20000007).n(1).n(1).and(little(0x20000002).n(2).n(0)), 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b GeometryBuilder
			b.Reset()
			var d WKBDecoder
			_, _, err := d.Read(&b, c.wkb.b)
			e := (*WKBError)(nil)
			if !errors.As(err, &e) || e.Offset != c.offset {
				t.Errorf("%x: %v, want an error at byte %d", c.wkb.b, err, c.offset)
			}
			if len(b.X) != 0 || b.Rows() != 0 || d.ShortLines+d.ShortRings+d.UnclosedRings != 0 {
				t.Error("a trace is left")
			}
		})
	}
}

func TestAppendHex(t *testing.T) {
	for _, c := range []struct {
		text string
		bad  int
	}{{"", -1}, {"00fFA1", -1}, {"0", 1}, {"0g", 1}, {"g0", 0}, {"00x", 2}, {"000", 3}, {"00 0", 2}} {
		if _, bad := AppendHex(nil, []byte(c.text)); bad != c.bad {
			t.Errorf("%q: %d, want %d", c.text, bad, c.bad)
		}
	}
}
