package geoarrow

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseCRS(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"code", "EPSG:3857", "EPSG:3857"},
		{"lower case", " epsg:3857\n", "EPSG:3857"},
		{"urn", "urn:ogc:def:crs:EPSG::3857", "EPSG:3857"},
		{"urn with version", "URN:OGC:DEF:CRS:EPSG:6.9:3857", "EPSG:3857"},
		{"x-urn", "urn:x-ogc:def:crs:EPSG:6.9:4326", "EPSG:4326"},
		{"urn of OGC", "urn:ogc:def:crs:OGC:1.3:CRS84", "OGC:CRS84"},
		{"urn of OGC without version", "urn:ogc:def:crs:OGC::crs84", "OGC:CRS84"},
		{"old urn of OGC", "urn:ogc:def:crs:OGC:2:84", "OGC:CRS84"},
		{"CRS84", "crs84", "OGC:CRS84"},
		{"WMS", "CRS:84", "OGC:CRS84"},
		{"OGC", "OGC:CRS84", "OGC:CRS84"},
		{"NAD83", "OGC:CRS83", "OGC:CRS83"},
		{"http", "http://www.opengis.net/def/crs/EPSG/0/4326", "EPSG:4326"},
		{"https with slash", "https://www.opengis.net/def/crs/EPSG/9.9.1/4326/", "EPSG:4326"},
		{"http of OGC", "http://www.opengis.net/def/crs/OGC/1.3/CRS84", "OGC:CRS84"},
		{"GML 2", "http://www.opengis.net/gml/srs/epsg.xml#4326", "EPSG:4326"},
		{"ESRI", "ESRI:102100", "ESRI:102100"},
		{"IGNF", "IGNF:LAMB93", "IGNF:LAMB93"},
		{"nothing", "", ""},
		{"no code", "EPSG:", ""},
		{"no number", "EPSG:abc", ""},
		{"compound", "EPSG:4326+5773", "EPSG:9707"},
		{"compound urn", "urn:ogc:def:crs,crs:EPSG::4326,crs:EPSG::5773", "EPSG:9707"},
		{"urn cut", "urn:ogc:def:crs:EPSG:3857", "EPSG:3857"},
		{"unknown of OGC", "OGC:CRS1", ""},
		{"unknown authority", "ACME:1", ""},
		{"WKT", `GEOGCS["WGS 84"]`, ""},
		{"other page", "http://www.opengis.net/def/uom/EPSG/0/9001", ""},
	} {
		got, ok := ParseCRS(c.text)
		if got.String() != c.want || ok != (c.want != "") || got.Text != "" {
			t.Errorf("%s: %q: got %+v, %t, want %q", c.name, c.text, got, ok, c.want)
		}
	}
}

func TestCRSMetadata(t *testing.T) {
	for _, c := range []struct {
		name string
		crs  CRS
		want string
	}{
		{"none", CRS{}, `{}`},
		{"unknown code", CRS{Authority: "EPSG", Code: "99999"}, `{}`},
		{"text", CRS{Text: `LOCAL_CS["a < b"]`}, `{"crs":"LOCAL_CS[\"a < b\"]"}`},
		{
			"PROJJSON",
			CRS{Text: `{"type":"EngineeringCRS","name":"a","datum":{"name":"b"}}`},
			`{"crs":{"type":"EngineeringCRS","name":"a","datum":{"name":"b"}},"crs_type":"projjson"}`,
		},
		{"not to be read", CRS{Text: `GEOGCS["a"]`}, `{}`},
	} {
		if got := c.crs.Metadata(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	for _, crs := range []CRS{CRS84, {Authority: "EPSG", Code: "4326"}, {Authority: "EPSG", Code: "32733"}} {
		var m struct {
			CRS struct {
				ID struct {
					Authority string
					Code      json.RawMessage
				}
			}
			CRSType string `json:"crs_type"`
		}
		if err := json.Unmarshal([]byte(crs.Metadata()), &m); err != nil {
			t.Fatal(err)
		}
		if got := m.CRS.ID.Authority + ":" + strings.Trim(string(m.CRS.ID.Code), `"`); got != crs.String() ||
			m.CRSType != "projjson" {
			t.Errorf("%s: got %s, %s", crs, got, m.CRSType)
		}
	}
}
