package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, path, want string }{
		{"plain", "counties/florida.geojson", "counties/florida.geojson"},
		{"hash", "a#b.csv", "a%23b.csv"},
		{"percent", "50%.csv", "50%25.csv"},
		{"looks escaped", "a%23b.csv", "a%2523b.csv"},
		{"not UTF-8", "caf\xe9.csv", "caf%E9.csv"},
		{"replacement character", "a\ufffdb.csv", "a\ufffdb.csv"},
		{"several bytes", "Zürich/日本.kml", "Zürich/日本.kml"},
		{"space and equals", "year=2024/a b.csv", "year=2024/a b.csv"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := escape(tt.path); got != tt.want {
				t.Errorf("escape(%q) = %q, want %q", tt.path, got, tt.want)
			}
			if got, ok := unescape(tt.want); got != tt.path || !ok {
				t.Errorf("unescape(%q) = %q, %v, want %q", tt.want, got, ok, tt.path)
			}
		})
	}
}

func TestUnescapeRefuses(t *testing.T) {
	for _, name := range []string{"a#b", "%41", "%2", "%", "a%", "%2g", "%e9", "caf\xe9", "%C3%BC", "%2F", "%00"} {
		if got, ok := unescape(name); ok {
			t.Errorf("unescape(%q) = %q, want it refused: escape writes %q", name, got, escape(got))
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "#%", "\xff#", "%2523", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name := escape(path)
		if got, ok := unescape(name); got != path || !ok {
			t.Errorf("unescape(escape(%q)) = %q, %v", path, got, ok)
		}
		if back, ok := unescape(path); ok && escape(back) != path {
			t.Errorf("%q is a second name of %q", path, back)
		}
	})
}

func TestRelRefuses(t *testing.T) {
	for _, name := range []string{
		"", "/", "/etc/passwd", "../x", "a/../b", "a/..", ".", "./a", "a//b", "a/", ".hidden", "a/.git/b",
		"a\x00b", "a%00b",
		strings.Repeat("a/", maxNameBytes) + "b",
	} {
		if rel, ok := (Root{}).rel(name); ok {
			t.Errorf("rel(%q) = %q, want it refused", name, rel)
		}
	}
	r := Root{Alias: "x"}
	for _, name := range []string{"a", "x", "x/", "xa", "y/a", "x/../a"} {
		if rel, ok := r.rel(name); ok {
			t.Errorf("alias x: rel(%q) = %q, want it refused", name, rel)
		}
	}
	if rel, ok := r.rel("x/a%23.csv"); rel != "a#.csv" || !ok {
		t.Errorf("alias x: rel(%q) = %q, %v, want a#.csv", "x/a%23.csv", rel, ok)
	}
}

func TestParseRoot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "roads.geojson")
	odd := filepath.Join(dir, "year=2024")
	write(t, file, "{}")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, in string
		want     Root
		err      string // part of it
	}{
		{"folder", dir, Root{"", dir}, ""},
		{"alias", "a-1_B.c=" + dir, Root{"a-1_B.c", dir}, ""},
		{"equals in the folder", odd, Root{"", odd}, ""},
		{"alias and equals", "x=" + odd, Root{"x", odd}, ""},
		{"file", file, Root{}, "is a file"},
		{"file with alias", "x=" + file, Root{}, dir},
		{"nothing there", dir + "/none", Root{}, "no such file"},
		{"empty", "", Root{}, "empty"},
		{"alias alone", "x=", Root{}, "empty"},
		{"no alias", "=" + dir, Root{}, "alias"},
		{"bad alias", "a b=" + dir, Root{}, "letters"},
		{"alias of dots", "..=" + dir, Root{}, "begin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRoot(tt.in)
			if tt.err == "" && (err != nil || got != tt.want) {
				t.Errorf("ParseRoot(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("ParseRoot(%q) = %v, %v, want an error with %q", tt.in, got, err, tt.err)
			}
		})
	}
}

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
		{"nothing like it", "zzzzzzzz", nil},
		{"listed still, and gone", "florida.csv", nil},
		{"too long", strings.Repeat("florida.csv", 100), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := closest(tt.asked, names, 3); !slices.Equal(got, tt.want) {
				t.Errorf("closest(%q) = %q, want %q", tt.asked, got, tt.want)
			}
		})
	}
}

func TestClosestAmongMany(t *testing.T) {
	var names []string
	for i := range 3 * maxCompared {
		names = append(names, fmt.Sprintf("%06d.csv", i))
	}
	for _, asked := range []string{"000000.csw", "015000.csw", "029999.csw"} {
		want := strings.Replace(asked, "csw", "csv", 1)
		if got := closest(asked, names, 3); len(got) != 3 || got[0] != want {
			t.Errorf("closest(%q) = %q, want %q first", asked, got, want)
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
	if got := nearest("heigth", []string{"id", "height", "weight", "geometry"}); got != "height" {
		t.Errorf(`nearest("heigth") = %q, want height`, got)
	}
}
