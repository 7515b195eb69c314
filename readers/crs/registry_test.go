package crs

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name, authority, code string
		want                  System
	}{
		{"WGS 84", "EPSG", "4326", System{Name: "WGS 84", Kind: Geographic, Dimensions: 2, NorthFirst: true}},
		{"3D", "epsg", "4979", System{Name: "WGS 84", Kind: Geographic, Dimensions: 3, NorthFirst: true}},
		{"OGC", "OGC", "crs84", System{Name: "WGS 84 (CRS84)", Kind: Geographic, Dimensions: 2}},
		{"easting first", "EPSG", "25832", System{Name: "ETRS89 / UTM zone 32N", Kind: Projected, Dimensions: 2}},
		{"northing first", "EPSG", "3035", System{
			Name: "ETRS89-extended / LAEA Europe", Kind: Projected, Dimensions: 2, NorthFirst: true,
		}},
		{"compound", "EPSG", "5555", System{
			Name: "ETRS89 / UTM zone 32N + DHHN92 height", Kind: Compound, Dimensions: 3,
		}},
		{"vertical", "EPSG", "5773", System{Name: "EGM96 height", Kind: Vertical, Dimensions: 1}},
		{"geocentric", "EPSG", "4978", System{Name: "WGS 84", Kind: Geocentric, Dimensions: 3}},
		{"unknown", "EPSG", "2000000", System{}},
		{"ESRI", "ESRI", "102100", System{
			Name: "WGS_1984_Web_Mercator_Auxiliary_Sphere", Kind: Projected, Dimensions: 2, Deprecated: true,
		}},
		{"IGNF", "IGNF", "LAMB93", System{Name: "RGF93 Lambert 93", Kind: Projected, Dimensions: 2}},
	} {
		got, ok := Lookup(c.authority, c.code)
		if ok != (c.want.Name != "") || got.Name != c.want.Name || got.Kind != c.want.Kind ||
			got.Dimensions != c.want.Dimensions || got.NorthFirst != c.want.NorthFirst ||
			got.Deprecated != c.want.Deprecated {
			t.Errorf("%s: %s:%s: got %+v, want %+v", c.name, c.authority, c.code, got, c.want)
		}
	}
}

// TestDefinitions reads every definition, which has the code that the index says.
func TestDefinitions(t *testing.T) {
	for i := range registry().count() {
		s := registry().system(i)
		var said struct {
			Name string
			ID   struct {
				Authority string
				Code      any
			}
		}
		d := json.NewDecoder(bytes.NewReader(s.PROJJSON()))
		d.UseNumber()
		if err := d.Decode(&said); err != nil {
			t.Fatalf("%s: %v", s.ID(), err)
		}
		code := ""
		switch v := said.ID.Code.(type) {
		case string:
			code = v
		case json.Number:
			code = v.String()
		}
		if said.ID.Authority != s.Authority && s.Authority != "IAU_2015" || code != s.Code || said.Name != s.Name {
			t.Errorf("%s %q: the definition is that of %s:%s %q", s.ID(), s.Name, said.ID.Authority, code, said.Name)
		}
	}
}

// TestSize holds what a binary carries below 2 MB.
func TestSize(t *testing.T) {
	if n := len(indexPacked) + len(definitionsPacked) + len(wktPacked); n > 2e6 {
		t.Errorf("got %d bytes, want 2,000,000 at most", n)
	}
}

func BenchmarkRegistry(b *testing.B) {
	for range b.N {
		unpacked(indexPacked)
	}
}

func TestCompoundParts(t *testing.T) {
	text, ok := PROJJSON("EPSG", "27700+5773")
	var said struct {
		Type       string
		Name       string
		Components []struct{ Name string }
	}
	if err := json.Unmarshal(text, &said); err != nil || !ok || said.Type != "CompoundCRS" ||
		said.Name != "OSGB36 / British National Grid + EGM96 height" || len(said.Components) != 2 {
		t.Errorf("got %s, %v", text, err)
	}
	if Dimensions("EPSG", "27700+5773") != 3 || NorthFirst("EPSG", "27700+5773") || !NorthFirst("EPSG", "4326+5773") {
		t.Error("the axes of a compound system are not those of its parts")
	}
}
