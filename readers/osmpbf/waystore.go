package osmpbf

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// wayStore holds the lines of the ways that relations have.
//
//	way  length (4), flags, number of tags, { length of the key, key, length of the value, value },
//	     number of positions, { longitude, latitude }, of which all but the first are differences
//
// Numbers are varints, those of positions signed.
type wayStore struct {
	spill  spill
	ids    []int64
	starts []int64 // in spill
}

const wayArea = 1 // flag: the way is a polygon by its tags

// appendWay appends a way to dst.
func appendWay(dst []byte, t *texts, area bool, tags []tag, line []location) []byte {
	from := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0)
	if area {
		dst[from+4] = wayArea
	}
	dst = binary.AppendUvarint(dst, uint64(len(tags)))
	for _, g := range tags {
		for _, i := range [...]uint32{g.key, g.value} {
			dst = binary.AppendUvarint(dst, uint64(t.spans[i].len()))
			dst = append(dst, t.bytes(i)...)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(line)))
	var last location
	for _, l := range line {
		dst = binary.AppendVarint(dst, int64(l.lon)-int64(last.lon))
		dst = binary.AppendVarint(dst, int64(l.lat)-int64(last.lat))
		last = l
	}
	binary.LittleEndian.PutUint32(dst[from:], uint32(len(dst)-from))
	return dst
}

// wayRun is the ways of a block of the file, encoded for the store.
type wayRun struct {
	ids    []int64
	starts []int64 // in bytes
	bytes  []byte
}

// add appends the ways that follow in the file.
func (s *wayStore) add(r *wayRun) error {
	for i, id := range r.ids {
		s.ids = append(s.ids, id)
		s.starts = append(s.starts, s.spill.size+r.starts[i])
	}
	return s.spill.append(r.bytes)
}

// end makes the ways readable, in the order of their ids. Of ways of the same id the first counts.
func (s *wayStore) end() error {
	if !slices.IsSortedFunc(s.ids, cmp.Compare[int64]) {
		sort.Stable((*byWay)(s))
	}
	return s.spill.end()
}

type byWay wayStore

func (s *byWay) Len() int           { return len(s.ids) }
func (s *byWay) Less(i, k int) bool { return s.ids[i] < s.ids[k] }
func (s *byWay) Swap(i, k int) {
	s.ids[i], s.ids[k] = s.ids[k], s.ids[i]
	s.starts[i], s.starts[k] = s.starts[k], s.starts[i]
}

// wayReader reads ways of a store, for one goroutine.
type wayReader struct {
	store *wayStore
	buf   []byte
}

// storedWay is a way of the store.
type storedWay struct {
	area bool
	tags []byte // with their number
	line []location
}

// read reads a way, whose line it appends to the given one.
func (r *wayReader) read(id int64, line []location) (w storedWay, ok bool) {
	i, ok := slices.BinarySearch(r.store.ids, id)
	if !ok {
		return w, false
	}
	start := r.store.starts[i]
	var head [4]byte
	r.store.spill.read(head[:], start)
	n := int(binary.LittleEndian.Uint32(head[:]))
	b := r.store.spill.view(start, n)
	if b == nil {
		r.buf = slices.Grow(r.buf[:0], n)[:n]
		r.store.spill.read(r.buf, start)
		b = r.buf
	}
	w.area, w.tags = b[4] == wayArea, b[5:]
	p := w.eachTag(func(_, _ []byte) {})
	b = w.tags[p:]
	count, p := uvarint(b, 0)
	line = slices.Grow(line, int(count))
	var last location
	for range count {
		var lon, lat uint64
		lon, p = uvarint(b, p)
		lat, p = uvarint(b, p)
		last.lon += int32(zigzag(lon))
		last.lat += int32(zigzag(lat))
		line = append(line, last)
	}
	w.line = line
	return w, true
}

// eachTag calls visit with the tags, and returns the index of the positions.
func (w *storedWay) eachTag(visit func(key, value []byte)) int {
	n, p := uvarint(w.tags, 0)
	text := func() []byte {
		var size uint64
		size, p = uvarint(w.tags, p)
		p += int(size)
		return w.tags[p-int(size) : p]
	}
	for range n {
		key := text()
		visit(key, text())
	}
	return p
}
