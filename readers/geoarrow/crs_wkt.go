package geoarrow

import "strings"

// CRSOfWKT is the system that a well-known text defines, in WKT 1 of OGC or ESRI or in WKT 2: by its code where the outermost node states one that ParseCRS
// reads, else the text as it stands, without blanks around it.
//
//	GEOGCS["WGS 84",DATUM[…,AUTHORITY["EPSG","6326"]],…,AUTHORITY["EPSG","4326"]]    EPSG:4326
//	GEOGCRS["WGS 84",…,ID["EPSG",4326]]                                              EPSG:4326
//	GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",…],…]                                   the text
func CRSOfWKT(text string) CRS {
	text = strings.TrimSpace(text)
	depth := 0
	for p := 0; p < len(text); p++ {
		switch text[p] {
		case '"':
			end := strings.IndexByte(text[p+1:], '"') // a doubled quote ends a text and begins one
			if end < 0 {
				return CRS{Text: text}
			}
			p += 1 + end
		case '[', '(':
			depth++
			if depth != 2 {
				continue
			}
			name := strings.ToUpper(nameBefore(text[:p]))
			if name != "AUTHORITY" && name != "ID" {
				continue
			}
			if crs, ok := codeOf(text[p+1:]); ok {
				return crs
			}
		case ']', ')':
			depth--
		}
	}
	return CRS{Text: text}
}

// nameBefore is the letters that a text ends with.
func nameBefore(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })+1:]
}

// codeOf reads the rest of an AUTHORITY or ID behind its bracket: the authority and the code, either with or without quotes.
func codeOf(rest string) (CRS, bool) {
	end := strings.IndexAny(rest, "])")
	if end < 0 {
		return CRS{}, false
	}
	parts := strings.Split(rest[:end], ",")
	if len(parts) < 2 {
		return CRS{}, false
	}
	for i := range parts {
		parts[i] = strings.Trim(parts[i], " \t\r\n\"")
	}
	return ParseCRS(parts[0] + ":" + parts[1])
}
