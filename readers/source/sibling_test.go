package source

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// opens gives a file by both ways of opening, with its siblings in its identity and without.
func opens(t *testing.T, dir, base string, siblings ...string) map[string]*File {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	files := map[string]*File{}
	for name, with := range map[string][]string{"": nil, " with siblings": siblings} {
		by, err := Open("folder/"+base, filepath.Join(dir, base), with...)
		if err != nil {
			t.Fatal(err)
		}
		in, err := OpenIn(root, "folder/"+base, base, with...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = by.Close(), in.Close() })
		files["Open"+name], files["OpenIn"+name] = by, in
	}
	return files
}

func TestSibling(t *testing.T) {
	for _, tt := range []struct {
		name       string
		beside     []string // each holds its own name
		base       string
		extensions []string
		want       string
	}{
		{"lower case", []string{"roads.dbf"}, "roads.shp", []string{".dbf"}, "roads.dbf"},
		{"upper case", []string{"roads.DBF"}, "roads.shp", []string{".dbf"}, "roads.DBF"},
		{"mixed case", []string{"roads.dBf"}, "roads.SHP", []string{".DBF"}, "roads.dBf"},
		{"both cases", []string{"roads.DBF", "roads.dbf"}, "roads.shp", []string{".dbf"}, "roads.dbf"},
		{
			"first extension wins",
			[]string{"roads.dbt", "roads.fpt"},
			"roads.dbf",
			[]string{".fpt", ".dbt"},
			"roads.fpt",
		},
		{"second extension", []string{"roads.dbt"}, "roads.dbf", []string{".fpt", ".dbt"}, "roads.dbt"},
		{"stem with dots", []string{"roads.dbf", "roads.v1.dbf"}, "roads.v1.shp", []string{".dbf"}, "roads.v1.dbf"},
		{"another stem", []string{"Roads.dbf", "roads2.dbf", ".dbf"}, "roads.shp", []string{".dbf"}, ""},
		{"none", nil, "roads.shp", []string{".dbf", ".cpg"}, ""},
		{"the file itself", nil, "roads.shp", []string{".shp"}, ""},
		{"packed", []string{"roads.xsd", "roads.gml.xsd"}, "roads.gml.GZ", []string{".xsd"}, "roads.xsd"},
		{"of an archive", []string{"roads.xsd"}, "roads.zip", []string{".xsd"}, ""},
		{"no extension", []string{"roads.dbf"}, "roads", []string{".dbf"}, "roads.dbf"},
		{"not asked for", []string{"roads.dbf"}, "roads.shp", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range append(tt.beside, tt.base) {
				write(t, filepath.Join(dir, name), name)
			}
			for how, f := range opens(t, dir, tt.base, tt.extensions...) {
				s, err := f.Sibling(tt.extensions...)
				if err != nil || (s == nil) != (tt.want == "") {
					t.Fatalf("%s: %v, %v, want %q", how, s, err, tt.want)
				}
				if s != nil {
					head, err := s.Head(100)
					if string(head) != tt.want || err != nil || s.Name != "folder/"+tt.want ||
						f.BytesRead() != int64(len(tt.want)) {
						t.Errorf("%s: %s holds %q, %v, want %q; %d bytes read", how, s.Name, head, err,
							tt.want, f.BytesRead())
					}
					if again, err := f.Sibling(tt.extensions...); again != s || err != nil {
						t.Errorf("%s: another file the second time, %v", how, err)
					}
				}
				if err := f.Unchanged(); err != nil {
					t.Errorf("%s: %v", how, err)
				}
			}
		})
	}
}

func TestSiblingOfASibling(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.shp", "a.dbf", "a.cpg"} {
		write(t, filepath.Join(dir, name), name)
	}
	for how, f := range opens(t, dir, "a.shp", ".dbf", ".cpg") {
		dbf, err := f.Sibling(".dbf")
		if err != nil {
			t.Fatal(err)
		}
		cpg, err := dbf.Sibling(".cpg")
		if head, _ := cpg.Head(9); err != nil || string(head) != "a.cpg" {
			t.Errorf("%s: %q, %v", how, head, err)
		}
		if err := dbf.Close(); err != nil {
			t.Error(err)
		}
		if _, err := dbf.Head(1); err != nil {
			t.Errorf("%s: a sibling is open as long as its file: %v", how, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		for _, s := range []*File{f, dbf, cpg} {
			if _, err := s.Head(1); !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s: %s is open: %v", how, s.Name, err)
			}
		}
	}
}

func TestUnchangedLooksAtSiblings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		asked  []string // without which nothing but an identity with siblings tells
	}{
		{"written", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a.dbf"), "longer text")
		}, []string{".dbf"}},
		{"removed", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "a.dbf")); err != nil {
				t.Fatal(err)
			}
		}, []string{".dbf"}},
		{"appeared", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a.CPG"), "UTF-8")
		}, []string{".cpg"}},
		{"replaced by a link out of the root", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "a.dbf")
			write(t, dir+"-outside", "text")
			if err := errors.Join(os.Remove(path), os.Symlink(dir+"-outside", path)); err != nil {
				t.Fatal(err)
			}
		}, []string{".dbf"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "root")
			write(t, filepath.Join(dir, "a.shp"), "text")
			write(t, filepath.Join(dir, "a.dbf"), "text")
			never, asked := opens(t, dir, "a.shp", ".dbf", ".cpg"), opens(t, dir, "a.shp", ".dbf", ".cpg")
			for _, f := range asked {
				if _, err := f.Sibling(tt.asked...); err != nil {
					t.Fatal(err)
				}
			}
			tt.change(t, dir)
			for how, f := range asked {
				if err := f.Unchanged(); !errors.Is(err, ErrChanged) {
					t.Errorf("%s: error %v, want one that wraps ErrChanged", how, err)
				}
			}
			for how, f := range never {
				_, with := f.seen[".cpg"]
				if err := f.Unchanged(); errors.Is(err, ErrChanged) != with {
					t.Errorf("%s, not asked for: error %v", how, err)
				}
			}
		})
	}
}

func TestSiblingThatChangedSinceOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.shp"), "text")
	write(t, filepath.Join(dir, "a.dbf"), "text")
	f := opens(t, dir, "a.shp", ".dbf")["OpenIn with siblings"]
	write(t, filepath.Join(dir, "a.dbf"), "longer text")
	if s, err := f.Sibling(".dbf"); !errors.Is(err, ErrChanged) || s != nil {
		t.Errorf("%v, error %v, want one that wraps ErrChanged", s, err)
	}
}

// TestSiblingThatIsGone replaces a sibling by what can't be opened.
func TestSiblingThatIsGone(t *testing.T) {
	for name, swap := range map[string]func(path string) error{
		"removed": os.Remove,
		"loop":    func(path string) error { return errors.Join(os.Remove(path), os.Symlink("a.dbf", path)) },
		"out":     func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/dev/null", path)) },
		"folder":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.shp"), "text")
		write(t, filepath.Join(dir, "a.dbf"), "text")
		f := opens(t, dir, "a.shp", ".dbf")["OpenIn with siblings"]
		if err := swap(filepath.Join(dir, "a.dbf")); err != nil {
			t.Fatal(err)
		}
		if s, err := f.Sibling(".dbf"); !errors.Is(err, ErrChanged) || s != nil {
			t.Errorf("%s: %v, error %v, want one that wraps ErrChanged", name, s, err)
		}
	}
}

func TestIdentityWithSiblings(t *testing.T) {
	id := Identity{Size: 1}
	a, b := Sibling{"a.dbf", Identity{Size: 2}}, Sibling{"a.shx", Identity{Size: 3}}
	if id.With(nil) != id || id.With([]Sibling{a}).With(nil) != id {
		t.Error("without siblings it is another one")
	}
	if id.With([]Sibling{a, b}) != id.With([]Sibling{b, a}) {
		t.Error("the order counts")
	}
	versions := []string{}
	for _, siblings := range [][]Sibling{
		nil,
		{a},
		{b},
		{a, b},
		{{"a.dbf", Identity{Size: 4}}},
		{{"a.DBF", a.Identity}},
	} {
		versions = append(versions, id.With(siblings).Version())
	}
	slices.Sort(versions)
	if n := len(slices.Compact(versions)); n != 6 {
		t.Errorf("%d versions of 6 identities", n)
	}
}

func TestSpellings(t *testing.T) {
	want := []string{"a.q1", "a.Q1"}
	if got := Spellings("a.shp", ".Q1"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got := Spellings("a.b.shp", ".dbf")
	if len(got) != 8 || got[0] != "a.b.dbf" || got[7] != "a.b.DBF" {
		t.Errorf("%q", got)
	}
}

// TestSiblingsOfTheWholeName is about extensions with a hyphen: SQLite appends "-wal" to any name.
func TestSiblingsOfTheWholeName(t *testing.T) {
	for name, want := range map[string][]string{
		"a.gpkg": {"a.gpkg-wal"}, "a.b.GPKG": {"a.b.GPKG-wal"}, "a.shp": nil, "a": nil, "a.gpkg.zip": nil,
	} {
		if got := Spellings(name, ".gpkg-wal"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for _, other := range want {
			if !IsSibling(name, other, []string{".gpkg-wal"}) || IsSibling(name, other, []string{".gpkg-shm"}) {
				t.Errorf("%s of %s", other, name)
			}
		}
	}
	for _, other := range []string{"a.GPKG-wal", "b.gpkg-wal"} {
		if IsSibling("a.gpkg", other, []string{".gpkg-wal"}) {
			t.Errorf("%s of a.gpkg", other)
		}
	}
}
