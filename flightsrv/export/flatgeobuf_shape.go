package export

import (
	"math"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// flatShape writes geometries of one dimension. An ordinate that a geometry lacks is NaN. So are
// all ordinates of an empty Point.
type flatShape struct {
	b   *flatbuffers.Builder
	dim geoarrow.Dim
}

func (s flatShape) add(t geoarrow.Tree) flatbuffers.UOffsetT {
	switch t.Kind {
	case geoarrow.MultiPolygon, geoarrow.GeometryCollection:
		return s.parts(t)
	case geoarrow.MultiPoint, geoarrow.MultiLineString: // their members are runs here
		for i := range t.Members {
			t.Runs = append(t.Runs, runsOf(t.Members[i])...)
		}
	}
	return s.runs(t.Kind, t.Dim, runsOf(t))
}

// runsOf returns the runs of a geometry. An empty Point has one.
func runsOf(t geoarrow.Tree) [][]float64 {
	if t.Kind != geoarrow.Point || len(t.Runs) > 0 {
		return t.Runs
	}
	empty := make([]float64, t.Dim.Size())
	for i := range empty {
		empty[i] = math.NaN()
	}
	return [][]float64{empty}
}

func (s flatShape) parts(t geoarrow.Tree) flatbuffers.UOffsetT {
	parts := make([]flatbuffers.UOffsetT, len(t.Members))
	for i := range parts {
		parts[i] = s.add(t.Members[i])
	}
	flat.GeometryStartPartsVector(s.b, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		s.b.PrependUOffsetT(parts[i])
	}
	vector := s.b.EndVector(len(parts))
	flat.GeometryStart(s.b)
	flat.GeometryAddType(s.b, flat.GeometryType(t.Kind)) // numbered as in WKB
	flat.GeometryAddParts(s.b, vector)
	return flat.GeometryEnd(s.b)
}

func (s flatShape) runs(k geoarrow.Kind, d geoarrow.Dim, runs [][]float64) flatbuffers.UOffsetT {
	positions := 0
	var ends []uint32
	for _, run := range runs {
		positions += len(run) / d.Size()
		ends = append(ends, uint32(positions))
	}
	var endsAt, z, m flatbuffers.UOffsetT
	// one is the default, and is omitted
	if (k == geoarrow.Polygon || k == geoarrow.MultiLineString) && len(ends) != 1 {
		flat.GeometryStartEndsVector(s.b, len(ends))
		for i := len(ends) - 1; i >= 0; i-- {
			s.b.PrependUint32(ends[i])
		}
		endsAt = s.b.EndVector(len(ends))
	}
	xy := s.ordinates(runs, positions, d.Size(), 0, 1)
	if s.dim&geoarrow.HasZ != 0 {
		z = s.ordinates(runs, positions, d.Size(), ordinateOf(d, geoarrow.HasZ))
	}
	if s.dim&geoarrow.HasM != 0 {
		m = s.ordinates(runs, positions, d.Size(), ordinateOf(d, geoarrow.HasM))
	}
	flat.GeometryStart(s.b)
	flat.GeometryAddEnds(s.b, endsAt)
	flat.GeometryAddXy(s.b, xy)
	flat.GeometryAddZ(s.b, z)
	flat.GeometryAddM(s.b, m)
	flat.GeometryAddType(s.b, flat.GeometryType(k))
	return flat.GeometryEnd(s.b)
}

// ordinates writes the given ordinates of all positions of the given size; -1 is NaN. A flatbuffer
// is written from its end.
func (s flatShape) ordinates(runs [][]float64, positions, size int, which ...int) flatbuffers.UOffsetT {
	s.b.StartVector(8, positions*len(which), 8)
	for r := len(runs) - 1; r >= 0; r-- {
		for i := len(runs[r]) - size; i >= 0; i -= size {
			for k := len(which) - 1; k >= 0; k-- {
				v := math.NaN()
				if which[k] >= 0 {
					v = runs[r][i+which[k]]
				}
				s.b.PrependFloat64(v)
			}
		}
	}
	return s.b.EndVector(positions * len(which))
}

// ordinateOf is the index of Z or M in a position; -1 if it has none.
func ordinateOf(d, which geoarrow.Dim) int {
	switch {
	case d&which == 0:
		return -1
	case which == geoarrow.HasM && d&geoarrow.HasZ != 0:
		return 3
	}
	return 2
}
