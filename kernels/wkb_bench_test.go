package kernels_test

import (
	"bytes"

	"github.com/vibeflight/vibeflight/kernels"
)

// equalShapes are so many polygons of a ring, each of so many positions, all 0.
func equalShapes(r *rig, rows, positions int) kernels.WKBShapes {
	kinds, offsets, places := make([]kernels.GeometryKind, rows), make([]int64, rows+1), make([]int64, rows+1)
	for i := range kinds {
		kinds[i] = kernels.GeometryKind(kernels.KindPolygon)
		offsets[i+1], places[i+1] = int64(i+1), int64((i+1)*positions)
	}
	each, xy := upload(r, offsets), upload(r, make([]float64, rows*positions))
	return kernels.WKBShapes{Kinds: upload(r, kinds), At: kernels.RingOffsets{
		Spans: each, Parts: each,
		Rings: upload(r, places),
	}, X: xy, Y: xy}
}

// wkbOf prepares the WKB of such polygons.
func wkbOf(r *rig, rows, positions int) measured {
	shapes, offsets, narrow := equalShapes(r, rows, positions), poisoned[int64](r, rows+1), poisoned[int32](r, rows+1)
	bytes := rows * (13 + 16*positions)
	out, facts := poisoned[byte](r, bytes), poisoned[kernels.RingFact](r, 1)
	return measured{launch: func() error {
		x, err := r.k.MeasureWKB(r.s, shapes, offsets, narrow)
		if err != nil {
			return err
		}
		if err := r.k.WriteWKB(r.s, x, out, facts); err != nil {
			return err
		}
		return x.Free(r.s)
	}, moved: int64(bytes) + 16*int64(rows*positions) + 37*int64(rows), items: int64(bytes)}
}

// dimsOf prepares the dimensions of such polygons, all with a third ordinate.
func dimsOf(r *rig, rows, positions int) measured {
	shapes, report := equalShapes(r, rows, positions), poisoned[kernels.GeometryReport](r, 1)
	return measured{launch: func() error {
		return r.k.GeometryDims(r.s, shapes.X, shapes.Y, shapes.At.Rings, shapes.Kinds, report)
	}, moved: 16*int64(rows*positions) + 10*int64(rows), items: int64(rows * positions)}
}

// arraysOf prepares the elements of arrays of so many bytes.
func arraysOf(r *rig, arrays, length int) measured {
	starts, ends := make([]int64, arrays), make([]int64, arrays)
	for i := range starts {
		starts[i], ends[i] = int64(i*length), int64((i+1)*length)
	}
	text, from, to := upload(r, bytes.Repeat([]byte{'x'}, arrays*length)), upload(r, starts), upload(r, ends)
	firsts, offsets, out := poisoned[int64](r, arrays), poisoned[int64](r, arrays+1),
		poisoned[byte](r, arrays*(length-1))
	return measured{launch: func() error {
		if err := r.k.MeasureArrays(r.s, text, from, to, firsts, offsets); err != nil {
			return err
		}
		return r.k.JoinArrays(r.s, text, firsts, offsets, out)
	}, moved: int64(arrays * (2*length + 40)), items: int64(arrays * length)}
}
