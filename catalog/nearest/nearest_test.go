package nearest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	names := []string{"counties/florida.geojson", "florida.csv", "floridas.geojson", "georgia.geojson", "roads.kml"}
	for _, tt := range []struct {
		name, asked string
		want        []string
	}{
		{"typo", "florda.csv", []string{"florida.csv"}},
		{"case", "FLORIDA.CSV", []string{"florida.csv"}},
		{"folder forgotten", "florida.geojson", []string{
			"counties/florida.geojson", "floridas.geojson",
			"georgia.geojson",
		}},
		{"extension forgotten", "roads", []string{"roads.kml"}},
		{"typo without extension", "raods", []string{"roads.kml"}},
		{"typo without folder and extension", "floirda", []string{
			"counties/florida.geojson", "florida.csv",
		}},
		{"nothing like it", "zzzzzzzz", nil},
		{"listed still, and gone", "florida.csv", nil},
		{"too long", strings.Repeat("florida.csv", 100), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Paths(tt.asked, names, 3); !slices.Equal(got, tt.want) {
				t.Errorf("Paths(%q) = %q, want %q", tt.asked, got, tt.want)
			}
		})
	}
}

func TestClosestAmongMany(t *testing.T) {
	var names []string
	for i := range 3 * MaxCompared {
		names = append(names, fmt.Sprintf("%06d.csv", i))
	}
	for _, asked := range []string{"000000.csw", "015000.csw", "029999.csw"} {
		want := strings.Replace(asked, "csw", "csv", 1)
		if got := Paths(asked, names, 3); len(got) != 3 || got[0] != want {
			t.Errorf("Paths(%q) = %q, want %q first", asked, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 9, 0},
		{"", "abc", 9, 3},
		{"abc", "", 9, 3},
		{"kitten", "sitting", 9, 3},
		{"flaw", "lawn", 9, 2},
		{"kitten", "sitting", 2, 3},
		{"abcdef", "a", 3, 4},
		{"same", "same", 0, 0},
	} {
		if got := distance(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("distance(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
	if got := Name("heigth", []string{"id", "height", "weight", "geometry"}); got != "height" {
		t.Errorf(`Name("heigth") = %q, want height`, got)
	}
}
