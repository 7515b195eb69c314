package kml

import (
	"bytes"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// deviceChunks has a card read chunks of Placemarks of one container.
type deviceChunks struct {
	*partReader // which reads what the card refuses
	probe       device.Probe
}

// onCards reports whether cards know the text: UTF-8, with room for the elements that they read.
func (w *crew) onCards() bool {
	s := w.lead
	return s.X.Encoding == xmltext.UTF8 && s.home.Depth()+deviceDepth <= s.limits.MaxDepth
}

// deviceDepth is how many elements in each other cards read.
const deviceDepth = 16

// deviceReader makes a reader for one goroutine.
func (w *crew) deviceReader() readers.PartReader {
	c := &deviceChunks{partReader: w.reader().(*partReader)}
	c.probe = device.Probe{Src: w.src, End: w.lead.End, First: c.begins, Last: c.beginsLast}
	return w.cards.Reader(c.partReader, c)
}

// Bounds finds the Placemarks that begin between two offsets. One in a comment, in a CDATA section
// or in another container begins a chunk that is refused, or that does not begin where the one
// before ended.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	start, end, err := c.probe.Chunk(from, stop)
	switch none := start < 0 || start >= stop; {
	case err != nil:
		return 0, 0, err.Error()
	case none && stop < c.lead.End:
		return 0, 0, "no Placemark"
	case none:
		return 0, 0, ""
	}
	return start, end, ""
}

// Read reads Placemarks on a card.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	forced := c.sinks.Forced()
	r := deviceRows{
		Work: w, texts: c.tags, card: device.Keep[uploaded](w), longest: c.s.limits.MaxFeatureBytes,
		asked: c.cpu.layout.Columns, forced: forced,
	}
	r.read(part)
	part.State, part.Text = c.lead.pack(), forced
}

// begins is where the first Placemark seems to begin in text, or -1.
func (c *deviceChunks) begins(text []byte) int { return bytes.Index(text, c.lead.opening) }

// beginsLast is where the last Placemark behind the first byte seems to begin in text, or -1.
func (c *deviceChunks) beginsLast(text []byte) int {
	at := bytes.LastIndex(text, c.lead.opening)
	if at == 0 {
		return -1
	}
	return at
}
