package project

import "math"

// ellipsoid is a figure of the earth.
type ellipsoid struct{ axis, inverseFlattening float64 }

var (
	wgs84 = ellipsoid{6378137, 298.257223563}
	grs80 = ellipsoid{6378137, 298.257222101}
)

// radians is a degree, as PROJ has it.
const radians = 0.017453292519943296

// Places of the parameters of a step, as in internal/generate.
const (
	unit = iota
	origin
	axis
	east
	north
	scale
	offset
	geo
	series = geo + 6
	count  = series + 6
)

// Params are the parameters of a step.
type Params [count]float64

// angles sets the unit of a step's angles: degrees, or radians between two steps.
func (p Params) angles(degrees, inverse bool) Params {
	switch {
	case !degrees:
		p[unit] = 1
	case inverse:
		p[unit] = 1 / radians
	default:
		p[unit] = radians
	}
	return p
}

// mercator returns the parameters of Web Mercator, whose formulas are those of a sphere.
func mercator(inverse bool) Params {
	p := Params{axis: wgs84.axis}
	if inverse {
		p[axis] = 1 / p[axis]
	}
	return p
}

// utm returns the parameters of a zone of UTM, from 1 to 60.
func utm(e ellipsoid, zone int, south, inverse bool) Params {
	p := Params{axis: e.axis, east: 500000, origin: (float64(zone-1)+0.5)*math.Pi/30 - math.Pi}
	if south {
		p[north] = 1e7
	}
	n := 1 / (2*e.inverseFlattening - 1) // the third flattening
	const k0 = 0.9996
	p[scale] = k0 / (1 + n) * (1 + n*n*(1/4.0+n*n*(1/64.0+n*n/256.0)))
	p[offset] = math.Copysign(0, -1)
	latitudes, positions := &toGauss, &toEllipsoid
	if inverse {
		p[axis] = 1 / p[axis]
		latitudes, positions = &fromGauss, &toSphere
	}
	for i := range 6 {
		p[geo+i], p[series+i] = latitudes.at(i, n), positions.at(i, n)
	}
	return p
}

// triangle has the coefficients of a series in n: row i begins with the power i+1.
type triangle [6][]float64

// at returns coefficient i for a third flattening.
func (t *triangle) at(i int, n float64) float64 {
	sum := 0.0
	for k := len(t[i]) - 1; k >= 0; k-- {
		sum = t[i][k] + float64(n*sum)
	}
	for range i + 1 {
		sum *= n
	}
	return sum
}

// The series of K. Engsager and K. Poder, "A highly accurate world wide algorithm for the transverse
// Mercator mapping (almost)", ICC 2007, after R. König and K. H. Weise, Mathematische Grundlagen der
// höheren Geodäsie und Kartographie, 1951, pages 186 to 196.
var (
	// Geodetic latitudes to Gaussian ones.
	toGauss = triangle{
		{-2, 2 / 3., 4 / 3., -82 / 45., 32 / 45., 4642 / 4725.},
		{5 / 3., -16 / 15., -13 / 9., 904 / 315., -1522 / 945.},
		{-26 / 15., 34 / 21., 8 / 5., -12686 / 2835.},
		{1237 / 630., -12 / 5., -24832 / 14175.},
		{-734 / 315., 109598 / 31185.},
		{444337 / 155925.},
	}
	// Gaussian latitudes to geodetic ones.
	fromGauss = triangle{
		{2, -2 / 3., -2, 116 / 45., 26 / 45., -2854 / 675.},
		{7 / 3., -8 / 5., -227 / 45., 2704 / 315., 2323 / 945.},
		{56 / 15., -136 / 35., -1262 / 105., 73814 / 2835.},
		{4279 / 630., -332 / 35., -399572 / 14175.},
		{4174 / 315., -144838 / 6237.},
		{601676 / 22275.},
	}
	// The transverse Mercator projection of the sphere to that of the ellipsoid.
	toEllipsoid = triangle{
		{0.5, -2 / 3., 5 / 16., 41 / 180., -127 / 288., 7891 / 37800.},
		{13 / 48., -3 / 5., 557 / 1440., 281 / 630., -1983433 / 1935360.},
		{61 / 240., -103 / 140., 15061 / 26880., 167603 / 181440.},
		{49561 / 161280., -179 / 168., 6601661 / 7257600.},
		{34729 / 80640., -3418889 / 1995840.},
		{212378941 / 319334400.},
	}
	// That of the ellipsoid to that of the sphere.
	toSphere = triangle{
		{-0.5, 2 / 3., -37 / 96., 1 / 360., 81 / 512., -96199 / 604800.},
		{-1 / 48., -1 / 15., 437 / 1440., -46 / 105., 1118711 / 3870720.},
		{-17 / 480., 37 / 840., 209 / 4480., -5569 / 90720.},
		{-4397 / 161280., 11 / 504., 830251 / 7257600.},
		{-4583 / 161280., 108847 / 3991680.},
		{-20648693 / 638668800.},
	}
)
