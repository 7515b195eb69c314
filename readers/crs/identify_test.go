package crs

import "testing"

const esriWGS84 = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`

func TestIdentify(t *testing.T) {
	const esriUTM = `PROJCS["ETRS_1989_UTM_Zone_32N",GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],` +
		`PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],` +
		`PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
	for _, c := range []struct{ name, text, want string }{
		{"ESRI", esriWGS84, "EPSG:4326"},
		{"projected", esriUTM, "EPSG:25832"},
		{"cut", esriWGS84[:80], ""},
		{"wrong ellipsoid", `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,290]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`, ""},
	} {
		got, ok := Identify(c.text)
		if name := got.String(); ok && name != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %s, want %q", c.name, name, c.want)
		}
	}
}

// TestIdentifyUnnamed has texts without a name and a code that define two systems of EPSG, which
// differ by their axes. The codes are those that PROJ 9.5 gives.
func TestIdentifyUnnamed(t *testing.T) {
	const method = `,PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",`
	const etrs89 = `PROJCS["unnamed",GEOGCS["ETRS89",DATUM["European_Terrestrial_Reference_System_1989",SPHEROID["GRS 1980",6378137,298.257222101]],` +
		`PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]` + method + `9],PARAMETER["scale_factor",0.9996],` +
		`PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1]`
	const dhdn = `PROJCS["unnamed",GEOGCS["DHDN",DATUM["Deutsches_Hauptdreiecksnetz",SPHEROID["Bessel 1841",6377397.155,299.1528128]],` +
		`PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]` + method + `6],PARAMETER["scale_factor",1],` +
		`PARAMETER["false_easting",2500000],PARAMETER["false_northing",0],UNIT["metre",1]`
	const east, north = `,AXIS["Easting",EAST],AXIS["Northing",NORTH]]`, `,AXIS["Northing",NORTH],AXIS["Easting",EAST]]`
	for _, c := range []struct{ text, want string }{
		{etrs89 + "]", "EPSG:25832"},
		{etrs89 + east, "EPSG:25832"},
		{etrs89 + north, "EPSG:3044"},
		{dhdn + "]", "EPSG:31466"},
		{dhdn + east, "EPSG:5676"},
		{dhdn + north, "EPSG:31466"},
	} {
		if got, ok := Identify(c.text); !ok || got.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// TestIdentifyAll gives each system's own definitions in WKT 1, without codes, back to Identify.
func TestIdentifyAll(t *testing.T) {
	wrong, n := 0, 0
	for i := range registry().count() {
		s := registry().system(i)
		if s.Deprecated || s.Authority != "EPSG" || s.Kind == Compound || s.Kind == Vertical {
			continue
		}
		for _, text := range [2]string{first(s.texts()), string(s.PROJJSON())} {
			d, ok := defined(text)
			if !ok {
				continue
			}
			d.id = ID{}
			n++
			got, ok := d.identify()
			if of, _ := Lookup(got.Authority, got.Code); !ok || got != s.ID() &&
				canonical(of.Name) != canonical(s.Name) {
				if wrong++; wrong < 20 {
					t.Logf("%s %q: got %s %q", s.ID(), s.Name, got, of.Name)
				}
			}
		}
	}
	t.Logf("%d of %d definitions are not identified", wrong, n)
	if wrong > n/100 {
		t.Fail()
	}
}

func first(a, _ string) string { return a }
