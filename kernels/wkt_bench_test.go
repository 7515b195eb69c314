package kernels_test

import (
	"bytes"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// wktPolygons is a text of polygons, one a line.
func wktPolygons(rows, positions int) []byte {
	return bytes.Repeat([]byte("POLYGON ((-81.4154211 29.5651491"+strings.Repeat(", -81.4154211 29.5651491",
		positions-1)+"))\n"), rows)
}

// wktOf measures ParseWKT, with its wait for the number of rows.
func wktOf(r *rig, rows, positions int) measured {
	r.Helper()
	host := wktPolygons(rows, positions)
	text := upload(r, host)
	return measured{launch: func() error {
		x, err := r.k.ParseWKT(r.s, text, kernels.WKTLines)
		if err != nil {
			return err
		}
		return x.Free(r.s)
	}, moved: int64(len(host))*28/8 + 49*int64(rows), items: int64(len(host))}
}

// wktPositionsOf measures ParsePositions.
func wktPositionsOf(r *rig, rows, positions int) measured {
	r.Helper()
	host := wktPolygons(rows, positions)
	text, n := upload(r, host), rows*positions
	at := make([]int64, 0, n)
	for i := range host {
		if i > 1 && (host[i-1] == '(' && host[i] != '(' || host[i-2] == ',') {
			at = append(at, int64(i))
		}
	}
	to := kernels.Ordinates{
		X: poisoned[float64](r, n), Y: poisoned[float64](r, n),
		Undecided: poisoned[uint64](r, kernels.Words(n)), Found: poisoned[kernels.PositionsFound](r, 1),
	}
	places := upload(r, at)
	return measured{launch: func() error {
		return r.k.ParsePositions(r.s, text, nil, places, kernels.PositionWKT, to)
	}, moved: int64(len(host) + 24*n), items: 2 * int64(n)}
}

// taggedOf measures TaggedDims of lines of three ordinates.
func taggedOf(r *rig, rows, positions int) measured {
	r.Helper()
	n := rows * positions
	x, m := upload(r, make([]float64, n)), poisoned[float64](r, n)
	r.ok(gpu.Fill(r.s, m, 0xff)) // NaN
	first, kinds := make([]int64, rows+1), slices.Repeat([]kernels.GeometryKind{2}, rows)
	for i := range first {
		first[i] = int64(i * positions)
	}
	firstDev, tags, report := upload(r, first), upload(r, make([]kernels.TagDims, rows)),
		poisoned[kernels.GeometryReport](r, 1)
	kindsDev := upload(r, kinds)
	return measured{launch: func() error {
		return r.k.TaggedDims(r.s, x, x, m, firstDev, tags, kindsDev, report)
	}, moved: 24*int64(n) + 14*int64(rows), items: int64(n)}
}
