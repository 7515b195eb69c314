package geojson

import (
	"bytes"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// deviceReader reads parts on a device, and with the CPU engine what that refuses.
type deviceReader struct {
	*partReader
	device *Device
	sep    kernels.RecordSeparator
}

// deviceReader makes a reader for one goroutine.
func (w *crew) deviceReader() readers.PartReader {
	r := &deviceReader{partReader: w.reader().(*partReader), device: w.cpu.device, sep: kernels.RecordsComma}
	if w.lead.inSequence {
		r.sep = kernels.RecordsLine
	}
	return r
}

// mostRefused is after how many refused chunks in a row nobody asks the device any more: such a file costs twice the work.
const mostRefused = 8

// Guess has the device read the features that begin between two offsets, if they look like the ones before. What it refuses, the CPU engine reads.
func (r *deviceReader) Guess(from, stop int64) readers.Part {
	if r.refused.Load() < mostRefused {
		part, why := r.onDevice(from, stop)
		if why == "" {
			r.refused.Store(0)
			r.device.accepted.Add(1)
			return part
		}
		r.refused.Add(1)
		r.device.refuse(why)
	}
	return r.partReader.Guess(from, stop)
}

// onDevice reads features on the device, or says why it does not.
func (r *deviceReader) onDevice(from, stop int64) (part readers.Part, why string) {
	switch {
	case len(r.prefix) == 0:
		return part, "features that begin in different ways"
	case len(r.sinks.forced()) > 0:
		return part, "a column of values of several kinds"
	case r.lead.state.brackets+coordinatesDepth > r.s.limits.MaxDepth:
		return part, "features too deep"
	}
	l := <-r.device.lanes
	defer func() { r.device.lanes <- l }()
	text, start, err := r.fetch(l, from, stop)
	if err != nil {
		return part, err.Error() // whoever reads these rows again comes upon it
	}
	if len(text) == 0 {
		return part, "no feature that begins as those before"
	}
	out := r.device.result()
	defer func() {
		if part.Release == nil { // refused, or a panic
			r.device.give(out)
		}
	}()
	rows := deviceRows{k: r.device.k, s: l.s, text: text, names: r.seen.names(), sep: r.sep, out: out, longest: r.s.limits.MaxFeatureBytes}
	if part, why = rows.read(); why != "" {
		return readers.Part{}, why
	}
	for i := range part.Starts {
		part.Starts[i] += start
	}
	part.Start, part.Next = start, start+int64(len(text))
	part.To = start + rows.end
	part.State = r.lead.state.pack()
	part.Summary.CRS, part.Summary.Foreign, part.Summary.BytesRead = r.lead.sum.CRS, map[string]int64{}, int64(len(text))
	part.Release = func() { r.device.give(out) }
	return part, ""
}

// fetch reads the text of the features that begin between two offsets, up to where the next one begins. Behind the last place where one seems to begin
// nothing is taken: the rest of the file is for the CPU engine.
func (r *deviceReader) fetch(l *lane, from, stop int64) (text []byte, start int64, err error) {
	end := r.lead.window.end
	if r.s.inSequence {
		from-- // the line feed before the feature at from
	}
	buf := l.in.Bytes()
	buf = buf[:min(int64(len(buf)), end-from, stop-from+deviceSlackBytes)]
	if err := r.readAll(buf, from); err != nil {
		return nil, 0, err
	}
	first := r.begins(buf, 0)
	if first < 0 || from+int64(first) >= stop {
		return nil, 0, nil
	}
	last := -1
	if stop < from+int64(len(buf)) {
		last = r.begins(buf, int(stop-from))
	}
	if last < 0 && from+int64(len(buf)) == end {
		last = r.beginsLast(buf, first)
	}
	if last <= first {
		return nil, 0, nil
	}
	return buf[first:last], from + int64(first), nil
}

// readAll fills buf with what lies at off, with as many readers as the device has lanes for.
func (r *deviceReader) readAll(buf []byte, off int64) error {
	const piece = 4 << 20
	errs := make(chan error, len(buf)/piece+1)
	n := 0
	for at := 0; at < len(buf); at += piece {
		part := buf[at:min(at+piece, len(buf))]
		n++
		go func() {
			_, err := r.src.ReadAt(part, off+int64(at))
			errs <- err
		}()
	}
	var first error
	for range n {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// begins is where the first feature seems to begin in buf from p on, or -1.
func (r *deviceReader) begins(buf []byte, p int) int {
	for {
		at := bytes.Index(buf[p:], r.prefix)
		if at < 0 {
			return -1
		}
		p += at
		if !r.s.inSequence || startsLine(buf, p) {
			return p
		}
		p++
	}
}

// beginsLast is where the last feature behind first seems to begin, or -1.
func (r *deviceReader) beginsLast(buf []byte, first int) int {
	for end := len(buf); ; {
		at := bytes.LastIndex(buf[:end], r.prefix)
		if at <= first {
			return -1
		}
		if !r.s.inSequence || startsLine(buf, at) {
			return at
		}
		end = at + len(r.prefix) - 1
	}
}

// startsLine reports whether only blanks stand between p and the line feed before it.
func startsLine(buf []byte, p int) bool {
	before := bytes.TrimRight(buf[:p], " \t\r")
	return len(before) > 0 && before[len(before)-1] == '\n'
}

// forced are the columns that are known to be text.
func (l *lent) forced() []geoarrow.ColumnID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}

// seen are the properties of rows that were read, in the order in which they were met: the columns that the device looks for in the rows behind.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// learn keeps the names of a part of the file.
func (s *seen) learn(c *geoarrow.Columns) {
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
}
