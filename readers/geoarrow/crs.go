package geoarrow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// CRS is a coordinate reference system as a file names it. The zero value is none.
type CRS struct {
	// Authority and Code name a registered system: "OGC", "CRS84"; "EPSG", "3857".
	Authority, Code string
	// Text is a definition that does not name a registered system, such as the WKT of an ESRI .prj.
	Text string
}

// CRS84 is longitude and latitude on WGS 84, which RFC 7946 section 4 and KML prescribe.
var CRS84 = CRS{Authority: "OGC", Code: "CRS84"}

// String returns "OGC:CRS84", the text, or "" where there is none.
func (c CRS) String() string {
	if c.Authority != "" {
		return c.Authority + ":" + c.Code
	}
	return c.Text
}

// ParseCRS reads the name of a registered system, in every form of crs.ParseName. It ignores what
// the name implies about the order of axes; ParseCRSName returns that. ok is false for other names
// and for a code that the registry does not have.
func ParseCRS(text string) (c CRS, ok bool) {
	name, ok := ParseCRSName(text)
	return name.CRS, ok
}

// CRSName is the meaning of a reference system's name.
type CRSName struct {
	CRS        CRS
	NorthFirst bool // the name prescribes the authority's order of axes, which is north, then east
	Official   bool // the name is a URN or URL of OGC, which prescribes the authority's order of axes
	Dimensions int  // number of axes
}

// ParseCRSName is ParseCRS that also returns what the name implies about axes. If ok is false and
// Official is true, the text looks like a URN or URL of OGC that is not understood, so the file's
// order of axes is unknown.
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

// NorthFirst reports whether a registered system has the axes north, then east. Tables always have
// x, the easting or longitude, first.
func (c CRS) NorthFirst() bool { return crs.NorthFirst(c.Authority, c.Code) }

// Dimensions returns the number of axes of a registered system, 0 for any other one.
func (c CRS) Dimensions() int { return crs.Dimensions(c.Authority, c.Code) }

// CRSOfSRID returns the system of an SRID in EWKT or EWKB: EPSG's, or ESRI's if EPSG has none.
func CRSOfSRID(srid int32) CRS {
	name := "EPSG:" + strconv.Itoa(int(srid))
	if c, ok := ParseCRS(name); ok {
		return c
	}
	return CRS{Text: name}
}

// CRSOfWKT returns the system of a definition in WKT 1 of OGC, GDAL or ESRI, in WKT 2 or in
// PROJJSON. It is the registered system that the definition states, or that PROJ identifies by its
// name and parameters; otherwise the text itself, without surrounding blanks.
//
//	GEOGCS["WGS 84",DATUM[…,AUTHORITY["EPSG","6326"]],…,AUTHORITY["EPSG","4326"]]    EPSG:4326
//	GEOGCRS["WGS 84",…,ID["EPSG",4326]]                                              EPSG:4326
//	GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",…],…]                                   EPSG:4326
func CRSOfWKT(text string) CRS {
	text = strings.TrimSpace(text)
	if id, ok := crs.Identify(text); ok {
		return CRS{Authority: id.Authority, Code: id.Code}
	}
	return CRS{Text: text}
}

// PROJJSON returns the definition of a registered system, or the text if it is PROJJSON. The bytes
// are shared.
func (c CRS) PROJJSON() (json.RawMessage, bool) {
	if strings.HasPrefix(c.Text, "{") {
		return json.RawMessage(c.Text), crs.Readable(c.Text)
	}
	return crs.PROJJSON(c.Authority, c.Code)
}

// Unread returns the file's text for a system that is neither registered nor a definition that PROJ
// could read. Clients would fail with it, so they do not receive it as a system.
func (c CRS) Unread() string {
	if _, ok := c.PROJJSON(); ok || crs.Readable(c.Text) {
		return ""
	}
	return c.String()
}

// crsMetadata is the JSON object of GeoArrow 0.2, "Extension metadata".
type crsMetadata struct {
	CRS  any    `json:"crs,omitempty"`
	Type string `json:"crs_type,omitempty"`
}

// Metadata returns the extension metadata of a geometry column, a JSON object:
//
//	registered system  {"crs":{PROJJSON},"crs_type":"projjson"}
//	PROJJSON           {"crs":{PROJJSON},"crs_type":"projjson"}
//	other definition   {"crs":"text"}
//	none, or unread    {}
func (c CRS) Metadata() string {
	var m crsMetadata
	if text, ok := c.PROJJSON(); ok {
		m = crsMetadata{text, "projjson"}
	} else if c.Text != "" && c.Unread() == "" {
		m = crsMetadata{CRS: c.Text}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic("geoarrow: " + err.Error()) // the embedded JSON was read by the same package
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
