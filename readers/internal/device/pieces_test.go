package device_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// notes is a format whose rows are lines of 8 bytes, each with a note in another file, and one of a
// byte in a third one.
type notes struct {
	*lines
	pieces [2]io.ReaderAt
	sizes  [2]int64 // of a line's
	first  int64
	count  int64
	got    []string // text and pieces of each chunk
}

const lineBytes = 8

func (n *notes) Bounds(from, stop int64) (start, end int64, why string) {
	up := func(at int64) int64 { return min((at+lineBytes-1)/lineBytes*lineBytes, n.probe.End) }
	start, end = up(from), up(stop)
	n.first, n.count = start/lineBytes, (end-start)/lineBytes
	return start, end, ""
}

func (n *notes) Pieces() (list []device.Piece) {
	for i, size := range n.sizes {
		list = append(list, device.Piece{Src: n.pieces[i], At: n.first * size, Bytes: n.count * size})
	}
	return list
}

func (n *notes) Read(w *device.Work, part *readers.Part) {
	texts := []string{string(device.Read(w, w.Text))}
	for _, p := range w.Pieces {
		if p.Len() > 0 && p.Address()%16 != 0 {
			w.Accept(false, "a piece at an odd address")
		}
		texts = append(texts, string(device.Read(w, p)))
	}
	n.got = append(n.got, strings.Join(texts, "|"))
	part.Rows, part.Columns = n.count, &geoarrow.Columns{Rows: int(n.count)}
}

func TestPieces(t *testing.T) {
	const count = 40
	var text, long, short strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "line %02d\n", i)
		fmt.Fprintf(&long, "note %02d of 300 bytes%280s\n", i, "")
		short.WriteByte(byte('A' + i%26))
	}
	r := newRig(t)
	n := &notes{lines: newLines(text.String()), pieces: [2]io.ReaderAt{
		strings.NewReader(long.String()),
		strings.NewReader(short.String()),
	}, sizes: [2]int64{301, 1}}
	file := r.engine.File(t.Context(), strings.NewReader(text.String()))
	reader := file.Reader(r.cpu, n)
	var want []string
	for first := 0; first < count; first += 8 {
		part := reader.Guess(int64(first*lineBytes), int64((first+8)*lineBytes))
		if part.Failed || part.Start != int64(first*lineBytes) || part.Next != int64((first+8)*lineBytes) ||
			part.To != part.Next || part.Rows != 8 {
			t.Fatalf("from line %d: %+v", first, part)
		}
		if least := int64(8 * (lineBytes + 301 + 1)); part.Summary.BytesRead < least ||
			part.Summary.BytesRead > least+1024 {
			t.Errorf("%d bytes read, want %d and some", part.Summary.BytesRead, least)
		}
		part.Release()
		want = append(want, text.String()[first*lineBytes:(first+8)*lineBytes]+"|"+
			long.String()[first*301:(first+8)*301]+"|"+short.String()[first:first+8])
	}
	if !slices.Equal(n.got, want) || len(r.told) > 0 {
		t.Errorf("got %q, want %q; faults %q", n.got, want, r.told)
	}
}

// cutShort is a file that has fewer bytes than it should.
type cutShort struct{}

func (cutShort) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the notes are gone") }

func TestPiecesThatCannotBeHad(t *testing.T) {
	text := strings.Repeat("a line\n\n", 8)
	for _, c := range []struct {
		name  string
		piece io.ReaderAt
		bytes int64
		why   string
	}{
		{"an error", cutShort{}, 1, "the notes are gone"},
		{"cut", strings.NewReader("short"), 1, "EOF"},
		{"too long", cutShort{}, 1 << 20, "far more in other files"},
	} {
		r := newRig(t)
		n := &notes{lines: newLines(text), pieces: [2]io.ReaderAt{c.piece, c.piece}, sizes: [2]int64{0, c.bytes}}
		part := r.engine.File(t.Context(), strings.NewReader(text)).Reader(r.cpu, n).Guess(0, int64(len(text)))
		counts := r.engine.Counts()
		if part.Rows != 100 || counts.Refused != 1 || counts.Faults != 0 || !strings.Contains(counts.Reason, c.why) {
			t.Errorf("%s: %d rows, %+v, want the CPU engine's and %q", c.name, part.Rows, counts, c.why)
		}
	}
}
