package resident

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Writer copies columns of one part of a file to the table, on the stream that made them. One
// goroutine uses it.
type Writer struct {
	t     *Table
	dev   *deviceMemory
	s     *gpu.Stream
	found []original
}

// original is bytes on the host that were copied from the device.
type original struct {
	host []byte
	from gpu.Buffer[byte]
}

// Writer returns a writer for a part that a stream's device parses. It is nil if the table is full or
// on another device. t may be nil.
func (t *Table) Writer(s *gpu.Stream) *Writer {
	if t == nil {
		return nil
	}
	t.store.mu.Lock()
	c := t.store.deviceOf(s.Device())
	elsewhere := c == nil || t.dev != nil && t.dev != c
	t.store.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if elsewhere || t.full {
		return nil
	}
	return &Writer{t: t, dev: c, s: s}
}

// Found notes that host will have the bytes of a buffer, and that neither changes until Part has
// returned. w may be nil.
func (w *Writer) Found(host []byte, from gpu.Buffer[byte]) {
	if w != nil && len(host) > 0 {
		w.found = append(w.found, original{host, from})
	}
}

// Part queues copies of the columns of a part whose buffers are on the device, and returns what the
// table keeps of it. The copies are complete when the stream is. c may change then. w may be nil. An
// error is one of the device.
func (w *Writer) Part(c *geoarrow.Columns) (*Part, error) {
	if w == nil || c == nil || len(w.found) == 0 {
		return nil, nil
	}
	slices.SortFunc(w.found, func(a, b original) int { return cmp.Compare(address(a.host), address(b.host)) })
	schema := geoarrow.Schema(c, geoarrow.CRS{}, geoarrow.Encoding{})
	record, err := c.Record(schema, nil, geoarrow.Encoding{})
	if err != nil {
		return nil, nil // the host has the rows
	}
	defer record.Release()
	p := &Part{Rows: c.Rows, columns: map[geoarrow.ColumnID]column{}}
	for i, a := range record.Columns() {
		if !w.has(a.Data()) {
			continue
		}
		nodes, err := w.copied(nil, a.Data())
		if err != nil || nodes == nil {
			return p, err
		}
		if col := (column{a.DataType(), nodes}); i < len(c.Attributes) {
			p.columns[c.Attributes[i].ID()] = col
		} else {
			p.geometry = &col
		}
	}
	return p, nil
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// on returns the bytes on the device that b was copied from, or false.
func (w *Writer) on(b []byte) (from gpu.Buffer[byte], ok bool) {
	i, same := slices.BinarySearchFunc(w.found, address(b), func(o original, at uintptr) int {
		return cmp.Compare(address(o.host), at)
	})
	if !same {
		i--
	}
	if i < 0 {
		return from, false
	}
	o := w.found[i]
	if at := int(address(b) - address(o.host)); at <= len(o.host) && len(b) <= len(o.host)-at {
		return o.from.Slice(at, at+len(b)), true
	}
	return from, false
}

// has reports whether the device has all buffers of an array but validity bitmaps.
func (w *Writer) has(d arrow.ArrayData) bool {
	if d.DataType().ID() == arrow.BOOL {
		return false // bitmaps of parts are joined on the host
	}
	for i, b := range buffersOf(d) {
		if i > 0 && len(b) > 0 {
			if _, ok := w.on(b); !ok {
				return false
			}
		}
	}
	return !slices.ContainsFunc(d.Children(), func(child arrow.ArrayData) bool { return !w.has(child) })
}

// copied queues copies of the buffers of an array that the device has, and appends its nodes. Without
// room it returns nil, and the table keeps no further columns of this parse.
func (w *Writer) copied(to []Node, d arrow.ArrayData) ([]Node, error) {
	n := Node{Length: d.Len(), Nulls: d.NullN()}
	for i, b := range buffersOf(d) {
		if i == 0 {
			n.Valid, n.Buffers = slices.Clone(b), append(n.Buffers, Place{})
			continue
		}
		at, err := w.t.take(w.dev, int64(len(b)))
		if err != nil {
			w.t.stop()
			return nil, nil
		}
		if from, ok := w.on(b); ok && len(b) > 0 {
			if err := gpu.Copy(w.s, w.t.memory(at), from); err != nil {
				return nil, err
			}
		}
		n.Buffers = append(n.Buffers, at)
	}
	to = append(to, n)
	for _, child := range d.Children() {
		var err error
		if to, err = w.copied(to, child); err != nil || to == nil {
			return nil, err
		}
	}
	return to, nil
}

// buffersOf returns an array's buffers, the validity first. An array of nulls has none.
func buffersOf(d arrow.ArrayData) (out [][]byte) {
	if d.DataType().ID() == arrow.NULL {
		return nil
	}
	for _, b := range d.Buffers() {
		if b == nil {
			out = append(out, nil)
			continue
		}
		out = append(out, b.Bytes())
	}
	return out
}
