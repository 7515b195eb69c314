package gml

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// frame is what the elements around a geometry say of its positions.
type frame struct {
	system *system
	size   int // ordinates of a position: srsDimension; 0: nobody says
}

// listSize returns how many ordinates a position of a posList has: what srsDimension says, else
// what the system has (OGC 07-036 section 10.1.3.2), 2 where no system is named. 0: the system is
// not known.
func (c *frame) listSize() int {
	switch {
	case c.size > 0:
		return c.size
	case c.system.unsized:
		return 0
	}
	return max(c.system.size, 2)
}

// system is what an srsName means.
type system struct {
	crs     geoarrow.CRS
	swapped bool // the file has y first: the first axis is north
	size    int  // number of axes; 0: it is not known, or nobody names a system
	unsized bool // there is a name, which does not tell the number of axes
	unknown bool // the name looks like one that obliges to an order of axes, and is not known
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

// maxSystems bounds how many names are kept: a hostile file has one for each geometry.
const maxSystems = 256

// of returns what a name means.
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

// newSystem reads a name. One that obliges its file to have the axes in the order of the authority
// has its coordinates swapped if that is north, then east:
//
//	urn:ogc:def:crs:EPSG::4326                           latitude first
//	urn:ogc:def:crs,crs:EPSG::4258,crs:EPSG::5621        latitude first
//	http://www.opengis.net/def/crs/EPSG/0/4326           latitude first
//	urn:ogc:def:crs:OGC:1.3:CRS84                        longitude first, as OGC defines it
//	EPSG:4326                                            longitude first, as everybody but FME writes it
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

// isShort reports the form EPSG:4326, which FME means as a urn.
func isShort(name string) bool {
	const short = "EPSG:"
	return len(name) > len(short) && strings.EqualFold(name[:len(short)], short)
}

// fmeNamespace is that of FME's files, which have their axes in the order of the authority whatever
// the form of the name. GDAL knows them by it, too.
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

// warn counts the current feature if its positions are in a system whose name looks like one that
// obliges to an order of axes, and is not known.
func (s *scanner) warn(c *system) {
	if c.unknown && !s.row.warned {
		s.row.warned = true
		s.deviateAt(s.X.Offset(), fieldGeometry, ruleUnknownName, "axes as written")
	}
}

// named puts what the start tag of a geometry says of its positions into the context.
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
	last *system // one that is of it
}

// span returns the system as a Span has it.
func (e layerCRS) span() *geoarrow.CRS {
	if !e.set {
		return nil
	}
	return &e.crs
}

// establish makes a system, which something at p has, the one of the layer, or says that the layer
// has another.
func (s *scanner) establish(system *system, p int) bool {
	if !s.crs.set {
		s.crs.crs, s.crs.set = system.crs, true
	}
	if s.crs.crs != system.crs {
		return s.wrongFile(p, fieldGeometry, "",
			fmt.Sprintf("a second coordinate reference system in layer %s: %s beside %s", s.layer,
				crsName(system.crs), crsName(s.crs.crs)))
	}
	s.crs.last = system
	return true
}

// restore takes back what was set since crs was the system of the layer, and reports
// whether that was one.
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

// boundedBy reads what a boundedBy, whose start tag was read, says of the positions around it:
// srsName and srsDimension of an Envelope or a Box.
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
