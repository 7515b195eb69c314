package readers

import (
	"slices"
	"strings"
	"testing"
)

func TestTablesOfAnArchive(t *testing.T) {
	r := Registry{
		{Name: "shapefile", Extensions: []string{".shp"}, Siblings: []string{".dbf", ".shx", ".prj"}},
		{Name: "dbf", Extensions: []string{".dbf"}},
		{Name: "csv", Extensions: []string{".csv"}},
		{Name: "kml", Extensions: []string{".kml"}},
	}
	for _, tt := range []struct {
		name    string
		members []string
		want    string // layer=member, of each table
	}{
		{"shapefiles at the top", []string{"README", "b.dbf", "b.shp", "b.shx", "a.dbf", "a.shp"}, "b=b.shp a=a.shp"},
		{"folders", []string{"x/b.shp", "x/b.dbf", "y/z/a.shp"}, "b=x/b.shp a=y/z/a.shp"},
		{
			"the same stem in folders",
			[]string{"x/a.shp", "y/a.shp", "y/b.shp"},
			"x/a.shp=x/a.shp y/a.shp=y/a.shp b=y/b.shp",
		},
		{"the same stem, other formats", []string{"a.kml", "a.csv"}, "a.kml=a.kml a.csv=a.csv"},
		{
			"a stem that is another's name",
			[]string{"a.kml", "a.csv", "a.csv.kml"},
			"a.kml=a.kml a.csv=a.csv a.csv.kml=a.csv.kml",
		},
		{
			"a table of its own next to a shapefile's",
			[]string{"a.shp", "a.dbf", "codes.dbf", "list.csv"},
			"a=a.shp codes=codes.dbf list=list.csv",
		},
		{"a sign that separates layers", []string{"a#1.csv", "a#2.csv"}, "a#1=a#1.csv a#2=a#2.csv"},
		{"twice", []string{"a.csv", "a.csv", "b.csv"}, "a=a.csv b=b.csv"},
		{
			"no UTF-8",
			[]string{"caf\xe9.csv", "caf\xe8.csv", "b.csv"},
			"caf\uFFFD=caf\xe9.csv caf\uFFFD_(2)=caf\xe8.csv b=b.csv",
		},
		{"none", []string{"README", "a.prj"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			tables := r.tables(tt.members)
			for _, m := range tables {
				got = append(got, strings.ReplaceAll(m.Layer, " ", "_")+"="+m.Name)
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%q\ngot  %s\nwant %s", tt.members, text, tt.want)
			}
			if layers := layersOf(tables); (len(tables) > 1) != (layers != nil) {
				t.Errorf("%d tables, layers %q", len(tables), layers)
			}
		})
	}
	many := slices.Repeat([]string{""}, maxTables+5)
	for i := range many {
		many[i] = strings.Repeat("a", i%100) + strings.Repeat("b", i/100) + ".csv"
	}
	if n := len(r.tables(many)); n != maxTables {
		t.Errorf("%d tables, want %d", n, maxTables)
	}
}
