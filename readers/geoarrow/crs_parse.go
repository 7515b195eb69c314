package geoarrow

import (
	"strconv"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// ParseCRS reads the name of a registered system, in every form of crs.ParseName. What the name
// says about the order of axes is lost: ParseCRSName has it. ok is false for anything else, and for
// a code that the registry does not have.
func ParseCRS(text string) (c CRS, ok bool) {
	name, ok := ParseCRSName(text)
	return name.CRS, ok
}

// CRSName is what the name of a reference system says.
type CRSName struct {
	CRS        CRS
	NorthFirst bool // the name obliges its file to the authority's order of axes, and that is north, then east
	Official   bool // the name is a URN or URL of OGC, which obliges to the authority's order of axes
	Dimensions int  // number of axes
}

// ParseCRSName is ParseCRS with what the name says of axes. If ok is false and Official is true,
// the text looks like a URN or URL of OGC and is not understood: then nobody knows the order of
// axes in the file.
func ParseCRSName(text string) (n CRSName, ok bool) {
	said, ok := crs.ParseName(text)
	if !ok {
		return CRSName{Official: crs.LooksOfficial(text)}, false
	}
	return CRSName{
		CRS:        CRS{Authority: said.ID.Authority, Code: said.ID.Code},
		NorthFirst: said.NorthFirst, Official: said.Official, Dimensions: said.Dimensions,
	}, true
}

// NorthFirst reports a registered system whose authority has the axes north, then east. Tables have
// them the other way round: x is easting or longitude.
func (c CRS) NorthFirst() bool { return crs.NorthFirst(c.Authority, c.Code) }

// Dimensions is the number of axes of a registered system, 0 for any other one.
func (c CRS) Dimensions() int { return crs.Dimensions(c.Authority, c.Code) }

// CRSOfSRID is the system that an EWKT or EWKB names by number: EPSG's, or ESRI's where EPSG has
// none.
func CRSOfSRID(srid int32) CRS {
	name := "EPSG:" + strconv.Itoa(int(srid))
	if c, ok := ParseCRS(name); ok {
		return c
	}
	return CRS{Text: name}
}
