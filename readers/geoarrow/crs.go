package geoarrow

// CRS is a coordinate reference system as a file names it. The zero value means that there is none.
type CRS struct {
	// Authority and Code name a registered system: "OGC", "CRS84"; "EPSG", "3857".
	Authority, Code string
	// Text is a definition that names no registered system, such as the WKT of an ESRI .prj.
	Text string
}

// CRS84 is longitude and latitude on WGS 84: what RFC 7946 section 4 and KML prescribe.
var CRS84 = CRS{Authority: "OGC", Code: "CRS84"}

// String is "OGC:CRS84", the text, or "" where there is none.
func (c CRS) String() string {
	if c.Authority != "" {
		return c.Authority + ":" + c.Code
	}
	return c.Text
}
