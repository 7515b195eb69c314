package kernels_test

import (
	"bytes"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

// equalShapes are n polygons of a ring, each of n positions, all 0.
func equalShapes(r *kerneltest.Rig, rows, positions int) kgeom.WKBShapes {
	kinds, offsets, places := make([]kgeom.GeometryKind, rows), make([]int64, rows+1), make([]int64, rows+1)
	for i := range kinds {
		kinds[i] = kgeom.GeometryKind(kgeom.KindPolygon)
		offsets[i+1], places[i+1] = int64(i+1), int64((i+1)*positions)
	}
	each, xy := kerneltest.Upload(r, offsets), kerneltest.Upload(r, make([]float64, rows*positions))
	return kgeom.WKBShapes{Kinds: kerneltest.Upload(r, kinds), At: kgeom.RingOffsets{
		Spans: each, Parts: each,
		Rings: kerneltest.Upload(r, places),
	}, X: xy, Y: xy}
}

// wkbOf prepares the WKB of such polygons.
func wkbOf(r *kerneltest.Rig, rows, positions int) measurement {
	shapes, offsets, narrow := equalShapes(r, rows, positions), kerneltest.Poisoned[int64](r, rows+1),
		kerneltest.Poisoned[int32](r, rows+1)
	bytes := rows * (13 + 16*positions)
	out, facts := kerneltest.Poisoned[byte](r, bytes), kerneltest.Poisoned[kgeom.RingFact](r, 1)
	return measurement{launch: func() error {
		x, err := kgeom.MeasureWKB(r.Set, r.Stream, shapes, offsets, narrow)
		if err != nil {
			return err
		}
		if err := kgeom.WriteWKB(r.Set, r.Stream, x, out, facts); err != nil {
			return err
		}
		return x.Free(r.Stream)
	}, moved: int64(bytes) + 16*int64(rows*positions) + 37*int64(rows), items: int64(bytes)}
}

// dimsOf prepares the dimensions of such polygons, all with a third ordinate.
func dimsOf(r *kerneltest.Rig, rows, positions int) measurement {
	shapes, report := equalShapes(r, rows, positions), kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
	return measurement{launch: func() error {
		return kgeom.GeometryDims(r.Set, r.Stream, shapes.X, shapes.Y, shapes.At.Rings, shapes.Kinds, report)
	}, moved: 16*int64(rows*positions) + 10*int64(rows), items: int64(rows * positions)}
}

// arraysOf prepares the elements of arrays of n bytes.
func arraysOf(r *kerneltest.Rig, arrays, length int) measurement {
	starts, ends := make([]int64, arrays), make([]int64, arrays)
	for i := range starts {
		starts[i], ends[i] = int64(i*length), int64((i+1)*length)
	}
	text, from, to := kerneltest.Upload(r, bytes.Repeat([]byte{'x'}, arrays*length)), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends)
	firsts, offsets, out := kerneltest.Poisoned[int64](r, arrays), kerneltest.Poisoned[int64](r, arrays+1),
		kerneltest.Poisoned[byte](r, arrays*(length-1))
	return measurement{launch: func() error {
		if err := klist.MeasureArrays(r.Set, r.Stream, text, from, to, firsts, offsets); err != nil {
			return err
		}
		return klist.JoinArrays(r.Set, r.Stream, text, firsts, offsets, out)
	}, moved: int64(arrays * (2*length + 40)), items: int64(arrays * length)}
}
