package gpkg

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
)

// headerBytes is the size of a geometry's header without its envelope (section 2.1.3.1.1):
//
//	"GP", version (1), flags (1), srs_id (4), envelope, WKB
//	flags   bit 0 byte order, bits 1 to 3 kind of the envelope, bit 4 empty, bit 5 extended type
const headerBytes = 8

// envelopeBytes are the sizes of envelopes by their kinds.
var envelopeBytes = [...]int{0, 32, 48, 48, 64}

const flagExtended = 1 << 5

var errExtended = errors.New("a geometry of an extended type, which is not read")

// geometryFault is a fault at a byte of a geometry.
type geometryFault struct {
	at    int
	err   error
	curve bool // it is a geometry with curves
}

// geometryOf splits a geometry into its WKB and its srs_id. at is where the WKB begins.
func geometryOf(b []byte) (at int, srs int32, f *geometryFault) {
	switch {
	case len(b) < headerBytes:
		return 0, 0, &geometryFault{
			at: len(b), err: fmt.Errorf("a geometry of %d bytes, expected %d at least", len(b), headerBytes),
		}
	case b[0] != 'G' || b[1] != 'P':
		return 0, 0, &geometryFault{at: 0, err: fmt.Errorf("the geometry begins with %q, expected \"GP\"", b[:2])}
	case b[2] != 0:
		return 0, 0, &geometryFault{at: 2, err: fmt.Errorf("a geometry of version %d, expected 0", b[2])}
	case b[3]&flagExtended != 0:
		return 0, 0, &geometryFault{at: 3, err: errExtended}
	}
	if b[3]&1 == 0 {
		srs = int32(binary.BigEndian.Uint32(b[4:]))
	} else {
		srs = int32(binary.LittleEndian.Uint32(b[4:]))
	}
	kind := b[3] >> 1 & 7
	if int(kind) >= len(envelopeBytes) {
		return 0, 0, &geometryFault{at: 3, err: fmt.Errorf("an envelope of kind %d, expected 0 to 4", kind)}
	}
	if at = headerBytes + envelopeBytes[kind]; at > len(b) {
		return 0, 0, &geometryFault{at: len(b), err: errors.New("the geometry ends inside of its envelope")}
	}
	return at, srs, nil
}

// geometry appends the row's geometry.
func (s *scanner) geometry() *geometryFault {
	k := s.sink
	if s.shapeClass == sqlite.Null {
		k.Geom.Null()
		return nil
	}
	if s.shapeClass != sqlite.Blob {
		return &geometryFault{err: s.table.columns[s.table.geometry].errClass(s.shapeClass)}
	}
	b := s.current.Payload[s.shapeAt:s.shapeTo]
	at, srs, f := geometryOf(b)
	if f != nil {
		return f
	}
	s.otherSRS = int64(srs) != s.table.srs
	if s.commonShape(b[at:]) {
		return nil
	}
	kind, _, err := s.decoder.Read(&k.Geom, b[at:])
	if err != nil {
		return s.curved(b, at, err)
	}
	s.endGeometry(kind)
	return nil
}

// curved reads a geometry that may have curves, after an error of the decoder.
func (s *scanner) curved(b []byte, at int, err error) *geometryFault {
	f := s.notWKB(b, at, err)
	if !s.linearize || !f.curve {
		return f
	}
	wkb, wrong := s.lines.linearize(b[at:])
	if wrong != nil {
		wrong.at += at
		return wrong
	}
	kind, _, err := s.decoder.Read(&s.sink.Geom, wkb)
	if err != nil {
		return &geometryFault{at: at, err: err}
	}
	s.endGeometry(kind)
	return nil
}

// endGeometry ends the row of a geometry that was decoded.
func (s *scanner) endGeometry(kind geoarrow.Kind) {
	k, d := s.sink, &s.decoder
	k.Shapes.UnclosedRings += d.UnclosedRings
	k.Shapes.ShortRings += d.ShortRings
	k.Shapes.ShortLines += d.ShortLines
	d.UnclosedRings, d.ShortRings, d.ShortLines = 0, 0, 0
	if kind == geoarrow.GeometryCollection {
		k.Geom.EndCollection()
		return
	}
	k.Geom.End(kind)
}

// typeNames are the names of geometry types that tables do not have, by their numbers in WKB.
var typeNames = [...]string{
	8: "CIRCULARSTRING", 9: "COMPOUNDCURVE", 10: "CURVEPOLYGON", 11: "MULTICURVE", 12: "MULTISURFACE",
	13: "CURVE", 14: "SURFACE", 15: "POLYHEDRALSURFACE",
	16: "TIN", 17: "TRIANGLE",
}

// notWKB returns the fault for WKB, from byte at of a geometry, that could not be decoded.
func (s *scanner) notWKB(b []byte, at int, err error) *geometryFault {
	var wrong *geoarrow.WKBError
	if !errors.As(err, &wrong) {
		return &geometryFault{at: at, err: err}
	}
	place := at + wrong.Offset
	if rest := b[min(len(b), place):]; len(rest) >= 5 && rest[0] <= 1 {
		code := binary.BigEndian.Uint32(rest[1:])
		if rest[0] == 1 {
			code = binary.LittleEndian.Uint32(rest[1:])
		}
		code &= 0x1fffffff
		switch code %= 1000; {
		case code >= circularString && code <= multiSurface:
			return &geometryFault{place, fmt.Errorf("a %s, which the option curves: linearize makes lines of",
				typeNames[code]), true}
		case code > multiSurface && int(code) < len(typeNames):
			return &geometryFault{at: place, err: fmt.Errorf("a %s, which is not read", typeNames[code])}
		}
	}
	return &geometryFault{at: place, err: errors.New(wrong.What)}
}
