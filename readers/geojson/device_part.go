package geojson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// deviceReader reads parts on a device, and with the CPU engine what that refuses.
type deviceReader struct {
	*partReader
	device *Device
	sep    kernels.RecordSeparator
	probed []byte // memory of probe
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
	asked := r.refused.Load() < mostRefused
	if asked {
		part, why := r.onDevice(from, stop)
		switch why {
		case "":
			r.refused.Store(0)
			r.device.accepted.Add(1)
			return part
		case lastFeature:
			return r.partReader.Guess(from, stop)
		}
		r.refused.Add(1)
		r.device.refused.Add(1)
		r.device.last.Store(&why)
	}
	part := r.partReader.Guess(from, stop)
	r.device.refusedRows.Add(part.Rows)
	return part
}

// lastFeature is why a chunk of nothing else, or of a piece of it, is left to the CPU engine, which reads what is behind all features.
const lastFeature = "the last feature"

// onDevice reads features on a card, or says why it does not.
func (r *deviceReader) onDevice(from, stop int64) (part readers.Part, why string) {
	switch {
	case len(r.prefix) == 0:
		return part, "features that begin in different ways"
	case r.lead.state.brackets+coordinatesDepth > r.s.limits.MaxDepth:
		return part, "features too deep"
	}
	start, end, err := r.features(from, stop)
	if err != nil {
		return part, err.Error() // whoever reads these rows again comes upon it
	}
	switch none := start < 0 || start >= stop; {
	case none && stop < r.lead.Window.End:
		return part, "no feature that begins as those before"
	case none || start == end:
		return part, lastFeature
	}
	l, ok := r.device.lanes.take(r.crew, start)
	if !ok {
		return part, gpu.ErrLost.Error()
	}
	defer func() { r.device.give(l, err) }()
	defer func() {
		if p := recover(); p != nil { // whoever guards this guess has the CPU engine read on, and nobody would know
			r.device.failed(l.card, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			panic(p)
		}
	}()
	if end-start > int64(l.text.Len()) {
		return part, "a chunk that ends in a long feature"
	}
	part, why, err = r.onLane(l, start, end)
	if err != nil {
		r.device.failed(l.card, err)
	}
	return part, why
}

// onLane reads the features of a span of the file on a card. An error is one of the card.
func (r *deviceReader) onLane(l *lane, start, end int64) (part readers.Part, why string, err error) {
	n := int(end - start)
	filler, _ := l.card.fillers.take(r.crew, start)
	c := clock{time.Now()}
	filled, err := l.fill(r.ctx, r.src, start, n)
	l.card.fillers.give(filler)
	c.stop(&r.device.reading)
	err = cmp.Or(l.s.Synchronize(), err) // the copies are under way
	c.stop(&r.device.copying)
	if filled != nil || err != nil {
		return part, errors.Join(filled, err).Error(), err
	}
	arena, _ := l.card.work.take(r.crew, start)
	l.s.Use(arena)
	c = clock{time.Now()}
	defer func() {
		c.stop(&r.device.working)
		l.s.Use(nil)
		l.card.work.give(arena)
	}()
	out := &result{from: &l.card.results}
	defer func() {
		if part.Release == nil { // refused, or a panic
			out.give()
		}
	}()
	rows := deviceRows{k: l.card.k, s: l.s, dev: l.text.Slice(0, n), dict: r.seen.dictionary(), names: &l.names, sep: r.sep, out: out, longest: r.s.limits.MaxFeatureBytes}
	rows.deep, rows.texts = r.s.limits.MaxDepth-r.lead.state.brackets, r.sinks.Forced()
	if part, why, err = rows.read(); why != "" {
		return readers.Part{}, why, err
	}
	r.seen.learnForeign(part.Summary.Foreign)
	for i := range part.Starts {
		part.Starts[i] += start
	}
	part.Start, part.Next = start, end
	part.To = start + rows.end
	part.State, part.Text = r.lead.state.pack(), append(slices.Clone(rows.texts), rows.mixed...)
	part.Summary.CRS, part.Summary.BytesRead = r.lead.sum.CRS, end-start
	part.Release = out.give
	return part, "", nil
}

// features finds the span from the first feature that begins at or behind an offset, -1 if none is near, to the first one behind stop. Behind the last place where a feature
// seems to begin nothing is taken: the rest of the file is for the CPU engine.
func (r *deviceReader) features(from, stop int64) (start, end int64, err error) {
	start, err = r.next(from)
	if err != nil || start < 0 || start >= stop {
		return start, start, err
	}
	end = -1
	if stop < r.lead.Window.End {
		end, err = r.next(stop)
	}
	if err == nil && end < 0 {
		end, err = r.last(start)
	}
	return start, max(start, end), err
}

// probeBytes is how much is read at first to find where a feature begins.
const probeBytes = 16 << 10

// next is where the first feature at or behind an offset seems to begin, or -1: there is none near.
func (r *deviceReader) next(at int64) (int64, error) {
	if r.s.inSequence {
		at-- // the line feed before
	}
	for size := int64(probeBytes); ; size *= 8 {
		text, err := r.probe(at, size)
		if err != nil {
			return -1, err
		}
		if p := r.begins(text, 0); p >= 0 || size >= deviceSlackBytes || int64(len(text)) < size {
			return offset(at, p), nil
		}
	}
}

// last is where the last feature of the file seems to begin that begins behind an offset, or -1: there is none near the end.
func (r *deviceReader) last(behind int64) (int64, error) {
	end := r.lead.Window.End
	for size := int64(probeBytes); ; size *= 8 {
		at := max(behind, end-size)
		text, err := r.probe(at, end-at)
		if err != nil {
			return -1, err
		}
		if p := r.beginsLast(text, 0); p >= 0 || size >= deviceSlackBytes || at == behind {
			return offset(at, p), nil
		}
	}
}

// offset is that of place p in a text that begins at an offset, or -1.
func offset(at int64, p int) int64 {
	if p < 0 {
		return -1
	}
	return at + int64(p)
}

// probe reads bytes of the file, or fewer at its end.
func (r *deviceReader) probe(at, size int64) ([]byte, error) {
	size = min(size, r.lead.Window.End-at)
	if int64(cap(r.probed)) < size {
		r.probed = make([]byte, size)
	}
	_, err := r.src.ReadAt(r.probed[:size], at)
	return r.probed[:size], err
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

// seen are the members of rows that were read: properties in the order in which they were met, and foreign ones. The device looks for them in the rows behind.
type seen struct {
	mu      sync.Mutex
	list    []string
	foreign []string
}

// mostForeign is how many names of foreign members are kept: of more, a chunk finds out itself.
const mostForeign = 256

// dictionary has the names so far.
func (s *seen) dictionary() *dictionary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return newDictionary(s.list, s.foreign)
}

// learnForeign keeps the names of foreign members.
func (s *seen) learnForeign(count map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range count {
		if len(s.foreign) < mostForeign && !slices.Contains(s.foreign, name) {
			s.foreign = append(s.foreign, name)
		}
	}
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
