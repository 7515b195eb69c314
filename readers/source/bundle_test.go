package source

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var packs = Bundle{Extension: ".pack", Main: "main.bin", Members: []string{".bin", ".idx"}}

// newPack makes a bundle whose files hold their names.
func newPack(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.bin", "1.idx", "2.idx", "lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBundle(t *testing.T) {
	dir := t.TempDir()
	newPack(t, filepath.Join(dir, "x.pack"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	by, err := OpenBundle("x.pack", filepath.Join(dir, "x.pack"), packs)
	if err != nil {
		t.Fatal(err)
	}
	in, err := OpenBundleIn(root, "x.pack", "x.pack", packs)
	if err != nil {
		t.Fatal(err)
	}
	id, _, ok, err := BundleIn(root, "x.pack", packs)
	if err != nil || !ok || id != by.Identity || id != in.Identity || id.Size != int64(len("main.bin1.idx2.idx")) {
		t.Errorf("identities %v, %v, %v, %v", id, by.Identity, in.Identity, err)
	}
	for _, f := range []*File{by, in} {
		checkPack(t, f)
		if err := f.Unchanged(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenBundle("x.pack", dir, packs); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder without the main file: %v", err)
	}
	if IsBundle(dir, packs) || !IsBundle(filepath.Join(dir, "x.pack"), packs) {
		t.Error("IsBundle")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.pack", "2.idx"), []byte("another text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*File{by, in} {
		if err := f.Unchanged(); !errors.Is(err, ErrChanged) {
			t.Errorf("a member has changed: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkPack looks at the files of a bundle.
func checkPack(t *testing.T, f *File) {
	t.Helper()
	if want := []string{"1.idx", "2.idx", "main.bin"}; !slices.Equal(f.MemberNames(), want) {
		t.Errorf("members %v", f.MemberNames())
	}
	for _, name := range f.MemberNames() {
		m, err := f.Member(name)
		if err != nil || m == nil {
			t.Fatal(name, m, err)
		}
		if again, _ := f.Member(name); again != m {
			t.Errorf("%s is another file each time", name)
		}
		if text, err := m.Head(100); err != nil || string(text) != name {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"lock", "3.idx"} {
		if m, err := f.Member(name); m != nil || err != nil {
			t.Errorf("%s is a member: %v, %v", name, m, err)
		}
	}
	if s, err := f.Sibling(".idx"); s != nil || err != nil {
		t.Errorf("a bundle has the sibling %v, %v", s, err)
	}
	if n := f.AllBytes(); n != int64(len("main.bin1.idx2.idx")) {
		t.Errorf("%d bytes", n)
	}
}

func TestBundleInArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zip")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for _, name := range []string{"main.bin", "1.idx", "2.idx", "lock"} {
		w, err := z.Create("deep/x.pack/" + name)
		if err == nil {
			_, err = w.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := Open("x.zip", path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := f.ExtractBundle(t.Context(), "deep/x.pack/main.bin", packs, UnpackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if content.Name != "x.zip/deep/x.pack" {
		t.Errorf("the name is %q", content.Name)
	}
	checkPack(t, content)
	if err := content.Unchanged(); err != nil {
		t.Error(err)
	}
}
