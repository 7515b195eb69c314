// Package project transforms positions between longitude and latitude, Web Mercator and UTM.
//
// Positions have the easting or longitude first. Results are those of PROJ in nearly all bits: the
// steps are in the order of PROJ's, with functions whose error is about 0.51 units in the last place.
// They are the same on every processor and on GPUs, since internal/generate writes them for each from
// one description of IEEE operations.
//
// Only systems of one datum are transformed, and ETRS89 to and from WGS 84, which PROJ takes to be
// equal. PROJ is needed for all others.
package project

import (
	"iter"
	"math"
	"runtime"
	"strconv"
	"sync"

	"github.com/vibeflight/vibeflight/readers/crs"
)

//go:generate go run -pgo=off ./internal/generate ../../..

// step is a projection or its inverse.
type step struct {
	kind    Kind
	params  Params
	forward bool
}

// Kind is a projection or its inverse.
type Kind uint8

// The kinds of steps.
const (
	ToMercator Kind = iota
	FromMercator
	ToTransverse
	FromTransverse
)

var scalars = [...]func(x, y float64, p *Params) (_, _ float64){
	ToMercator: mercatorForward, FromMercator: mercatorInverse,
	ToTransverse: transverseForward, FromTransverse: transverseInverse,
}

// Transformation transforms positions from one system to another. It is immutable.
type Transformation struct {
	steps []step
}

// datum is a datum whose systems are known.
type datum uint8

const (
	noDatum datum = iota
	worldGeodetic
	european
	northAmerican
)

// system is a coordinate reference system that the package knows.
type system struct {
	datum datum
	// zone is that of UTM, webMercator, or 0 for longitude and latitude.
	zone  int
	south bool
}

const webMercator = -1

// systemOf returns what the package knows of a system.
func systemOf(id crs.ID) system {
	switch id.String() {
	case "OGC:CRS84", "OGC:CRS84h", "EPSG:4326", "EPSG:4979":
		return system{datum: worldGeodetic}
	case "EPSG:4258", "EPSG:4937":
		return system{datum: european}
	case "EPSG:4269":
		return system{datum: northAmerican}
	case "EPSG:3857":
		return system{datum: worldGeodetic, zone: webMercator}
	}
	code, err := strconv.Atoi(id.Code)
	if err != nil || id.Authority != "EPSG" {
		return system{}
	}
	for _, s := range []struct {
		datum    datum
		from, to int
		first    int // zone of from
		south    bool
	}{
		{worldGeodetic, 32601, 32660, 1, false},
		{worldGeodetic, 32701, 32760, 1, true},
		{european, 25828, 25838, 28, false},
		{northAmerican, 26901, 26923, 1, false},
	} {
		if code >= s.from && code <= s.to {
			return system{s.datum, s.first + code - s.from, s.south}
		}
	}
	return system{}
}

func (d datum) ellipsoid() ellipsoid {
	if d == worldGeodetic {
		return wgs84
	}
	return grs80
}

// Between returns the transformation between two systems; ok is false if it needs PROJ.
func Between(from, to crs.ID) (t *Transformation, ok bool) {
	a, b := systemOf(from), systemOf(to)
	switch {
	case a.datum == noDatum || b.datum == noDatum,
		a.datum != b.datum && (a.datum == northAmerican || b.datum == northAmerican):
		return nil, false
	case a.zone == b.zone && a.south == b.south && (a.zone <= 0 || a.datum == b.datum):
		return &Transformation{}, true
	}
	t = &Transformation{}
	if a.zone != 0 {
		t.steps = append(t.steps, a.step(false, b.zone == 0))
	}
	if b.zone != 0 {
		t.steps = append(t.steps, b.step(true, a.zone == 0))
	}
	return t, true
}

// step returns the projection of a system, or its inverse.
func (s system) step(forward, degrees bool) step {
	switch {
	case s.zone == webMercator && forward:
		return step{ToMercator, mercator(false).angles(degrees, false), true}
	case s.zone == webMercator:
		return step{FromMercator, mercator(true).angles(degrees, true), false}
	case forward:
		return step{ToTransverse, utm(s.datum.ellipsoid(), s.zone, s.south, false).angles(degrees, false), true}
	}
	return step{FromTransverse, utm(s.datum.ellipsoid(), s.zone, s.south, true).angles(degrees, true), false}
}

// Steps returns the kinds of the steps and their parameters, for the kernels of GPUs.
func (t *Transformation) Steps() iter.Seq2[Kind, Params] {
	return func(yield func(Kind, Params) bool) {
		for i := range t.steps {
			if !yield(t.steps[i].kind, t.steps[i].params) {
				return
			}
		}
	}
}

// IsIdentity reports that positions stay as they are.
func (t *Transformation) IsIdentity() bool { return len(t.steps) == 0 }

// workerPositions is the least number of positions that one more goroutine transforms.
const workerPositions = 16 << 10

// ApplyAll is Apply on several cores, without the place of a position that has no image.
func (t *Transformation) ApplyAll(x, y, toX, toY []float64) {
	workers := min(runtime.GOMAXPROCS(0), 1+len(x)/workerPositions)
	size := (len(x) + workers - 1) / workers
	var running sync.WaitGroup
	for from := size; from < len(x); from += size {
		to := min(from+size, len(x))
		running.Go(func() { t.Apply(x[from:to], y[from:to], toX[from:to], toY[from:to]) })
	}
	n := min(size, len(x))
	t.Apply(x[:n], y[:n], toX[:n], toY[:n])
	running.Wait()
}

// blockPositions is the number of positions that all steps are done for at a time.
const blockPositions = 1024

// Apply transforms positions from x and y to toX and toY, which may be the same slices. The result is
// infinite for a position that has none; found is the first of these, or -1. A position with a NaN
// becomes NaN in both ordinates.
func (t *Transformation) Apply(x, y, toX, toY []float64) (found int) {
	found = -1
	for from := 0; from < len(x); from += blockPositions {
		to := min(from+blockPositions, len(x))
		bx, by := toX[from:to], toY[from:to]
		if t.IsIdentity() {
			copy(bx, x[from:to])
			copy(by, y[from:to])
			continue
		}
		sx, sy := x[from:to], y[from:to]
		for i := range t.steps {
			t.steps[i].apply(sx, sy, bx, by)
			sx, sy = bx, by
		}
		if found < 0 {
			found = firstInfinite(bx)
			if found >= 0 {
				found += from
			}
		}
	}
	return found
}

// firstInfinite returns the place of the first infinite number, or -1.
func firstInfinite(x []float64) int {
	for i, v := range x {
		if math.Float64bits(v)<<1 == 0x7ff<<53 {
			return i
		}
	}
	return -1
}

// scalar does a step for each position.
func (s *step) scalar(x, y, toX, toY []float64) {
	f := scalars[s.kind]
	for i := range x {
		toX[i], toY[i] = f(x[i], y[i], &s.params)
	}
}
