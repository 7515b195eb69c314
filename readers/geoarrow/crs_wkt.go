package geoarrow

import (
	"strings"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// CRSOfWKT is the system that a definition in WKT 1 of OGC, GDAL or ESRI, in WKT 2 or in PROJJSON
// is of: the registered one that it states or that its name and parameters are of, as PROJ
// identifies it, else the text as it stands, without blanks around it.
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
