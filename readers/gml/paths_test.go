package gml_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestPaths has values of one name in different elements, each of which has a column of its own.
func TestPaths(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"two parents", values("<s><d>1</d></s><e><d>2</d></e>", "<e><d>3</d></e>"),
			"s.d: int32: 1 | null\ne.d: int32: 2 | 3",
		},
		{"one at a time", values("<s><d>1</d></s>", "<e><d>3</d></e>"), "s.d: int32: 1 | null\ne.d: int32: null | 3"},
		{"one parent", values("<s><d>1</d></s>", "<s><d>3</d></s>"), "d: int32: 1 | 3"},
		{
			"a list in one parent", values("<s><d>1</d></s><s><d>2</d></s>", "<e><d>3</d></e>"),
			"s.d: list<int32>: [1 2] | null\ne.d: int32: null | 3",
		},
		{"the feature is one", values("<d>1</d><e><d>2</d><x>3</x></e>"), "d: int32: 1\ne.d: int32: 2\nx: int32: 3"},
		{
			"units", values(`<s><d uom="m">1</d></s><e><d uom="ft">2</d></e>`),
			"s.d: int32: 1\ns.d_uom: string: \"m\"\ne.d: int32: 2\ne.d_uom: string: \"ft\"",
		},
		{
			"a name with a dot", values("<s><d>1</d></s><e><d>2</d></e><s.d>3</s.d>"),
			"s.d: int32: 1\ne.d: int32: 2\ns.d_1: int32: 3",
		},
		{"called as the geometry", values("<s><geometry>1</geometry></s>"), "geometry_1: int32: 1"},
	})
	typed := readCase{xsd: `<schema xmlns="http://www.w3.org/2001/XMLSchema"><complexType name="P"><sequence><element name="d" type="T"/></sequence></complexType>` +
		`<simpleType name="T"><restriction base="string"/></simpleType>` +
		`<element name="f"><complexType><sequence><element name="s" type="P"/><element name="e" type="P"/></sequence></complexType></element></schema>`}
	check(t, typed, []textCase{{"types", values("<s><d>1</d></s>"), "s.d: string: \"1\"\ne.d: string: null"}})
}

const (
	label     = `<label><Point srsName="EPSG:25832"><pos>1 2</pos></Point></label>`
	area      = `<area><Polygon srsName="EPSG:25832"><exterior><LinearRing><posList>0 0 1 0 1 1 0 0</posList></LinearRing></exterior></Polygon></area>`
	labelWKB  = "AQEAAAAAAAAAAADwPwAAAAAAAABA"
	areaWKB   = "AQMAAAABAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAAAAAAAAAAAA8D8AAAAAAADwPwAAAAAAAAAAAAAAAAAAAAA="
	areaText  = "POLYGON ((0 0, 1 0, 1 1, 0 0))"
	inUTM     = "\ncrs: EPSG:25832"
	pointKind = "geometry: geoarrow.point xy: "
	areaKind  = "geometry: geoarrow.polygon xy: "
)

// TestSecondGeometries has features with several geometries.
func TestSecondGeometries(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"both", values(label + area), "area: binary: " + areaWKB + "\n" + pointKind + "POINT (1 2)" + inUTM},
		{"nested", values("<x>" + label + "</x><y>" + area + "</y>"), "area: binary: " + areaWKB + "\n" +
			pointKind + "POINT (1 2)" + inUTM},
		{
			"of one name", values("<x>" + label + "</x><y>" + label + "</y><z>" + label + "</z>"),
			"y.label: binary: " + labelWKB + "\nz.label: binary: " + labelWKB + "\n" + pointKind +
				"POINT (1 2)" + inUTM,
		},
		{"repeated", values(label + label), pointKind + "POINT (1 2)" + inUTM + "\nforeign: \"label\" 1"},
		{"malformed", values(label + "<area><Point><pos>1 x</pos></Point></area>"), pointKind + "POINT (1 2)" +
			inUTM + "\nforeign: \"area\" 1"},
		{
			"another system", values(label + `<area><Point srsName="EPSG:25833"><pos>1 2</pos></Point></area>`),
			pointKind + "POINT (1 2)" + inUTM + "\nforeign: \"area\" 1",
		},
		{
			"north first", values(`<a>` + point("urn:ogc:def:crs:EPSG::4326", "2 1") + `</a><label>` +
				point("urn:ogc:def:crs:EPSG::4326", "2 1") + `</label>`),
			"label: binary: " + labelWKB + "\n" + pointKind + "POINT (1 2)\ncrs: EPSG:4326",
		},
	})
	check(t, readCase{options: map[string]any{"geometry": "area"}}, []textCase{
		{"named", values(label+area, label, area), "label: binary: " + labelWKB + " | " + labelWKB +
			" | null\n" + areaKind + areaText + " | null | " + areaText + inUTM},
		{"nested", values("<x>"+label+area+"</x>", "<x>"+label+"</x>"), "label: binary: " + labelWKB +
			" | " + labelWKB + "\n" + areaKind + areaText + " | null" + inUTM},
		{"malformed", values(label + "<area><Point><pos>1 ¦x</pos></Point></area>"), "want an ordinate"},
	})
	check(t, readCase{options: map[string]any{"geometry": "y.label"}}, []textCase{
		{"by its way", values("<x>" + label + "</x><y>" + label + "</y>"), "label: binary: " + labelWKB +
			"\n" + pointKind + "POINT (1 2)" + inUTM},
	})
}

// TestSecondGeometryField looks at the extension type of a geometry that is not the row's own.
func TestSecondGeometryField(t *testing.T) {
	table, err := readertest.Check(t, gml.Format(), readertest.Input{Name: "a.gml", Text: []byte(values(label + area))})
	if err != nil {
		t.Fatal(err)
	}
	f := geoarrow.Schema(table.Batches[0], table.CRS, geoarrow.Encoding{}).Field(0)
	name, _ := f.Metadata.GetValue("ARROW:extension:name")
	crs, _ := f.Metadata.GetValue("ARROW:extension:metadata")
	if f.Name != "area" || name != "geoarrow.wkb" || crs != table.CRS.Metadata() {
		t.Errorf("field %v", f)
	}
}
