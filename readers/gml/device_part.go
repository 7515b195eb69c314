package gml

import (
	"bytes"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// deviceChunks has a card read chunks of features of one layer, which are like those that the
// vocabulary was learnt from.
type deviceChunks struct {
	*partReader // which reads what the card refuses
	words       *vocabulary
	probe       device.Probe
}

// deviceReader makes a reader for one goroutine.
func (w *crew) deviceReader() readers.PartReader {
	c := &deviceChunks{partReader: w.reader().(*partReader), words: w.words}
	c.probe = device.Probe{Src: w.src, Begin: -1, End: w.lead.End, First: c.first, Last: c.last}
	return w.cards.Reader(c.partReader, c)
}

// forCards learns the tags of rows from those that begin at an offset, and reports whether cards
// know them.
func (w *crew) forCards(at int64) bool {
	s := w.lead
	if w.cards == nil || s.X.Encoding != xmltext.UTF8 || s.schema != nil || s.main != "" {
		return false
	}
	text := make([]byte, min(learnBytes, s.End-at))
	if n, _ := w.src.ReadAt(text, at); n < len(text) {
		return false // whoever reads the rows says why
	}
	w.words = learn(text, &w.home.x, s.layer, s.opening, systems{axes: s.names.axes, fme: s.names.fme},
		s.limits.MaxDepth)
	return w.words != nil
}

// Bounds finds the features that begin between two offsets: what looks like the beginning of one
// may stand in a comment or a CDATA section. Then the chunk does not begin where the one before
// ended, or it is refused.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	start, end, err := c.probe.Chunk(from, stop)
	switch none := start < 0 || start >= stop; {
	case err != nil:
		return 0, 0, err.Error()
	case none && stop < c.probe.End:
		return 0, 0, "no feature of the layer near"
	case none:
		return 0, 0, ""
	}
	return start, end, ""
}

// first is where the first feature seems to begin in text, or -1.
func (c *deviceChunks) first(text []byte) int {
	opening := c.lead.opening
	for p := 0; ; p++ {
		i := bytes.Index(text[p:], opening)
		if i < 0 {
			return -1
		}
		if p += i; endsName(text[p+len(opening):]) {
			return p
		}
	}
}

// last is where the last feature seems to begin behind the first byte of text, or -1.
func (c *deviceChunks) last(text []byte) int {
	opening := c.lead.opening
	for end := len(text); ; {
		i := bytes.LastIndex(text[:end], opening)
		if i <= 0 {
			return -1
		}
		if endsName(text[i+len(opening):]) {
			return i
		}
		end = i + len(opening) - 1
	}
}

// endsName reports whether what follows on a name ends it.
func endsName(text []byte) bool {
	return len(text) > 0 && (isBlank(text[0]) || text[0] == '>' || text[0] == '/')
}

// Read reads features on a card.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceRows{Work: w, chunks: c, asked: c.cpu.layout.Columns, forced: c.sinks.Forced()}
	d.read(part)
	part.Text = append(slices.Clone(d.forced), d.mixed...)
}
