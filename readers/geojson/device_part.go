package geojson

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	kjson "github.com/vibeflight/vibeflight/kernels/json"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceChunks finds and parses chunks of features that look like earlier ones.
type deviceChunks struct {
	*workers
	sep   kjson.RecordSeparator
	probe device.Probe
}

// deviceChunks returns the state of one goroutine.
func (w *workers) deviceChunks() *deviceChunks {
	c := &deviceChunks{workers: w, sep: kjson.RecordsComma}
	c.probe = device.Probe{Src: w.Source, End: w.Head.Window.End, First: c.begins, Last: c.beginsLast}
	if w.Head.InSequence {
		c.sep, c.probe.Back = kjson.RecordsLine, 1 // the line feed before
	}
	return c
}

// Bounds finds the features that begin between two offsets. A chunk of only the last feature, or of
// a piece of it, is not refused: the CPU engine parses the text after all features.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	switch {
	case len(c.Prefix) == 0:
		return 0, 0, "features that begin in different ways"
	case c.Head.State.Brackets+coordinatesDepth > c.Head.Limits.MaxDepth:
		return 0, 0, "features too deep"
	}
	return c.probe.Bounds(from, stop, "no feature that begins as those before")
}

// Read parses features on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	rows := deviceRows{
		Work: w, turns: &taskSchedule{}, dev: w.Text, dict: c.seen.dictionary(),
		names: device.Keep[deviceDictionary](w), sep: c.sep, longest: c.Head.Limits.MaxFeatureBytes,
	}
	rows.asked = c.parser.layout.Columns
	rows.deep, rows.texts = c.Head.Limits.MaxDepth-c.Head.State.Brackets, c.Sinks.Forced()
	rows.third, rows.expected = c.seen.hasThird(), c.seen.types()
	rows.read(part)
	if w.Stopped() {
		return
	}
	part.State, part.Text = c.Head.State.Pack(), append(slices.Clone(rows.texts), rows.mixed...)
	part.Summary.CRS = c.Head.Sum.CRS
	w.After(func() {
		c.seen.learnForeign(part.Summary.Foreign)
		c.seen.learnThird(rows.third)
	})
}

// begins returns where the first feature seems to begin in text, or -1.
func (c *deviceChunks) begins(text []byte) int {
	for p := 0; ; p++ {
		at := bytes.Index(text[p:], c.Prefix)
		if at < 0 {
			return -1
		}
		p += at
		if !c.Head.InSequence || startsLine(text, p) {
			return p
		}
	}
}

// beginsLast returns where the last feature after the first byte seems to begin in text, or -1.
func (c *deviceChunks) beginsLast(text []byte) int {
	for end := len(text); ; {
		at := bytes.LastIndex(text[:end], c.Prefix)
		if at <= 0 {
			return -1
		}
		if !c.Head.InSequence || startsLine(text, at) {
			return at
		}
		end = at + len(c.Prefix) - 1
	}
}

// startsLine reports whether only blanks are between p and the line feed before it.
func startsLine(buf []byte, p int) bool {
	before := bytes.TrimRight(buf[:p], " \t\r")
	return len(before) > 0 && before[len(before)-1] == '\n'
}

// memberNames are the names of members in earlier rows: properties in order of first appearance,
// and foreign members. The device looks for them in later rows.
type memberNames struct {
	mu      sync.Mutex
	list    []string
	foreign []string
	third   bool // some position has a third ordinate
	// of columns of numbers, as returned by heldAs, when they last had values; others are NULL.
	// Replaced, not changed
	numbers map[geoarrow.ColumnID]arrow.Type
}

// maxForeign is how many names of foreign members are kept; a chunk finds further ones itself.
const maxForeign = 256

// dictionary returns a dictionary of the names so far.
func (s *memberNames) dictionary() *dictionary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newDictionary(s.list, s.foreign)
}

// types returns the types of the columns of numbers when they last had values. The result must not
// be modified.
func (s *memberNames) types() map[geoarrow.ColumnID]arrow.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers
}

// hasThird reports whether some position has a third ordinate, as far as is known.
func (s *memberNames) hasThird() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.third
}

// learnThird notes whether some position has a third ordinate.
func (s *memberNames) learnThird(has bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.third = s.third || has
}

// learnForeign keeps the names of foreign members.
func (s *memberNames) learnForeign(count map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range count {
		if len(s.foreign) < maxForeign && !slices.Contains(s.foreign, name) {
			s.foreign = append(s.foreign, name)
		}
	}
}

// learn keeps the names of a part of the file, the types of its columns of numbers, and whether a
// position has a third ordinate.
func (s *memberNames) learn(c *geoarrow.Columns) {
	if c == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range c.Attributes {
		if a := &c.Attributes[i]; a.Role == geoarrow.RoleAttribute && !slices.Contains(s.list, a.Name) {
			s.list = append(s.list, a.Name)
		}
	}
	s.learnTypes(c.Attributes)
	s.third = s.third || c.Geometry != nil && c.Geometry.Dim&geoarrow.HasZ != 0
}

// learnTypes keeps the types of columns that s does not have yet.
func (s *memberNames) learnTypes(columns []geoarrow.Column) {
	changed := false
	for i := range columns {
		id, t := columns[i].ID(), columns[i].Type.ID()
		if t == arrow.NULL || s.numbers[id] == heldAs(t) {
			continue
		}
		if !changed {
			s.numbers, changed = maps.Clone(s.numbers), true
		}
		if s.numbers == nil {
			s.numbers = map[geoarrow.ColumnID]arrow.Type{}
		}
		s.numbers[id] = heldAs(t)
	}
}
