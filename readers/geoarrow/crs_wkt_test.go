package geoarrow

import "testing"

func TestCRSOfWKT(t *testing.T) {
	const esri = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
	for _, c := range []struct {
		name, text string
		want       CRS
	}{
		{"nothing", " \n", CRS{}},
		{"ESRI", esri + "\r\n", CRS{Authority: "EPSG", Code: "4326"}},
		{
			"WKT 1", `GEOGCS["WGS 84",DATUM["WGS_1984",AUTHORITY["EPSG","6326"]],AUTHORITY["EPSG","4326"]]`,
			CRS{Authority: "EPSG", Code: "4326"},
		},
		{
			"WKT 2", `PROJCRS["a",BASEGEOGCRS["b",ID["EPSG",4258]],ID["EPSG",25832]]`,
			CRS{Authority: "EPSG", Code: "25832"},
		},
		{"with version", `GEOGCRS["b",ID["EPSG",4258,"v9.9"]]`, CRS{Authority: "EPSG", Code: "4258"}},
		{
			"with blanks and round brackets", "GEOGCS (\"a\",\n authority ( \"EPSG\" , \"4326\" ) )",
			CRS{Authority: "EPSG", Code: "4326"},
		},
		{"ESRI's own code", `PROJCS["a",AUTHORITY["ESRI","102003"]]`, CRS{Authority: "ESRI", Code: "102003"}},
		{
			"of the datum only", `GEOGCS["a",DATUM["b",AUTHORITY["EPSG","6326"]]]`,
			CRS{Text: `GEOGCS["a",DATUM["b",AUTHORITY["EPSG","6326"]]]`},
		},
		{
			"in a name", `GEOGCS["a,AUTHORITY[""EPSG"",""1""]",UNIT["m",1]]`,
			CRS{Text: `GEOGCS["a,AUTHORITY[""EPSG"",""1""]",UNIT["m",1]]`},
		},
		{"unknown authority", `GEOGCS["a",AUTHORITY["ACME","1"]]`, CRS{Text: `GEOGCS["a",AUTHORITY["ACME","1"]]`}},
		{"no code", `GEOGCS["a",AUTHORITY["EPSG"]]`, CRS{Text: `GEOGCS["a",AUTHORITY["EPSG"]]`}},
		{"cut in a text", `GEOGCS["a`, CRS{Text: `GEOGCS["a`}},
		{"cut in a code", `GEOGCS["a",AUTHORITY["EPSG","4326`, CRS{Text: `GEOGCS["a",AUTHORITY["EPSG","4326`}},
		{"no WKT", "EPSG:4326", CRS{Text: "EPSG:4326"}},
	} {
		if got := CRSOfWKT(c.text); got != c.want {
			t.Errorf("%s: %q: got %+v, want %+v", c.name, c.text, got, c.want)
		}
	}
}
