package source

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// packedMember is a member of an archive that a test makes.
type packedMember struct {
	name   string
	method uint16
	text   string
}

func zipped(t testing.TB, members ...packedMember) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		to, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err == nil && !strings.HasSuffix(m.name, "/") {
			_, err = to.Write([]byte(m.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExtract(t *testing.T) {
	long := string(prose(300_000))
	f := packed(t, "parcels.zip", zipped(
		t,
		packedMember{"readme.txt", zip.Deflate, "text"},
		packedMember{"gis/", zip.Store, ""},
		packedMember{"gis/parcels.shp", zip.Deflate, long},
		packedMember{"gis/parcels.DBF", zip.Store, "attributes"},
		packedMember{"gis/parcels.prj", zip.Deflate, "system"},
		packedMember{"gis/parcels.cpg", zip.Store, ""},
		packedMember{"parcels.shx", zip.Store, "in another folder"},
		packedMember{"gis/.parcels.shx", zip.Store, "hidden"},
		packedMember{"__MACOSX/gis/parcels.shx", zip.Store, "of a program"},
		packedMember{"../gis/parcels.shx", zip.Store, "out"},
		packedMember{"/gis/parcels.shx", zip.Store, "out"},
	))
	names, err := f.Members()
	if want := []string{
		"readme.txt", "gis/parcels.shp", "gis/parcels.DBF", "gis/parcels.prj", "gis/parcels.cpg",
		"parcels.shx",
	}; err != nil || !slices.Equal(names, want) {
		t.Errorf("members %q, %v, want %q", names, err, want)
	}
	for workers := range 4 {
		dir := t.TempDir()
		main, err := f.Extract(t.Context(), "gis/parcels.shp", []string{".dbf", ".shx", ".prj", ".cpg"},
			UnpackOptions{Dir: dir, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, main); string(got) != long || main.Name != "folder/parcels.zip/gis/parcels.shp" {
			t.Errorf("%s has %d bytes, want %d", main.Name, len(got), len(long))
		}
		for ext, want := range map[string]string{".dbf": "attributes", ".prj": "system", ".cpg": "", ".shx": "(none)"} {
			got, name := "(none)", ""
			s, err := main.Sibling(ext)
			if s != nil {
				got, name = string(contentOf(t, s)), s.Name
			}
			if err != nil || got != want || s != nil && !strings.HasPrefix(name, "folder/parcels.zip/gis/parcels.") {
				t.Errorf("sibling %s is %s, %q, %v, want %q", ext, name, got, err, want)
			}
		}
		if err := main.Unchanged(); err != nil {
			t.Error(err)
		}
		wantNothingLeft(t, dir)
		if err := main.Close(); err != nil {
			t.Error(err)
		}
		if _, err := main.Head(1); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a closed one is read: %v", err)
		}
	}
	stored, err := f.Extract(t.Context(), "gis/parcels.DBF", []string{".cpg"},
		UnpackOptions{Dir: "/nowhere at all", MaxBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, stored); string(got) != "attributes" {
		t.Errorf("stored: %q", got)
	}
	if err := stored.Close(); err != nil {
		t.Error(err)
	}
}

// Each case changes an archive of a.shp (deflated) and a.dbf (stored).
func TestExtractMalformed(t *testing.T) {
	const text = "some text, some text, some text, some text"
	// header gives the n-th header that begins with PK and two bytes more.
	header := func(b []byte, kind string, n int) []byte {
		at := 0
		for ; n >= 0; n-- {
			at += bytes.Index(b[at:], []byte("PK"+kind)) + 1
		}
		return b[at-1:]
	}
	const local, directory = "\x03\x04", "\x01\x02"
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	for _, tt := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"no archive", func([]byte) []byte { return []byte("text") }, "not a zip archive"},
		{"empty", func([]byte) []byte { return nil }, "not a zip archive"},
		{"cut", func(b []byte) []byte { return b[:len(b)-30] }, "not a zip archive"},
		{"encrypted", func(b []byte) []byte {
			put16(header(b, directory, 0)[8:], 1)
			return b
		}, `member "a.shp": is encrypted`},
		{"unknown method", func(b []byte) []byte {
			put16(header(b, directory, 0)[10:], 14)
			return b
		}, `member "a.shp": is packed by method 14`},
		{"wrong checksum", func(b []byte) []byte {
			put32(header(b, directory, 0)[16:], 7)
			return b
		}, `member "a.shp": does not have the checksum`},
		{"wrong checksum of a stored one", func(b []byte) []byte {
			put32(header(b, directory, 1)[16:], 7)
			return b
		}, `member "a.dbf": does not have the checksum`},
		{"more bytes than it says", func(b []byte) []byte {
			put32(header(b, directory, 0)[24:], 41)
			return b
		}, `member "a.shp": has 42 bytes or more, not the 41`},
		{"fewer bytes than it says", func(b []byte) []byte {
			put32(header(b, directory, 0)[24:], 43)
			return b
		}, `member "a.shp": has 42 bytes or more, not the 43`},
		{"a bogus size", func(b []byte) []byte {
			put32(header(b, directory, 0)[24:], 1<<31)
			return b
		}, `more than DEFLATE can`},
		{"beyond the end", func(b []byte) []byte {
			put32(header(b, directory, 1)[20:], 1<<30)
			return b
		}, `member "a.dbf": its 1073741824 bytes go beyond`},
		{"two sizes of a stored one", func(b []byte) []byte {
			put32(header(b, directory, 1)[24:], 5)
			return b
		}, `member "a.dbf": is stored, and has`},
		{"overlap", func(b []byte) []byte { put32(header(b, directory, 1)[42:], 0); return b }, `overlaps with member`},
		{"no header there", func(b []byte) []byte {
			put32(header(b, directory, 0)[42:], 9)
			return b
		}, `its header is not where the directory at the end says`},
		{"a link", func(b []byte) []byte {
			put16(header(b, directory, 0)[4:], 3<<8)
			put32(header(b, directory, 0)[38:], 0o120777<<16)
			return b
		}, `member "a.shp": is a link`},
		{"corrupt data", func(b []byte) []byte {
			header(b, local, 0)[30+len("a.shp")] |= 7
			return b
		}, `member "a.shp": corrupt DEFLATE data`},
		{"two of a name", func(b []byte) []byte {
			copy(header(b, directory, 1)[46:], "a.shp")
			return b
		}, `two members have this name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.change(zipped(t, packedMember{"a.shp", zip.Deflate, text}, packedMember{"a.dbf", zip.Store, text}))
			f := packed(t, "a.zip", b)
			dir := t.TempDir()
			for _, workers := range []int{1, 3} {
				main, err := f.Extract(t.Context(), "a.shp", []string{".dbf"}, UnpackOptions{
					Dir:     dir,
					Workers: workers,
				})
				var bad *PackError
				if !errors.As(err, &bad) || main != nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, error %v, want *PackError with %q", main, err, tt.want)
				}
			}
			wantNothingLeft(t, dir)
		})
	}
}

func TestExtractLimits(t *testing.T) {
	zeros := string(make([]byte, 1<<20))
	f := packed(t, "a.zip", zipped(t, packedMember{"a.shp", zip.Deflate, zeros},
		packedMember{"a.dbf", zip.Deflate, zeros}))
	for _, max := range []int64{2<<20 - 1, 2 << 20} {
		var room *RoomError
		main, err := f.Extract(t.Context(), "a.shp", []string{".dbf"}, UnpackOptions{Dir: t.TempDir(), MaxBytes: max})
		if refused := max < 2<<20; errors.As(err, &room) != refused || (err != nil) != refused {
			t.Errorf("at most %d bytes: %v", max, err)
		}
		if main != nil {
			_ = main.Close()
		}
	}
	if _, err := f.Extract(t.Context(), "b.shp", nil, UnpackOptions{}); err == nil ||
		!strings.Contains(err.Error(), `no member "b.shp"`) {
		t.Errorf("error %v", err)
	}
}

func TestDirectoryThatIsTooLong(t *testing.T) {
	f := packed(t, "a.zip", zipped(t, packedMember{strings.Repeat("n", 10_000), zip.Store, ""},
		packedMember{strings.Repeat("m", 10_000), zip.Store, ""}))
	if files, err := f.directory(maxDirectoryBytes); err != nil || len(files) != 2 {
		t.Errorf("%d members, %v", len(files), err)
	}
	if files, err := f.directory(15_000); err == nil || !strings.Contains(err.Error(),
		"the directory of the archive has more than 15000 bytes") {
		t.Errorf("%d members, error %v", len(files), err)
	}
}

// Whatever an archive holds, it is refused or read, and nothing is left.
func FuzzExtract(f *testing.F) {
	f.Add(zipped(f, packedMember{"a.shp", zip.Deflate, "some text, some text"},
		packedMember{"a.dbf", zip.Store, "text"}), uint8(2))
	f.Add(gzipped(f, []byte("text"), []byte("text")), uint8(0))
	f.Add(bgzipped(f, []byte("some text, some text"), 7), uint8(0))
	f.Add(zstandard(f, []byte("text")), uint8(1))
	f.Fuzz(func(t *testing.T, content []byte, kind uint8) {
		src := packed(t, []string{"a.gz", "a.zst", "a.zip"}[kind%3], content)
		dir := t.TempDir()
		u := UnpackOptions{Dir: dir, MaxBytes: 1 << 20, Workers: 2}
		var inner *File
		var err error
		if kind%3 < 2 {
			inner, err = src.Unpack(t.Context(), u)
		} else {
			inner, err = src.Extract(t.Context(), "a.shp", []string{".dbf"}, u)
		}
		var bad *PackError
		var room *RoomError
		switch {
		case err == nil:
			_ = contentOf(t, inner)
			if err := inner.Close(); err != nil {
				t.Error(err)
			}
		case !errors.As(err, &bad) && !errors.As(err, &room):
			t.Errorf("error %v", err)
		case bad != nil && (bad.Offset < 0 || bad.Offset > src.Size):
			t.Errorf("%v: the file has %d bytes", bad, src.Size)
		}
		wantNothingLeft(t, dir)
	})
}
