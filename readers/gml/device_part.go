package gml

import (
	"bytes"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// deviceChunks finds and parses chunks of features of one layer, which are like those from which
// the vocabulary was learned.
type deviceChunks struct {
	*workers
	probe device.Probe
}

// deviceChunks returns the state of one goroutine.
func (w *workers) deviceChunks() *deviceChunks {
	c := &deviceChunks{workers: w}
	c.probe = device.Probe{Src: w.Source, Begin: -1, End: w.head.End, First: c.first, Last: c.last}
	return c
}

// onDevice learns the tags of rows from those that begin at an offset, and reports whether devices
// support them.
func (w *workers) onDevice(at int64) bool {
	s := w.head
	if w.Device == nil || s.X.Encoding != xmltext.UTF8 || s.schema != nil || s.main != "" {
		return false
	}
	text := make([]byte, min(learnBytes, s.End-at))
	if n, _ := w.Source.ReadAt(text, at); n < len(text) {
		return false // the parse of the rows gives the reason
	}
	w.words = learn(text, &w.home.x, s.layer, s.opening, systems{axes: s.names.axes, fme: s.names.fme},
		s.limits.MaxDepth)
	return w.words != nil
}

// Bounds finds the features that begin between two offsets. An apparent beginning may be in a
// comment or a CDATA section. Then the chunk does not begin where the previous one ended, or is
// refused.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	return c.probe.Bounds(from, stop, "no feature of the layer near")
}

// first returns where the first feature seems to begin in text, or -1.
func (c *deviceChunks) first(text []byte) int {
	opening := c.head.opening
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

// last returns where the last feature seems to begin after the first byte of text, or -1.
func (c *deviceChunks) last(text []byte) int {
	opening := c.head.opening
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

// endsName reports whether the text after a name ends it.
func endsName(text []byte) bool {
	return len(text) > 0 && (isBlank(text[0]) || text[0] == '>' || text[0] == '/')
}

// Read parses features on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceRows{Work: w, chunks: c, asked: c.parser.layout.Columns, forced: c.Sinks.Forced()}
	d.read(part)
	part.Text = append(slices.Clone(d.forced), d.mixed...)
}
