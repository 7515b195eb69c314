package tree

import (
	"fmt"
	"slices"
	"testing"
)

func TestStem(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"florida.geojson", "florida"},
		{"roads.v2.csv", "roads.v2"},
		{"florida.geojson.gz", "florida"},
		{"florida.CSV.ZST", "florida"},
		{"florida.gz", "florida"},
		{"florida", "florida"},
		{"trips.kml#Stops", "trips#Stops"},
		{"trips.kml#a.b", "trips#a.b"},
		{"v1.d/florida", "v1.d/florida"},
		{"v1.d/florida.csv", "v1.d/florida"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Stem(c.name); got != c.want {
				t.Errorf("Stem(%q) = %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	n := NewNames(slices.Values([]string{
		"Case.csv", "a.csv", "a.geojson", "case.csv", "duckdb_tables.csv", "north/a.csv", "north/roads.geojson.gz",
		"south/roads.csv", "south/towns.csv", "trips.kml", "trips.kml#Stops", "v1.d/plain", "v1.d/zipped.csv.csv",
	}))
	for _, c := range []struct {
		name, asked string
		here        bool // in the root alone
		want        []string
	}{
		{"the name", "south/towns.csv", false, []string{"south/towns.csv"}},
		{"without extension", "south/towns", false, []string{"south/towns.csv"}},
		{"without folder", "towns.csv", false, []string{"south/towns.csv"}},
		{"without both", "towns", false, []string{"south/towns.csv"}},
		{"in another case", "South/TOWNS.csv", false, []string{"south/towns.csv"}},
		{"a stem in another case", "Towns", false, []string{"south/towns.csv"}},
		{"without the extension of the packing", "north/roads", false, []string{"north/roads.geojson.gz"}},
		{"exact case", "case.csv", false, []string{"case.csv"}},
		{"the case of neither", "CASE", false, []string{"Case.csv", "case.csv"}},
		{"several folders", "roads", false, []string{"north/roads.geojson.gz", "south/roads.csv"}},
		{"several formats", "a", false, []string{"a.csv", "a.geojson"}},
		{"the root first", "a.csv", false, []string{"a.csv"}},
		{"a layer", "trips#stops", false, []string{"trips.kml#Stops"}},
		{"a file of layers", "trips", false, []string{"trips.kml"}},
		{"no extension", "plain", false, []string{"v1.d/plain"}},
		{"a stem with an extension", "zipped.csv", false, []string{"v1.d/zipped.csv.csv"}},
		{"in the root alone", "towns", true, nil},
		{"in a folder alone", "south/towns", true, []string{"south/towns.csv"}},
		{"like a view of DuckDB's", "duckdb_tables", false, nil},
		{"such a file", "DUCKDB_tables.csv", false, []string{"duckdb_tables.csv"}},
		{"none", "rivers", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := n.Find(c.asked, !c.here); !slices.Equal(got, c.want) {
				t.Errorf("Find(%q) = %q, want %q", c.asked, got, c.want)
			}
		})
	}
	if want := []string{".csv", ".geojson", ".geojson.gz", ".kml", ""}; !slices.Equal(n.Suffixes(), want) {
		t.Errorf("suffixes %q, want %q", n.Suffixes(), want)
	}
}

// Names are found by hashes; those of many names collide.
func TestFindAmongMany(t *testing.T) {
	var names []string
	for i := range 200_000 {
		names = append(names, fmt.Sprintf("f%03d/n%06d.csv", i%1000, i))
	}
	n := NewNames(slices.Values(names))
	for i := 0; i < len(names); i += 997 {
		for _, asked := range []string{names[i], fmt.Sprintf("N%06d", i), fmt.Sprintf("f%03d/n%06d", i%1000, i)} {
			if got := n.Find(asked, true); !slices.Equal(got, names[i:i+1]) {
				t.Fatalf("Find(%q) = %q", asked, got)
			}
		}
	}
}

func TestAmbiguousError(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("%02d/a.csv", 11-i))
	}
	for _, c := range []struct {
		found []string
		want  string
	}{
		{
			[]string{"y/a.csv", "x/a.csv"},
			`"a" may mean "x/a.csv" or "y/a.csv": write the one that is meant, in SQL with its quotes`,
		},
		{many, `"a" may mean "00/a.csv" or "01/a.csv" or "02/a.csv" or "03/a.csv" or "04/a.csv" or "05/a.csv" or ` +
			`"06/a.csv" or "07/a.csv" or "08/a.csv" or "09/a.csv", or one of 2 more: write the one that is meant, ` +
			`in SQL with its quotes`},
	} {
		if got := NewAmbiguousError("a", c.found).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
