package filegdb

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// definition is what the XML of a layer in GDB_Items says.
type definition struct {
	System    *spatialReference `xml:"SpatialReference"`
	TimeInUTC string            `xml:"IsTimeInUTC"`
	Fields    []struct {
		Name          string `xml:"Name"`
		DomainName    string `xml:"DomainName"`
		HighPrecision string `xml:"HighPrecision"`
	} `xml:"GPFieldInfoExs>GPFieldInfoEx"`
}

// spatialReference is a reference system in XML.
type spatialReference struct {
	WKT          string `xml:"WKT"`
	WKID         string `xml:"WKID"`
	LatestWKID   string `xml:"LatestWKID"`
	VerticalWKID string `xml:"VCSWKID"`
}

// domain is a coded value domain.
type domain struct {
	Name   string `xml:"DomainName"`
	Values []struct {
		Name string `xml:"Name"`
		Code string `xml:"Code"`
	} `xml:"CodedValues>CodedValue"`
	texts map[string]string // by code
}

// unmarshal reads XML in UTF-8, whatever encoding it declares.
func unmarshal(text []byte, into any) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	d.Strict = false
	return d.Decode(into)
}

func isTrue(text string) bool {
	return strings.EqualFold(text, "true") || text == "1" || strings.EqualFold(text, "yes")
}

// crs returns the system by its number, or else of its text.
func (s *spatialReference) crs() geoarrow.CRS {
	if s == nil {
		return geoarrow.CRS{}
	}
	if s.VerticalWKID == "" || s.VerticalWKID == "0" {
		for _, code := range []string{s.LatestWKID, s.WKID} {
			if n, err := strconv.Atoi(code); err != nil || n <= 0 {
				continue
			}
			for _, authority := range []string{"EPSG:", "ESRI:"} {
				if c, ok := geoarrow.ParseCRS(authority + code); ok {
					return c
				}
			}
		}
	}
	return crsOf(s.WKT)
}

// crsOf returns the system of an Esri WKT. A UUID in braces is of one that is not known.
func crsOf(wkt string) geoarrow.CRS {
	wkt = strings.TrimSpace(strings.TrimRight(wkt, "\x00"))
	if wkt == "" || wkt[0] == '{' {
		return geoarrow.CRS{}
	}
	return geoarrow.CRSOfWKT(wkt)
}
