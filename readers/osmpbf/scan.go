package osmpbf

import (
	"cmp"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
)

// blobContents is what the scan finds in a blob.
type blobContents struct {
	kinds   kinds
	nodes   nodeRun
	members []int64
	outside int64 // nodes that are not on Earth
}

// scan reads the nodes into the index, finds the members of the layer's relations, and which blob
// has what.
func (r *run) scan() error {
	err := each(r, r.frames(), (*worker).scan, func(b blob, s *blobContents) error {
		if b.kinds = s.kinds; b.kinds != 0 {
			r.blobs = append(r.blobs, b)
		}
		r.members = append(r.members, s.members...)
		for range s.outside {
			r.out.sum.Deviations.Add(readers.Deviation{
				Offset: b.at, Field: "geometry", Rule: rulePosition,
				Done: "node is left out",
			})
		}
		defer r.contents.Put(s)
		return r.nodes.add(&s.nodes)
	})
	if err != nil {
		return err
	}
	slices.Sort(r.members)
	r.members = slices.Compact(r.members)
	return r.nodes.end(&r.limits)
}

// scan reads the nodes and relations of a blob.
func (w *worker) scan(f blob, put func(*blobContents) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	found, _ := w.contents.Get().(*blobContents)
	if found == nil {
		found = &blobContents{}
	}
	found.members, found.outside = nil, 0
	w.places = w.places[:0]
	var failed error
	kinds, bad := w.block.each(func(field int, s span) (bad *fault) {
		switch field {
		case groupDense:
			if bad = w.dense.read(&w.block, s, false); bad != nil {
				return bad
			}
			d := &w.dense
			w.places = slices.Grow(w.places, len(d.ids))
			for i := range d.ids {
				w.place(found, int64(d.ids[i]), int64(d.lons[i]), int64(d.lats[i]))
			}
		case groupNodes:
			if bad = w.objects.node(&w.block, s); bad == nil {
				w.place(found, w.objects.id, w.objects.lon, w.objects.lat)
			}
		case groupRelations:
			if w.layer.number == lines {
				return nil
			}
			if bad = w.objects.relation(&w.block, s); bad == nil && w.ofLayer() {
				found.members = w.appendWays(found.members)
			}
		}
		if found.outside > 0 && !w.layout.Options.NullErrors() && !w.layout.Options.SkipErrors() {
			e := blockError(w.src, f.frame, &fault{at: s.from, field: "geometry", err: errPosition})
			e.Mode, failed = "null", e
			return &fault{err: e}
		}
		return bad
	})
	switch {
	case failed != nil:
		return failed
	case bad != nil:
		return blockError(w.src, f.frame, bad)
	}
	found.kinds = kinds
	found.nodes.encode(w.places)
	slices.SortFunc(found.members, cmp.Compare[int64])
	found.members = slices.Clip(slices.Compact(found.members))
	return put(found)
}

// place adds a node, given its coordinates in units of the block.
func (w *worker) place(found *blobContents, id, lon, lat int64) {
	if w.granularity == 100 && w.block.lat == 0 && w.block.lon == 0 {
		const most = 1e7
		if lon < -180*most || lon > 180*most || lat < -90*most || lat > 90*most {
			found.outside++
			return
		}
		w.places = append(w.places, place{id, location{int32(lon), int32(lat)}})
		return
	}
	x, y := w.position(w.block.lon, lon), w.position(w.block.lat, lat)
	if !isDegrees(x, y) {
		found.outside++
		return
	}
	w.places = append(w.places, place{id, location{units(x), units(y)}})
}

// units rounds degrees to units of 1e-7 degrees, as GDAL does.
func units(degrees float64) int32 { return int32(math.Floor(float64(degrees*1e7) + 0.5)) }
