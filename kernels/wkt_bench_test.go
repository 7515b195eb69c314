package kernels_test

import (
	"bytes"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
)

// wktPolygons is a text of polygons, one a line.
func wktPolygons(rows, positions int) []byte {
	return bytes.Repeat([]byte("POLYGON ((-81.4154211 29.5651491"+strings.Repeat(", -81.4154211 29.5651491",
		positions-1)+"))\n"), rows)
}

// wktOf measures ParseWKT, with its wait for the number of rows.
func wktOf(r *kerneltest.Rig, rows, positions int) measurement {
	r.Helper()
	host := wktPolygons(rows, positions)
	text := kerneltest.Upload(r, host)
	return measurement{launch: func() error {
		x, err := kwkt.ParseWKT(r.Set, r.Stream, text, kwkt.WKTLines)
		if err != nil {
			return err
		}
		return x.Free(r.Stream)
	}, moved: int64(len(host))*28/8 + 49*int64(rows), items: int64(len(host))}
}

// wktPositionsOf measures ParsePositions.
func wktPositionsOf(r *kerneltest.Rig, rows, positions int) measurement {
	r.Helper()
	host := wktPolygons(rows, positions)
	text, n := kerneltest.Upload(r, host), rows*positions
	at := make([]int64, 0, n)
	for i := range host {
		if i > 1 && (host[i-1] == '(' && host[i] != '(' || host[i-2] == ',') {
			at = append(at, int64(i))
		}
	}
	to := kgeom.Ordinates{
		X: kerneltest.Poisoned[float64](r, n), Y: kerneltest.Poisoned[float64](r, n),
		Undecided: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
		Found:     kerneltest.Poisoned[kgeom.PositionsFound](r, 1),
	}
	places := kerneltest.Upload(r, at)
	return measurement{launch: func() error {
		return kgeom.ParsePositions(r.Set, r.Stream, text, nil, places, kgeom.PositionWKT, to)
	}, moved: int64(len(host) + 24*n), items: 2 * int64(n)}
}

// taggedOf measures TaggedDims of lines of three ordinates.
func taggedOf(r *kerneltest.Rig, rows, positions int) measurement {
	r.Helper()
	n := rows * positions
	x, m := kerneltest.Upload(r, make([]float64, n)), kerneltest.Poisoned[float64](r, n)
	r.OK(gpu.Fill(r.Stream, m, 0xff)) // NaN
	first, kinds := make([]int64, rows+1), slices.Repeat([]kgeom.GeometryKind{2}, rows)
	for i := range first {
		first[i] = int64(i * positions)
	}
	firstDev, tags, report := kerneltest.Upload(r, first), kerneltest.Upload(r, make([]kwkt.TagDims, rows)),
		kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
	kindsDev := kerneltest.Upload(r, kinds)
	return measurement{launch: func() error {
		return kwkt.TaggedDims(r.Set, r.Stream, x, x, m, firstDev, tags, kindsDev, report)
	}, moved: 24*int64(n) + 14*int64(rows), items: int64(n)}
}
