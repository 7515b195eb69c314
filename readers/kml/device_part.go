package kml

import (
	"bytes"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// deviceChunks finds and parses chunks of Placemarks of one container.
type deviceChunks struct {
	*workers
	probe device.Probe
}

// onDevice reports whether devices support the text: UTF-8, and MaxDepth is large enough for the
// elements that they read.
func (w *workers) onDevice() bool {
	s := w.head
	return s.X.Encoding == xmltext.UTF8 && s.home.Depth()+deviceDepth <= s.limits.MaxDepth
}

// deviceDepth is the nesting of the elements that devices read.
const deviceDepth = 16

// deviceChunks returns the state of one goroutine.
func (w *workers) deviceChunks() *deviceChunks {
	c := &deviceChunks{workers: w}
	c.probe = device.Probe{Src: w.Source, End: w.head.End, First: c.begins, Last: c.beginsLast}
	return c
}

// Bounds finds the Placemarks that begin between two offsets. One in a comment, in a CDATA section
// or in another container begins a chunk that is refused, or that does not begin where the previous
// one ended.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	return c.probe.Bounds(from, stop, "no Placemark")
}

// Read parses Placemarks on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	forced := c.Sinks.Forced()
	r := deviceRows{
		Work: w, texts: c.tags, names: device.Keep[deviceNames](w), longest: c.head.limits.MaxFeatureBytes,
		asked: c.parser.layout.Columns, forced: forced,
	}
	r.read(part)
	part.State, part.Text = c.head.pack(), forced
}

// begins returns where the first Placemark seems to begin in text, or -1.
func (c *deviceChunks) begins(text []byte) int { return bytes.Index(text, c.head.opening) }

// beginsLast returns where the last Placemark after the first byte seems to begin in text, or -1.
func (c *deviceChunks) beginsLast(text []byte) int {
	at := bytes.LastIndex(text, c.head.opening)
	if at == 0 {
		return -1
	}
	return at
}
