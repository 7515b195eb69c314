package gml

import (
	"fmt"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// frame is what the elements around a geometry say of its positions.
type frame struct {
	system *system
	size   int // ordinates of a position: srsDimension; 0: nobody says
}

// system is what an srsName means.
type system struct {
	crs     geoarrow.CRS
	swapped bool // the file has y first: the first axis is north
}

// isGeographic reports whether the ordinates of the system are degrees.
func (s *system) isGeographic() bool {
	return s.crs.Authority == "OGC" || s.crs.Authority == "EPSG" && s.crs.Code >= "4001" && s.crs.Code <= "4999" && len(s.crs.Code) == 4
}

// systems are the meanings of the names in a file, by name.
type systems struct {
	known map[string]*system
	text  string // the last one
	last  *system
}

// mostSystems bounds how many names are kept: a hostile file has one for each geometry.
const mostSystems = 256

// of gives what a name means.
func (n *systems) of(name []byte, axes string) *system {
	if string(name) == n.text && n.last != nil {
		return n.last
	}
	text := string(name)
	found := n.known[text]
	if found == nil {
		found = newSystem(text, axes)
		if n.known == nil || len(n.known) >= mostSystems {
			n.known = map[string]*system{}
		}
		n.known[text] = found
	}
	n.text, n.last = text, found
	return found
}

func newSystem(name, axes string) *system {
	said, ok := geoarrow.ParseCRSName(name)
	if !ok {
		said.CRS = geoarrow.CRS{Text: name}
	}
	s := &system{crs: said.CRS}
	switch axes {
	case plainAxes:
	case swappedAxes:
		s.swapped = true
	default:
		s.swapped = said.NorthFirst
	}
	return s
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
		*c = frame{system: s.names.of(s.X.AttrValue(i), s.axes)}
		if c.system != s.crs.last && !s.establish(c.system, int(s.X.AttrOffset(i)-s.Base)) {
			return false
		}
	}
	return s.sized(c)
}

// established is the system of the layer.
type established struct {
	crs  geoarrow.CRS
	set  bool
	last *system // one that is of it
}

// establish makes a system, which something at p has, the one of the layer, or says that the layer has another.
func (s *scanner) establish(system *system, p int) bool {
	if s.inside { // whoever read the rows first looked at it
		s.crs = established{system.crs, true, system}
		return true
	}
	if !s.crs.set {
		s.crs.crs, s.crs.set = system.crs, true
	}
	if s.crs.crs != system.crs {
		return s.wrongFile(p, fieldGeometry, "",
			fmt.Sprintf("a second coordinate reference system in layer %s: %s beside %s", s.layer, crsName(system.crs), crsName(s.crs.crs)))
	}
	s.crs.last = system
	return true
}

func crsName(c geoarrow.CRS) string {
	if c == (geoarrow.CRS{}) {
		return "none"
	}
	return strconv.Quote(c.String())
}

// boundedBy reads what a boundedBy, whose start tag was read, says of the positions around it: srsName and srsDimension of an Envelope or a Box.
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
			*c = frame{system: s.names.of(name, s.axes)}
		}
		if !s.sized(c) || !s.X.Skip() {
			return false
		}
	}
}
