package gml

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// frame is what the elements around a geometry declare about its positions.
type frame struct {
	system *system
	size   int // ordinates of a position: srsDimension; 0: unknown
}

// listSize returns the number of ordinates of a posList's position: srsDimension, else that of the
// system (OGC 07-036 section 10.1.3.2), or 2 if no system is named. It returns 0 for an unknown
// system.
func (c *frame) listSize() int {
	switch {
	case c.size > 0:
		return c.size
	case c.system.unsized:
		return 0
	}
	return max(c.system.size, 2)
}

// system is the meaning of an srsName.
type system struct {
	crs     geoarrow.CRS
	swapped bool // the file has y first: the first axis is north
	size    int  // number of axes; 0: unknown, or no system is named
	unsized bool // there is a name that does not determine the number of axes
	unknown bool // the name looks like one that prescribes an order of axes, and is unknown
}

// isGeographic reports whether the ordinates of the system are degrees.
func (s *system) isGeographic() bool {
	known, ok := crs.Lookup(s.crs.Authority, s.crs.Code)
	return ok && known.Kind == crs.Geographic
}

// systems are the meanings of the names in a file, by name.
type systems struct {
	axes  string // the option axis_order
	fme   bool   // the file is FME's
	known map[string]*system
	text  string // the last one
	last  *system
}

// maxSystems bounds the names that are kept: a hostile file has one for each geometry.
const maxSystems = 256

// of returns the meaning of a name.
func (n *systems) of(name []byte) *system {
	if string(name) == n.text && n.last != nil {
		return n.last
	}
	text := string(name)
	found := n.known[text]
	if found == nil {
		found = n.newSystem(text)
		if n.known == nil || len(n.known) >= maxSystems {
			n.known = map[string]*system{}
		}
		n.known[text] = found
	}
	n.text, n.last = text, found
	return found
}

// newSystem interprets a name. If the name prescribes the authority's order of axes, and that is
// north, then east, coordinates are swapped:
//
//	urn:ogc:def:crs:EPSG::4326                           latitude first
//	urn:ogc:def:crs,crs:EPSG::4258,crs:EPSG::5621        latitude first
//	http://www.opengis.net/def/crs/EPSG/0/4326           latitude first
//	urn:ogc:def:crs:OGC:1.3:CRS84                        longitude first, as OGC defines it
//	EPSG:4326                                            longitude first, as all programs except FME write it
//	http://www.opengis.net/gml/srs/epsg.xml#4326         likewise
func (n *systems) newSystem(name string) *system {
	said, ok := geoarrow.ParseCRSName(name)
	if !ok {
		said.CRS = geoarrow.CRS{Text: name}
	}
	s := &system{crs: said.CRS, size: said.Dimensions, unsized: said.Dimensions < 2}
	switch n.axes {
	case plainAxes:
	case swappedAxes:
		s.swapped = true
	default:
		s.swapped = said.NorthFirst || n.fme && isShort(name) && said.CRS.NorthFirst()
		s.unknown = !ok && said.Official
	}
	return s
}

// isShort reports whether a name has the form EPSG:4326, which in FME's files has the meaning of a
// URN.
func isShort(name string) bool {
	const short = "EPSG:"
	return len(name) > len(short) && strings.EqualFold(name[:len(short)], short)
}

// fmeNamespace is the namespace of FME's files, which have axes in the authority's order whatever
// the form of the name. GDAL recognizes them by it, too.
const fmeNamespace = "http://www.safe.com/gml/fme"

// isFME reports whether the root element, whose start tag was read, is one of FME's.
func (s *scanner) isFME() bool {
	for i := range s.X.Attrs() {
		full, local := s.X.AttrName(i)
		if string(local) == "fme" && string(full) == "xmlns:fme" {
			return string(s.X.AttrValue(i)) == fmeNamespace
		}
	}
	return false
}

// warn counts the current feature if its system's name is unknown and looks like one that
// prescribes an order of axes.
func (s *scanner) warn(c *system) {
	if c.unknown && !s.row.warned {
		s.row.warned = true
		s.deviateAt(s.X.Offset(), fieldGeometry, ruleUnknownName, "axes as written")
	}
}

// named puts the frame that the start tag of a geometry declares into the context.
func (s *scanner) named(c *frame) bool {
	if s.X.Attrs() == 0 {
		return true
	}
	if !s.inline() {
		return false
	}
	for i := range s.X.Attrs() {
		_, local := s.X.AttrName(i)
		if string(local) != "srsName" {
			continue
		}
		*c = frame{system: s.names.of(s.X.AttrValue(i))}
		if c.system != s.crs.last && !s.establish(c.system, int(s.X.AttrOffset(i)-s.Base)) {
			return false
		}
	}
	return s.sized(c)
}

// layerCRS is the system of the layer.
type layerCRS struct {
	crs  geoarrow.CRS
	set  bool
	last *system // a geometry of the system
}

// span returns the system in the form of a Span's.
func (e layerCRS) span() *geoarrow.CRS {
	if !e.set {
		return nil
	}
	return &e.crs
}

// establish makes the system of a geometry at p the layer's, or sets the fault that the layer has
// another.
func (s *scanner) establish(system *system, p int) bool {
	if !s.crs.set {
		s.crs.crs, s.crs.set = system.crs, true
	}
	if s.crs.crs != system.crs {
		return s.wrongFile(p, fieldGeometry, "",
			fmt.Sprintf("a second coordinate reference system in layer %s: %s next to %s", s.layer,
				crsName(system.crs), crsName(s.crs.crs)))
	}
	s.crs.last = system
	return true
}

// restore undoes what was set since crs was the system of the layer, and reports whether the layer
// had one.
func (s *scanner) restore(crs layerCRS) bool {
	some := s.crs.set && !crs.set
	s.crs = crs
	return some
}

func crsName(c geoarrow.CRS) string {
	if c == (geoarrow.CRS{}) {
		return "none"
	}
	return strconv.Quote(c.String())
}

// boundedBy reads the frame in a boundedBy, whose start tag was read: srsName and srsDimension of
// an Envelope or a Box.
func (s *scanner) boundedBy(c *frame) bool {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
		default:
			return false
		}
		if name, ok := s.X.Attr("srsName"); ok {
			*c = frame{system: s.names.of(name)}
		}
		if !s.sized(c) || !s.X.Skip() {
			return false
		}
	}
}
