package tree

import (
	"os"
	"path/filepath"
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
		strings.Repeat("a/", MaxNameBytes) + "b",
	} {
		if rel, ok := (Root{}).Rel(name); ok {
			t.Errorf("rel(%q) = %q, want it refused", name, rel)
		}
	}
	r := Root{Alias: "x"}
	for _, name := range []string{"a", "x", "x/", "xa", "y/a", "x/../a"} {
		if rel, ok := r.Rel(name); ok {
			t.Errorf("alias x: rel(%q) = %q, want it refused", name, rel)
		}
	}
	if rel, ok := r.Rel("x/a%23.csv"); rel != "a#.csv" || !ok {
		t.Errorf("alias x: rel(%q) = %q, %v, want a#.csv", "x/a%23.csv", rel, ok)
	}
}

// A root of one file has no other name, and one whose files are found by their names has hidden ones.
func TestRelOfPartOfAFolder(t *testing.T) {
	for _, tt := range []struct {
		root      Root
		name, rel string // rel "": refused
	}{
		{Root{Only: "a#.csv"}, "a%23.csv", "a#.csv"},
		{Root{Only: "a.csv"}, "b.csv", ""},
		{Root{Only: "a.csv"}, "x/a.csv", ""},
		{Root{Alias: "x", Only: "a.csv"}, "x/a.csv", "a.csv"},
		{Root{Alias: "x", Only: "a.csv"}, "a.csv", ""},
		{Root{NamedOnly: true, Dir: "/"}, "/srv/.a/.b.csv", "srv/.a/.b.csv"},
		{Root{NamedOnly: true, Dir: "/"}, "srv/a.csv", ""},
		{Root{NamedOnly: true, Dir: "/"}, "/srv/../a.csv", ""},
		{Root{NamedOnly: true, Dir: "/"}, "//a.csv", ""},
		{Root{NamedOnly: true, Dir: "/"}, "/./a.csv", ""},
		{Root{NamedOnly: true, Dir: "/"}, "/", ""},
		{Root{NamedOnly: true, Dir: "/srv"}, "a/.b.csv", "a/.b.csv"},
		{Root{NamedOnly: true, Dir: "/srv"}, "/srv/a.csv", ""},
	} {
		rel, ok := tt.root.Rel(tt.name)
		if ok != (tt.rel != "") || ok && rel != tt.rel {
			t.Errorf("%+v: Rel(%q) = %q, %v, want %q", tt.root, tt.name, rel, ok, tt.rel)
		}
		if ok && tt.root.name(rel) != tt.name {
			t.Errorf("%+v: name(%q) = %q, want %q", tt.root, rel, tt.root.name(rel), tt.name)
		}
	}
}

func TestParseRoot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "roads.geojson")
	odd := filepath.Join(dir, "year=2024")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, in string
		want     Root
		err      string // a part of it
	}{
		{"folder", dir, Root{Alias: "", Dir: dir}, ""},
		{"alias", "a-1_B.c=" + dir, Root{Alias: "a-1_B.c", Dir: dir}, ""},
		{"equals in the folder", odd, Root{Alias: "", Dir: odd}, ""},
		{"alias and equals", "x=" + odd, Root{Alias: "x", Dir: odd}, ""},
		{"URL", "s3://bucket/a?region=x", Root{URL: "s3://bucket/a?region=x"}, ""},
		{"alias of a URL", "x=https://host/a/", Root{Alias: "x", URL: "https://host/a/"}, ""},
		{"file", file, Root{Dir: dir, Only: "roads.geojson"}, ""},
		{"file with alias", "x=" + file, Root{Alias: "x", Dir: dir, Only: "roads.geojson"}, ""},
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
