package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// packed is a file of a name and content.
func packed(t testing.TB, name string, content []byte) *File {
	t.Helper()
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open("folder/"+name, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// words that compress about as text does.
func prose(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "{\"type\":\"Feature\",\"coordinates\":[%f,%f]}\n", r.Float64(), r.Float64())
	}
	return b.Bytes()[:n]
}

func gzipped(t testing.TB, members ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range members {
		w := gzip.NewWriter(&b)
		_, err := w.Write(m)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// bgzipped is a blocked gzip file, as bgzip writes it: blocks of at most n bytes, and an
// empty one.
func bgzipped(t testing.TB, content []byte, size int) []byte {
	t.Helper()
	var out []byte
	for {
		block := content[:min(size, len(content))]
		content = content[len(block):]
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Write(block); err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0)
		out = binary.LittleEndian.AppendUint16(out, uint16(b.Len()+blockHead+memberTail-1))
		out = append(out, b.Bytes()...)
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(block))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(block)))
		if len(block) == 0 {
			return out
		}
	}
}

func zstandard(t testing.TB, frames ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, frame := range frames {
		w, err := zstd.NewWriter(&b, zstd.WithZeroFrames(true))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Write(frame); err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func contentOf(t testing.TB, f *File) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantNothingLeft says that no temporary file has a name.
func wantNothingLeft(t testing.TB, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestUnpack(t *testing.T) {
	text := prose(300_000)
	noise := random(150_000)
	misled := bgzipped(t, text, 65280)
	misled[17] ^= 0x40 // a length that gzip itself does not look at
	for _, tt := range []struct {
		name, file string
		packed     []byte
		want       []byte
	}{
		{"gzip", "a.geojson.gz", gzipped(t, text), text},
		{"gzip of nothing", "a.csv.gz", gzipped(t, nil), nil},
		{"gzip of noise", "a.csv.GZ", gzipped(t, noise), noise},
		{"several members", "a.csv.gz", gzipped(t, text[:1000], nil, text[1000:]), text},
		{"blocked", "a.csv.gz", bgzipped(t, text, 65280), text},
		{"blocked, noise", "a.csv.gz", bgzipped(t, noise, 40000), noise},
		{"small blocks", "a.csv.gz", bgzipped(t, text[:20_000], 99), text[:20_000]},
		{"blocked nothing", "a.csv.gz", bgzipped(t, nil, 1), nil},
		{"blocks and another member", "a.csv.gz", append(bgzipped(t, text[:200_000], 65280),
			gzipped(t, text[200_000:])...), text},
		{"a block with a wrong length", "a.csv.gz", misled, text},
		{"zstd", "a.csv.zst", zstandard(t, text), text},
		{"zstd of nothing", "a.csv.zst", zstandard(t, nil), nil},
		{"zstd, several frames", "a.csv.ZST", zstandard(t, text[:5], nil, text[5:]), text},
		{"zstd, a frame to be skipped", "a.csv.zst", append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3},
			zstandard(t, text)...), text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := packed(t, tt.file, tt.packed)
			for workers := range 4 {
				dir := t.TempDir()
				u, err := f.Unpack(t.Context(), UnpackOptions{Dir: dir, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if got := contentOf(t, u); !bytes.Equal(got, tt.want) || u.Size != int64(len(tt.want)) {
					t.Errorf("%d workers: %d bytes, want %d", workers, len(got), len(tt.want))
				}
				inner := strings.TrimSuffix(tt.file, filepath.Ext(tt.file))
				if u.Name != f.Name+"/"+inner || !u.Packed() || f.Packed() || u.Unchanged() != nil {
					t.Errorf("%s, packed %v, %v", u.Name, u.Packed(), u.Unchanged())
				}
				if s, err := u.Sibling(".dbf"); s != nil || err != nil {
					t.Errorf("sibling %v, %v", s, err)
				}
				wantNothingLeft(t, dir)
				if err := u.Close(); err != nil {
					t.Error(err)
				}
			}
			for _, n := range []int{0, 1, 4096, len(tt.want), len(tt.want) + 1} {
				head, err := f.UnpackedHead(n)
				if err != nil || !bytes.Equal(head, tt.want[:min(n, len(tt.want))]) {
					t.Errorf("head of %d: %d bytes, %v", n, len(head), err)
				}
			}
		})
	}
}

func TestSiblingOfAPackedFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "roads.gml.gz"), string(gzipped(t, []byte("text"))))
	write(t, filepath.Join(dir, "roads.xsd"), "schema")
	for how, f := range opens(t, dir, "roads.gml.gz", ".xsd") {
		content, err := f.Unpack(t.Context(), UnpackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		xsd, err := content.Sibling(".xsd")
		if err != nil || xsd == nil || string(contentOf(t, xsd)) != "schema" || xsd.Name != "folder/roads.xsd" {
			t.Errorf("%s: %v, %v", how, xsd, err)
		}
		if none, err := content.Sibling(".dbf"); none != nil || err != nil {
			t.Errorf("%s: %v, %v", how, none, err)
		}
		write(t, filepath.Join(dir, "roads.xsd"), "another schema")
		if err := content.Unchanged(); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: error %v, want one that wraps ErrChanged", how, err)
		}
		if err := content.Close(); err != nil {
			t.Error(err)
		}
		break // the others were opened before the change
	}
}

func TestUnpackMalformed(t *testing.T) {
	text := prose(200_000)
	gz, bgz, zst := gzipped(t, text), bgzipped(t, text, 65280), zstandard(t, text)
	flipped := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0x40
		return b
	}
	for _, tt := range []struct {
		name, file string
		packed     []byte
		from, to   int // bounds of the offset
		want       string
	}{
		{"empty gzip", "a.gz", nil, 0, 0, "cut off"},
		{"no gzip", "a.gz", text, 0, 20, "1f 8b"},
		{"cut gzip", "a.gz", gz[:len(gz)/2], len(gz) / 2, len(gz) / 2, "cut off"},
		{"cut in the head", "a.gz", gz[:5], 5, 5, "cut off"},
		{"cut in the checksum", "a.gz", gz[:len(gz)-3], len(gz) - 3, len(gz) - 3, "cut off"},
		{"checksum", "a.gz", flipped(gz, len(gz)-6), len(gz), len(gz), "checksum"},
		{"length", "a.gz", flipped(gz, len(gz)-2), len(gz), len(gz), "checksum and length"},
		{"trailing bytes", "a.gz", append(bytes.Clone(gz), "trailing bytes"...), len(gz), len(gz) + 14, "1f 8b"},
		{"flip", "a.gz", flipped(gz, len(gz)/2), 1, len(gz), ""},
		{"flip in a block", "a.gz", flipped(bgz, len(bgz)/2), 1, len(bgz), ""},
		{"cut block", "a.gz", bgz[:len(bgz)-40], len(bgz) - 40, len(bgz) - 40, "cut off"},
		{"empty zstd", "a.zst", nil, 0, 0, "cut off"},
		{"no zstd", "a.zst", text, 0, 65536, "28 b5"},
		{"cut zstd", "a.zst", zst[:len(zst)-30], 1, len(zst) - 30, "cut off"},
		{"flip in zstd", "a.zst", flipped(zst, len(zst)/2), 1, len(zst), ""},
		{"trailing bytes of zstd", "a.zst", append(bytes.Clone(zst), "trailing bytes"...), 1, len(zst) + 14, "28 b5"},
		{"window", "a.zst", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0}, 0, 9, "window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := packed(t, tt.file, tt.packed)
			first := ""
			for workers := range 4 {
				dir := t.TempDir()
				u, err := f.Unpack(t.Context(), UnpackOptions{Dir: dir, Workers: workers})
				var bad *PackError
				if !errors.As(err, &bad) || u != nil {
					t.Fatalf("%v, error %v, want *PackError", u, err)
				}
				if !strings.Contains(bad.Error(), tt.want) || bad.Offset < int64(tt.from) || bad.Offset > int64(tt.to) {
					t.Errorf("%v, want %q at bytes %d to %d", bad, tt.want, tt.from, tt.to)
				}
				if strings.HasSuffix(tt.file, ".gz") {
					if first == "" {
						first = bad.Error()
					}
					if bad.Error() != first {
						t.Errorf("%d workers: %v, want %s", workers, bad, first)
					}
				}
				wantNothingLeft(t, dir)
			}
		})
	}
}

func TestUnpackLimits(t *testing.T) {
	zeros := make([]byte, 1<<20)
	for name, content := range map[string][]byte{
		"a.gz": gzipped(t, zeros), "blocked.gz": bgzipped(t, zeros, 65280), "a.zst": zstandard(t, zeros),
	} {
		f := packed(t, name, content)
		for _, workers := range []int{1, 3} {
			var room *RoomError
			u, err := f.Unpack(t.Context(), UnpackOptions{
				Dir: t.TempDir(), MaxBytes: int64(len(zeros)) - 1,
				Workers: workers,
			})
			if !errors.As(err, &room) || u != nil || room.Limit != int64(len(zeros))-1 {
				t.Errorf("%s: %v, error %v, want *RoomError", name, u, err)
			}
			u, err = f.Unpack(t.Context(), UnpackOptions{
				Dir: t.TempDir(), MaxBytes: int64(len(zeros)),
				Workers: workers,
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = u.Close()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := f.Unpack(ctx, UnpackOptions{Workers: workers}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want the context's", name, err)
			}
		}
	}
}

func TestUnpackOfAFileThatChanges(t *testing.T) {
	text := prose(300_000)
	for name, content := range map[string][]byte{
		"a.gz": gzipped(t, text), "blocked.gz": bgzipped(t, text, 65280),
		"a.zst": zstandard(t, text),
	} {
		f := packed(t, name, content)
		if err := os.Truncate(f.Path, f.Size/2); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Unpack(t.Context(), UnpackOptions{Workers: 2}); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: error %v, want one that wraps ErrChanged", name, err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	text := prose(64 << 20)
	for _, bb := range []struct {
		name   string
		packed []byte
	}{
		{"one member.gz", gzipped(b, text)},
		{"blocked.gz", bgzipped(b, text, 65280)},
		{"one frame.zst", zstandard(b, text)},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", bb.name, workers), func(b *testing.B) {
				f := packed(b, bb.name, bb.packed)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					u, err := f.Unpack(b.Context(), UnpackOptions{Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					_ = u.Close()
				}
			})
		}
	}
}
