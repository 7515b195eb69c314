package geoarrow

import "strings"

// crsAuthorities are those whose codes PROJ's database knows.
var crsAuthorities = [...]string{"EPSG", "OGC", "ESRI", "IGNF", "IAU_2015", "NKG", "NRCAN", "PROJ"}

// ParseCRS reads the name of a registered system, in any case:
//
//	EPSG:3857                                      as GDAL and PROJ write it
//	urn:ogc:def:crs:EPSG:[6.9]:3857                OGC 07-092r1; urn:x-ogc too
//	http://www.opengis.net/def/crs/EPSG/0/4326     OGC 09-048r5; https too
//	http://www.opengis.net/gml/srs/epsg.xml#4326   GML 2
//	CRS84, OGC:CRS84, CRS:84                       OGC 06-042 Annex B; CRS83 and CRS27 alike
//
// What these say about the order of axes is lost: that is for the format that read the name. ok is false for anything else.
func ParseCRS(text string) (crs CRS, ok bool) {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	if rest, ok := cutAnyPrefix(lower, "urn:ogc:def:crs:", "urn:x-ogc:def:crs:"); ok {
		return authorityCode(strings.Split(rest, ":"))
	}
	if rest, ok := cutAnyPrefix(lower, "http://www.opengis.net/def/crs/", "https://www.opengis.net/def/crs/"); ok {
		return authorityCode(strings.Split(strings.TrimSuffix(rest, "/"), "/"))
	}
	if rest, ok := cutAnyPrefix(lower, "http://www.opengis.net/gml/srs/", "https://www.opengis.net/gml/srs/"); ok {
		file, code, _ := strings.Cut(rest, "#")
		return authorityCode([]string{strings.TrimSuffix(file, ".xml"), "", code})
	}
	authority, code, found := strings.Cut(lower, ":")
	switch {
	case !found:
		return authorityCode([]string{"ogc", "", lower})
	case authority == "crs":
		return authorityCode([]string{"ogc", "", "crs" + code})
	}
	return authorityCode([]string{authority, "", code})
}

func cutAnyPrefix(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}

// authorityCode takes authority, version and code, in lower case. "OGC:2:84" is an old spelling of CRS84 that GDAL reads too.
func authorityCode(parts []string) (CRS, bool) {
	if len(parts) != 3 || !isCode(parts[2]) {
		return CRS{}, false
	}
	code := strings.ToUpper(parts[2])
	for _, a := range crsAuthorities {
		if !strings.EqualFold(a, parts[0]) {
			continue
		}
		switch a {
		case "EPSG":
			if strings.Trim(code, "0123456789") != "" {
				return CRS{}, false
			}
		case "OGC":
			if code == "84" {
				code = "CRS84"
			}
			if code != "CRS84" && code != "CRS83" && code != "CRS27" {
				return CRS{}, false
			}
		}
		return CRS{Authority: a, Code: code}, true
	}
	return CRS{}, false
}

func isCode(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}
