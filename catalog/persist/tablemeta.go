package persist

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Meta describes a table that is not in the cache any more, so that its rows can be given while the
// file, or a part of it, is parsed again. The store has it as JSON.
type Meta struct {
	readers.Shape
	// of each batch in the file; empty if rows were left out, or their places are not known
	Spans []readers.Span `json:"spans,omitempty"`
	// bounding box of each batch: four float64, little-endian, because JSON has no infinities
	Boxes []byte `json:"boxes,omitempty"`

	Outline *Outline `json:"outline,omitempty"` // nil if an older version stored it

	BBox *[4]float64  `json:"-"`
	key  cachedir.Key // of the table in the cache
}

// Record is the store's record of a file. Any number of jobs share it. Without a store it has only
// the key, and the file's identity and format.
type Record struct {
	store.Record
	columns readers.Projection // that were read; all of them for the store

	once sync.Once
	meta *Meta // with a store set by once; nil: not known
}

// Meta returns the description of the table of the job's file, or nil if it is not known. r is the
// file's record.
func (a *Archive) Meta(j job.Job, r *Record) *Meta {
	switch {
	case r == nil || r.Identity != j.Entry.Identity:
		return nil
	case !a.OnDisk():
		return r.meta
	}
	key := a.tableKey(j, source.Digest(r.Content))
	a.keys.add(j, key)
	return r.decode(key, a.limits)
}

// Has reports whether the described table is in the folder.
func (a *Archive) Has(k *Meta) bool { return a.OnDisk() && a.has(k.key) }

// decode returns the stored description of the table with a key, or nil if it exceeds the limits.
func (r *Record) decode(key cachedir.Key, limits readers.Limits) *Meta {
	r.once.Do(func() {
		k := &Meta{BBox: r.BBox, key: key}
		if err := json.Unmarshal(r.Shape, k); err != nil || !k.Fits(limits) {
			return
		}
		if !k.Outline.fits(&k.Shape) {
			k.Outline = nil
		}
		r.meta = k
	})
	return r.meta
}

// BoxBytes is the size of a bounding box in a record: four float64, little-endian.
const BoxBytes = 4 * 8

// metaOf returns the description of a table that was just parsed.
func metaOf(t *readers.Table, limits readers.Limits) *Meta {
	k := &Meta{Shape: t.Shape(limits), Outline: outlineOf(t)}
	n := len(t.Batches)
	if len(t.Boxes) != n {
		return k
	}
	for _, box := range t.Boxes {
		k.Boxes = AppendBox(k.Boxes, box)
	}
	outside := func(s readers.Span) bool { return !s.Inside }
	if t.Summary.Skipped.Count == 0 && len(t.Spans) == n && !slices.ContainsFunc(t.Spans, outside) {
		k.Spans = slices.Clone(t.Spans)
	}
	return k
}

// AppendBox appends a bounding box.
func AppendBox(b []byte, box readers.Box) []byte {
	for _, v := range box {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// BoxAt returns bounding box i of those that were appended.
func BoxAt(b []byte, i int) (box readers.Box) {
	for k := range box {
		box[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[BoxBytes*i+8*k:]))
	}
	return box
}

// BatchBoxes returns the bounding boxes of the batches, or nil if they are not known.
func (k *Meta) BatchBoxes() []readers.Box {
	n := len(k.Starts) - 1
	if len(k.Boxes) != BoxBytes*n {
		return nil
	}
	all := make([]readers.Box, n)
	for i := range all {
		all[i] = BoxAt(k.Boxes, i)
	}
	return all
}
