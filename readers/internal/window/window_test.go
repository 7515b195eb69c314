package window_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

func openText(t *testing.T, text string) *source.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return src
}

// TestWindow moves windows about at random: what they show is what is in the file, with zeros
// behind.
func TestWindow(t *testing.T) {
	text := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz\n", 300)
	src := openText(t, text)
	var w window.Window
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		from, end := r.Int64N(src.Size/2), src.Size-r.Int64N(src.Size/2)
		soft := from + r.Int64N(end-from+1)
		if !w.Open(t.Context(), src, from, soft, end, src.Size, 1+r.IntN(400)) {
			t.Fatal(w.Err)
		}
		for range 60 {
			if w.Base < from || w.Base+int64(w.N) > end || w.EOF != (w.Base+int64(w.N) == end) {
				t.Fatalf("bytes %d to %d of %d to %d, at the end: %t", w.Base, w.Base+int64(w.N), from, end, w.EOF)
			}
			if got, want := w.Text(0, w.N), text[w.Base:w.Base+int64(w.N)]; string(got) != want {
				t.Fatalf("seed %d: got %q, want %q", seed, got, want)
			}
			if behind := w.Text(w.N, w.N+number.Padding); !bytes.Equal(behind, make([]byte, number.Padding)) {
				t.Fatalf("seed %d: %q after the text", seed, behind)
			}
			if r.IntN(3) == 0 {
				at := from + r.Int64N(end-from)
				if p := w.MoveTo(at); p < 0 || w.At(p) != text[at] {
					t.Fatalf("seed %d: byte %d is at index %d, %v", seed, at, p, w.Err)
				}
				continue
			}
			keep := r.IntN(w.N + 1)
			at, shown := w.Base+int64(keep), w.Base+int64(w.N)
			if !w.Fill(keep) {
				t.Fatal(w.Err)
			}
			if w.Base != at || w.Base+int64(w.N) <= shown && !w.EOF {
				t.Fatalf("seed %d: a window from %d, want %d; it ends at %d, and did at %d", seed, w.Base,
					at, w.Base+int64(w.N), shown)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	src := openText(t, strings.Repeat("x", 1000))
	var w window.Window
	if !w.Open(t.Context(), src, 0, src.Size, src.Size, 100, 64) {
		t.Fatal(w.Err)
	}
	for w.Fill(0) {
		if w.N > 300 {
			t.Fatalf("%d bytes of a row of at most 100", w.N)
		}
	}
	limit := (*readers.LimitError)(nil)
	if !errors.As(w.Err, &limit) || limit.Limit != 100 {
		t.Errorf("%v", w.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w.Open(ctx, src, 0, src.Size, src.Size, 100, 64) || !errors.Is(w.Err, context.Canceled) {
		t.Errorf("%v", w.Err)
	}
	if w.Open(t.Context(), src, 0, 2000, 2000, 2000, 1500) || !errors.Is(w.Err, source.ErrChanged) {
		t.Errorf("a file that is shorter than it was: %v", w.Err)
	}
}

// TestPlaces is what errors say of a byte.
func TestPlaces(t *testing.T) {
	src := openText(t, "a\n\"b\"\né\xff")
	var w window.Window
	if !w.Open(t.Context(), src, 0, src.Size, src.Size, src.Size, 2) {
		t.Fatal(w.Err)
	}
	for _, c := range []struct {
		at    int64
		found string
		line  int64
	}{{0, `"a"`, 1}, {1, `"\n"`, 1}, {2, `"b"`, 2}, {6, `"é"`, 3}, {8, "byte 0xff", 3}, {9, "the end of the file", 3}} {
		found, err := w.Found(c.at)
		if err != nil || found != c.found {
			t.Errorf("byte %d is %s, %v; want %s", c.at, found, err, c.found)
		}
		if line, err := w.LineAt(c.at); err != nil || line != c.line {
			t.Errorf("byte %d is in line %d, %v; want %d", c.at, line, err, c.line)
		}
	}
}
