package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// tableMeta is what is kept of a table so that its rows can be given without it: while the file is
// parsed again, or a part of it. The store has it as JSON.
type tableMeta struct {
	readers.Shape
	// where each batch stands in the file; none where rows were left out, or their places are not
	// known
	Spans []readers.Span `json:"spans,omitempty"`
	// of each batch, as its geometries are: four float64, little-endian, which JSON has no
	// infinities for
	Boxes []byte `json:"boxes,omitempty"`

	Outline *outline `json:"outline,omitempty"` // nil in what an older version stored

	bbox *[4]float64
	key  cachedir.Key // of the table in the cache
}

// fileRecord is what the store says of a file, and what known makes of it. Any number of jobs share
// it. Where there is no store it has no more of the record than its key, and the file's identity
// and format.
type fileRecord struct {
	store.Record
	columns readers.Projection // that were read; all of them for the store

	once  sync.Once
	known *tableMeta // set within once, for the store; nil: it is not known
}

// recorded is what is known of the file that a job is about, as far as its format and options go;
// nil: nothing. The file may be another one by now.
func (c *Catalog) recorded(ctx context.Context, j job) *fileRecord {
	switch {
	case j.recorded != nil:
		return j.recorded
	case c.archive == nil:
		return c.recent.of(j)
	}
	return c.archive.recorded(ctx, j)
}

// known is what is known of the table that the file gives, if the file is the one that was parsed;
// else nil.
func (c *Catalog) known(j job, r *fileRecord) *tableMeta {
	switch {
	case r == nil || r.Identity != j.entry.Identity:
		return nil
	case c.archive == nil:
		return r.known
	}
	return r.know(c.archive.tableKey(j, source.Digest(r.Content)), c.archive.limits)
}

// lies reports whether a table that is known lies in the cache.
func (c *Catalog) lies(k *tableMeta) bool { return c.archive != nil && c.archive.has(k.key) }

// know gives what is known of the table, which has a key in the cache; nil: nothing that fits the
// limits.
func (r *fileRecord) know(key cachedir.Key, limits readers.Limits) *tableMeta {
	r.once.Do(func() {
		k := &tableMeta{bbox: r.BBox, key: key}
		if err := json.Unmarshal(r.Shape, k); err != nil || !k.Fits(limits) {
			return
		}
		if !k.Outline.fits(&k.Shape) {
			k.Outline = nil
		}
		r.known = k
	})
	return r.known
}

// boxBytes is the size of a box.
const boxBytes = 4 * 8

// knownOf is what is kept of a table that was just parsed.
func knownOf(t *readers.Table, limits readers.Limits) *tableMeta {
	k := &tableMeta{Shape: t.Shape(limits), Outline: outlineOf(t)}
	if n := len(t.Batches); t.Summary.Skipped.Count > 0 || len(t.Spans) != n || len(t.Boxes) != n {
		return k
	}
	for i, span := range t.Spans {
		if !span.Inside {
			return &tableMeta{Shape: k.Shape, Outline: k.Outline}
		}
		k.Spans = append(k.Spans, span)
		for _, v := range t.Boxes[i] {
			k.Boxes = binary.LittleEndian.AppendUint64(k.Boxes, math.Float64bits(v))
		}
	}
	return k
}

// boxes are those of the batches, or nil.
func (k *tableMeta) boxes() []readers.Box {
	n := len(k.Starts) - 1
	if len(k.Spans) != n || len(k.Boxes) != boxBytes*n {
		return nil
	}
	all := make([]readers.Box, n)
	for i := range all {
		for j := range all[i] {
			all[i][j] = math.Float64frombits(binary.LittleEndian.Uint64(k.Boxes[boxBytes*i+8*j:]))
		}
	}
	return all
}
