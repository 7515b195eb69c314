package main

import "math"

// Parameters of a projection; package project has them as the elements of Params.
const (
	unit   = iota // radians in a unit of angles, or the inverse
	origin        // longitude of the central meridian, in radians
	axis          // semi-major axis, or its inverse
	east          // false easting
	north         // false northing
	scale         // of the meridian's quadrant
	offset        // of the northing
	geo           // six coefficients of the latitude
	series = geo + order
)

// order is that of the series of the transverse Mercator projection.
const order = 6

// longitude brings an angle into -π to π, unless it is nearly there. n is exact as PROJ's floor is.
func (p *program) longitude(a value) value {
	t := p.add(a, p.num(math.Pi))
	q := p.mul(t, p.num(1/(2*math.Pi)))
	n := p.sub(p.add(q, p.num(magic)), p.num(magic))
	n = p.choose(p.less(q, n), p.sub(n, p.num(1)), n)
	t = p.sub(p.sub(t, p.mul(p.num(2*math.Pi), n)), p.num(math.Pi))
	return p.choose(p.less(p.abs(a), p.num(math.Pi+1e-12)), a, t)
}

// forward returns longitude and latitude in radians, the longitude from the central meridian. ok is
// for positions on the earth.
func (p *program) forward() (lam, phi, lamOK, phiOK value) {
	lam = p.mul(p.emit(opX), p.param(unit))
	phi = p.mul(p.emit(opY), p.param(unit))
	a := p.abs(phi)
	phiOK = p.sub(a, p.num(math.Pi/2))
	phi = p.withSign(p.choose(p.less(a, p.num(math.Pi/2)), a, p.num(math.Pi/2)), phi)
	return p.longitude(p.sub(lam, p.param(origin))), phi, p.abs(lam), phiOK
}

// inverse returns easting and northing in units of the semi-major axis.
func (p *program) inverse() (x, y value) {
	x = p.mul(p.sub(p.emit(opX), p.param(east)), p.param(axis))
	return x, p.mul(p.sub(p.emit(opY), p.param(north)), p.param(axis))
}

// metres is the result of a forward projection, in units of the semi-major axis.
func (p *program) metres(x, y value) (_, _ value) {
	return p.add(p.mul(p.param(axis), x), p.param(east)), p.add(p.mul(p.param(axis), y), p.param(north))
}

// angles is the result of an inverse projection, in radians from the central meridian.
func (p *program) angles(lam, phi value) (_, _ value) {
	return p.mul(p.longitude(p.add(lam, p.param(origin))), p.param(unit)), p.mul(phi, p.param(unit))
}

// results sets the results: infinite where a is not at most limit for a pair of limits, NaN where the
// position has NaN.
func (p *program) results(x, y value, limits ...[2]value) {
	for _, l := range limits {
		ok := p.leq(l[0], l[1])
		x, y = p.choose(ok, x, p.num(math.Inf(1))), p.choose(ok, y, p.num(math.Inf(1)))
	}
	nan := p.nan(p.emit(opX), p.emit(opY))
	p.x, p.y = p.choose(nan, p.bits(nanBits), x), p.choose(nan, p.bits(nanBits), y)
}

// nanBits are those of the only NaN in tables.
const nanBits = 0x7ff8000000000000

// Limits of PROJ: of longitudes, of latitudes beyond a pole by rounding, and of the transverse
// Mercator projection, whose series ends there.
const (
	maxLongitude = 10
	maxBeyond    = 1e-12
	maxTurn      = 2.623395162778
)

// maxInverse bounds eastings and northings in units of the axis: beyond, a longitude has no meaning.
const maxInverse = 1e6

// mercatorForward is the sphere's Mercator projection.
func mercatorForward(p *program) {
	lam, phi, lamOK, phiOK := p.forward()
	x, y := p.metres(lam, p.asinh(p.tan(phi), true))
	p.results(x, y, [2]value{lamOK, p.num(maxLongitude)}, [2]value{phiOK, p.num(maxBeyond)})
}

func mercatorInverse(p *program) {
	x, y := p.inverse()
	lam, phi := p.angles(x, p.atan2(p.sinh(y), p.num(1), true))
	p.results(lam, phi, [2]value{p.abs(x), p.num(maxInverse)}, [2]value{p.abs(y), p.num(math.MaxFloat64)})
}

// latitude adds a series in sines of twice the latitude.
func (p *program) latitude(phi, cos2, sin2 value) value {
	two := p.add(cos2, cos2)
	h1, h2 := p.param(geo+order-1), p.num(0)
	h := h1
	for i := order - 2; i >= 0; i-- {
		c := p.param(geo + i)
		if i < order-2 {
			c = p.sub(c, h2)
		}
		h = p.fma(two, h1, c)
		h2, h1 = h1, h
	}
	return p.fma(h, sin2, phi)
}

// clenshaw is the sum of a series in sines of the complex argument, by Clenshaw's recurrence.
func (p *program) clenshaw(sinR, cosR, sinhI, coshI value) (real, imaginary value) {
	two := p.add(cosR, cosR)
	r := p.mul(two, coshI)
	two = p.add(sinR, sinR)
	i := p.mul(two, sinhI) // negated
	hr, hi := p.param(series+order-1), p.num(0)
	var hr1, hi1, hr2, hi2 value
	for k := order - 2; k >= 0; k-- {
		hr2, hi2, hr1, hi1 = hr1, hi1, hr, hi
		c := p.param(series + k)
		switch k {
		case order - 2:
			hr, hi = p.fma(r, hr1, c), p.sub(p.num(0), p.mul(i, hr1))
		case order - 3:
			hr = p.fma(i, hi1, p.fma(r, hr1, p.sub(c, hr2)))
			hi = p.fnma(i, hr1, p.mul(r, hi1))
		default:
			hr = p.fma(i, hi1, p.fma(r, hr1, p.sub(c, hr2)))
			hi = p.fnma(i, hr1, p.fms(r, hi1, hi2))
		}
	}
	r, i = p.mul(sinR, coshI), p.mul(cosR, sinhI)
	return p.fnma(i, hi, p.mul(r, hr)), p.fma(r, hi, p.mul(i, hr))
}

// transverseForward is the transverse Mercator projection of an ellipsoid by the series of Poder and
// Engsager, in the order of PROJ's steps.
func transverseForward(p *program) {
	lam, phi, lamOK, phiOK := p.forward()
	s, c := p.nearSincos(p.add(phi, phi))
	gauss := p.latitude(phi, c, s)
	sinN, cosN := p.sincos(gauss)
	sinE, cosE := p.sincos(lam)
	cosNE := p.mul(cosN, cosE)
	n := p.atan2(sinN, cosNE, false)
	inverse := p.div(p.num(1), p.hypot(sinN, cosNE))
	tanE := p.mul(p.mul(sinE, cosN), inverse)
	e := p.asinh(tanE, false)
	two := p.add(inverse, inverse)
	square := p.mul(two, inverse)
	t := p.mul(cosNE, square)
	dn, de := p.clenshaw(p.mul(sinN, t), p.fms(cosNE, t, p.num(1)), p.mul(tanE, two), p.sub(square, p.num(1)))
	n, e = p.add(n, dn), p.add(e, de)
	x, y := p.metres(p.mul(p.param(scale), e), p.add(p.mul(p.param(scale), n), p.param(offset)))
	p.results(x, y, [2]value{p.abs(e), p.num(maxTurn)}, [2]value{lamOK, p.num(maxLongitude)},
		[2]value{phiOK, p.num(maxBeyond)})
}

func transverseInverse(p *program) {
	x, y := p.inverse()
	n, e := p.div(p.sub(y, p.param(offset)), p.param(scale)), p.div(x, p.param(scale))
	turn, far := p.abs(e), p.abs(y)
	s, c := p.nearSincos(p.add(n, n))
	sinh, cosh := p.nearSinhCosh(p.add(e, e))
	dn, de := p.clenshaw(s, c, sinh, cosh)
	n, e = p.add(n, dn), p.add(e, de)
	sinN, cosN := p.sincos(n)
	sinhE := p.sinh(e)
	lam := p.atan2(sinhE, cosN, false)
	length := p.hypot(sinhE, cosN)
	gauss := p.atan2(sinN, length, true)
	t := p.div(p.add(length, length), p.fma(sinhE, sinhE, p.num(1)))
	phi := p.latitude(gauss, p.fms(t, length, p.num(1)), p.mul(sinN, t))
	lam, phi = p.angles(lam, phi)
	p.results(lam, phi, [2]value{turn, p.num(maxTurn)}, [2]value{far, p.num(maxInverse)})
}
