package source

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sweepSeed is that of the first packed file; the others follow.
const sweepSeed = 20261122

// A packed file of random bytes, of which some were changed, gives what another decoder gives, or
// an error with a place in it: the same for any number of workers, and nothing stays open or is
// left behind.
func TestSweep(t *testing.T) {
	files := 500
	if testing.Short() {
		files = 200
	}
	dir := t.TempDir()
	for n := range files {
		seed := uint64(sweepSeed + n)
		r := rand.New(rand.NewPCG(seed, 0))
		name, text, want := sweepFile(t, r, prose(1+r.IntN(5000)))
		at := filepath.Join(dir, "file")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
		first := sweepRead(t, name, at, 1)
		for _, workers := range []int{2, 4} {
			if got := sweepRead(t, name, at, workers); got != first {
				t.Errorf("%d workers\ngot:  %.300s\nwant: %.300s", workers, got, first)
			}
		}
		if ok := first[:4] == "text"; ok != (want != nil) || ok && first != "text "+string(want) {
			t.Errorf("got: %.300s\nthe other decoder: %v, %d bytes", first, want != nil, len(want))
		}
		if t.Failed() {
			t.Fatalf("file %d, %s: seed %d", n, name, seed)
		}
	}
}

// sweepFile packs a content, changes a few bytes of the file or none, and says what another decoder
// makes of it; nil: an error.
func sweepFile(t *testing.T, r *rand.Rand, content []byte) (name string, text, want []byte) {
	half := content[:r.IntN(len(content))]
	switch r.IntN(4) {
	case 0:
		name, text = "a.csv.gz", gzipped(t, half, content[len(half):])
	case 1:
		name, text = "a.csv.gz", bgzipped(t, content, 300+r.IntN(2000))
	case 2:
		name, text = "a.csv.zst", zstandard(t, half, content[len(half):])
	default:
		method := []uint16{zip.Store, zip.Deflate}
		name, text = "a.zip", zipped(
			t,
			packedMember{"a.DBF", method[r.IntN(2)], string(half)},
			packedMember{"a.shp", method[r.IntN(2)], string(content)},
			packedMember{"b.shp", method[r.IntN(2)], "another"},
		)
	}
	text = slices.Clone(text)
	for range r.IntN(3) {
		i, k := r.IntN(len(text)), r.IntN(len(text))
		if name == "a.zip" && r.IntN(2) == 0 { // its directory
			i = len(text) - 1 - r.IntN(min(len(text), 200))
		}
		switch r.IntN(5) {
		case 0, 1:
			text[i] ^= 1 << r.IntN(8)
		case 2:
			text = text[:max(1, i)]
		case 3:
			text = slices.Insert(text, i, byte(r.IntN(256)))
		default:
			copy(text[i:], text[k:min(len(text), k+20)])
		}
	}
	want, err := sweepOracle(name, text)
	if err != nil {
		want = nil
	} else if want == nil {
		want = []byte{}
	}
	return name, text, want
}

func sweepOracle(name string, text []byte) ([]byte, error) {
	switch p, _ := PackingOf(name); p {
	case Gzip:
		in, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(in)
	case Zstd:
		in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return in.DecodeAll(text, nil)
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	var all []byte
	if !slices.ContainsFunc(z.File, func(m *zip.File) bool { return m.Name == "a.shp" }) {
		return nil, fs.ErrNotExist
	}
	for _, base := range []string{"a.shp", "a.DBF"} {
		for _, m := range z.File {
			// the stem is told by case
			if m.Name != base && (base == "a.shp" || !strings.HasPrefix(m.Name, "a.") ||
				!strings.EqualFold(m.Name, base)) {
				continue
			}
			in, err := m.Open()
			if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(in)
			if errors.Is(err, zip.ErrChecksum) && crc32.ChecksumIEEE(content) == m.CRC32 &&
				uint64(len(content)) == m.UncompressedSize64 {
				err = nil // what is behind the content says it again, and is not read
			}
			if err != nil {
				return nil, err
			}
			all = append(all, content...)
		}
	}
	return all, nil
}

// sweepRead is what a packed file holds, or the error.
func sweepRead(t *testing.T, name, at string, workers int) string {
	f, err := Open(name, at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u := UnpackOptions{Dir: filepath.Dir(at), Workers: workers, MaxBytes: 1 << 20}
	var content *File
	if p, _ := PackingOf(name); p == Zip {
		if _, err = f.Members(); err == nil {
			content, err = f.Extract(t.Context(), "a.shp", []string{".dbf"}, u)
		}
	} else {
		content, err = f.Unpack(t.Context(), u)
	}
	if left, _ := os.ReadDir(filepath.Dir(at)); len(left) != 1 {
		t.Errorf("%d files", len(left))
	}
	var bad *PackError
	if err != nil {
		if room := new(RoomError); !errors.As(err, &room) && (!errors.As(err, &bad) || bad.Offset < 0 ||
			bad.Offset > f.Size) {
			t.Errorf("%v: %T, of %d bytes", err, err, f.Size)
		}
		return fmt.Sprintf("error %v", err)
	}
	defer content.Close()
	text, err := content.Head(int(content.Size))
	if err != nil {
		t.Fatal(err)
	}
	s, err := content.Sibling(".dbf")
	if err != nil {
		t.Fatal(err)
	}
	if s != nil {
		attributes, err := s.Head(int(s.Size))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, attributes...)
	}
	return "text " + string(text)
}
