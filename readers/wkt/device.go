package wkt

import (
	"bytes"
	"io"

	"github.com/vibeflight/vibeflight/gpu"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
)

// deviceChunks finds and parses chunks of rows.
type deviceChunks struct {
	*workers
	probe device.Probe
}

// deviceChunks returns the state of one goroutine.
func (w *workers) deviceChunks() *deviceChunks {
	c := &deviceChunks{workers: w}
	c.probe = device.Probe{
		Src: blankedHead{w.head.Src, w.from}, End: w.head.End, Back: lookBack,
		First: func(text []byte) int { return firstRow(text, min(lookBack, len(text))-1) },
		Last:  lastRow,
	}
	return c
}

// blankedHead is a file with line feeds in place of the bytes before the first row, so that a probe
// finds no row in them.
type blankedHead struct {
	src  io.ReaderAt
	from int64
}

func (b blankedHead) ReadAt(p []byte, at int64) (n int, err error) {
	for at+int64(n) < b.from && n < len(p) {
		p[n] = '\n'
		n++
	}
	if n == len(p) {
		return n, nil
	}
	m, err := b.src.ReadAt(p[n:], at+int64(n))
	return n + m, err
}

// Bounds finds the rows that begin between two offsets. A line inside of a geometry may look like
// the beginning of one. Then the chunk is refused, or does not begin where the previous one ended.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	return c.probe.Bounds(from, stop, "no row that begins with a letter")
}

// Read parses rows on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceRows{Work: w, longest: c.head.limits.MaxFeatureBytes}
	d.text = w.Text
	d.read(part)
}

// firstRow returns where the first row seems to begin in text, after the end of a row at index
// first or later, or -1.
func firstRow(text []byte, first int) int {
	last := byte(0) // the last byte that is not blank
	for p := 0; p < len(text); p++ {
		if p >= first && endsRow(text[p], last) {
			for p < len(text) && (isBlank(text[p]) || text[p] == ';') {
				p++
			}
			switch {
			case p == len(text):
				return -1
			case mayBegin(text[p]):
				return p
			}
			first = 0
		}
		if !isBlank(text[p]) {
			last = text[p]
		}
	}
	return -1
}

// lastRow returns where the last row after the first byte seems to begin in text, or -1.
func lastRow(text []byte) int {
	letter := -1 // the last one followed only by blanks, ";" and letters so far
	for p := len(text) - 1; p >= 0; p-- {
		switch c := text[p]; {
		case mayBegin(c):
			letter = p
		case c == '\n' || c == '\r' || c == ';':
			before := bytes.TrimRight(text[:p], " \t\n\v\f\r")
			if letter > 0 && (len(before) == 0 || endsRow(c, before[len(before)-1])) {
				return letter
			}
			letter = -1
		case !isBlank(c):
			letter = -1
		}
	}
	return -1
}

// endsRow reports whether c seems to end a row after a byte that is not blank: a line end does not
// after a bracket or comma, and ";" not after a digit, where it ends an SRID.
func endsRow(c, before byte) bool {
	switch c {
	case '\n', '\r':
		return before != ',' && before != '('
	case ';':
		return before-'0' >= 10
	}
	return false
}

// mayBegin reports whether a row may begin with c. A line that begins with EMPTY continues a
// geometry.
func mayBegin(c byte) bool { return isLetter(c) && c|0x20 != 'e' }

// deviceRows reads a chunk of whole rows on a device.
//
//	text -> rows, brackets -> kinds -> parts, rings, positions -> ordinates -> dimensions ─┬─> offsets
//	   native
//	                                                                                       └─> sizes -> bytes     WKB
//	members of collections, likewise ──────────────────────────────────────────────────────────────────┘
//
// Every step reports what it does not accept; then the chunk is refused, and nothing of it counts.
type deviceRows struct {
	*device.Work
	deviceText
	longest int64 // maximum length of a row's text
}

// deviceText is rows, or members of collections, in a text.
type deviceText struct {
	text gpu.Buffer[byte]
	x    *kwkt.WKT
}

// A row takes some 110 bytes of device memory and half a byte for each byte of text, and an arena
// has 7 for each (package slots). Chunks of few rows have memory in any case.
const (
	shortRow = 16 // bytes
	fewRows  = 1 << 16
)

// unlike is the reason for refusing rows that are malformed or have an unusual syntax.
const unlike = "a row that is not as WKT has it, or not as a card looks for it"

// read reads the rows into part.
func (d *deviceRows) read(part *readers.Part) {
	peek := device.Result(d.Work, d.Text.Slice(0, min(peekBytes, d.Text.Len())))
	if d.parse(&d.deviceText, kwkt.WKTLines); d.Stopped() {
		return
	}
	d.Accept(d.x.Rows <= max(fewRows, d.Text.Len()/shortRow),
		"rows so short that a card has no room for what becomes of them")
	found := device.Result(d.Work, d.x.Found)
	part.Rows, part.Columns = int64(d.x.Rows), &geoarrow.Columns{Rows: d.x.Rows}
	part.Columns.Geometry = d.geometry(hasThird(peek), &part.Summary)
	part.Starts = device.Result(d.Work, d.x.Starts)
	gap := device.Alloc[int64](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(klist.LongestGap(d.K, d.S, d.x.Starts, int64(d.Text.Len()), gap))
	longest := device.Result(d.Work, gap)
	d.After(func() {
		f := found[0]
		d.Accept(f.Fault < 0, unlike)
		d.Accept(f.Least < 0 || f.Least == f.Most(), "several SRIDs")
		part.State = parallel.PackState(int32(f.Most()), true) // a row follows, so something ends the last one
		d.Accept(longest[0] <= d.longest, "a row that is too long, or nearly so")
	})
}

// parse finds the rows of a text, at least one. It waits for the device.
func (d *deviceRows) parse(t *deviceText, style kwkt.WKTStyle) {
	x, err := kwkt.ParseWKT(d.K, d.S, t.text, style)
	if err != nil {
		d.Try(err)
		return
	}
	t.x = x
	d.Later(func() error { return x.Free(d.S) })
	d.Accept(x.Fault < 0, unlike)
	d.Accept(x.Rows > 0, "no row")
}
