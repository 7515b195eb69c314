package main

import "math"

// The functions below have an error of about 0.51 units in the last place where a pair is returned
// and rounded. Polynomials are interpolants at Chebyshev nodes of the remainder of each series after
// its first terms.

// Constants as sums of two doubles.
const (
	halfPiHi = math.Pi / 2
	halfPiLo = 6.123233995736766e-17
	piHi     = math.Pi
	piLo     = 1.2246467991473532e-16
	ln2Hi    = 0.693147180559663 // of 41 bits, so that a multiple is exact
	ln2Lo    = 2.8235290563031577e-13
	sixthHi  = -0.16666666666666666
	sixthLo  = -9.25185853854297e-18
)

// magic rounds a small number to an integer when it is added; the integer is in the low bits.
const magic = 3 << 51

// remainder is an angle less a multiple of π/2, at most π/4 in size.
type remainder struct {
	angle   pair
	quarter value // the multiple, in the lowest bits
}

func (p *program) reduce(a value) remainder {
	shifted := p.fma(a, p.num(2/math.Pi), p.num(magic))
	n := p.sub(shifted, p.num(magic))
	r := p.fnma(n, p.num(halfPiHi), a)
	w := p.mul(n, p.num(halfPiLo))
	h := p.sub(r, w)
	return remainder{pair{h, p.sub(p.sub(r, h), w)}, shifted}
}

// sinOf and cosOf are for an angle of at most π/4. The low part of the cosine is up to 0.02.
func (p *program) sinOf(a pair, z pair) pair {
	q := p.sinRest(z.hi)
	c := p.num(sixthHi)
	s := p.fma(z.hi, q, c)
	sl := p.add(p.fma(z.hi, q, p.sub(c, s)), p.num(sixthLo))
	w := p.mul(z.hi, s)
	wl := p.add(p.fms(z.hi, s, w), p.fma(z.hi, sl, p.mul(z.lo, s)))
	v := p.mul(a.hi, w)
	vl := p.fma(a.hi, wl, p.fms(a.hi, w, v))
	r := p.fast(a.hi, v)
	// The derivative for the low part: 1 - z/2.
	low := p.fma(a.lo, p.fnma(z.hi, p.num(0.5), p.num(1)), vl)
	return pair{r.hi, p.add(r.lo, low)}
}

func (p *program) cosOf(a pair, z pair) pair {
	q := p.cosRest(z.hi)
	half := p.mul(z.hi, p.num(0.5))
	h := p.sub(p.num(1), half)
	l := p.sub(p.sub(p.num(1), h), half)
	z2 := p.mul(z.hi, z.hi)
	low := p.fnma(z.lo, p.num(0.5), l)
	low = p.fnma(a.hi, a.lo, low)
	return pair{h, p.fma(z2, q, low)}
}

func (p *program) sinRest(z value) value {
	return p.horner(z, 0.008333333333333333, -0.00019841269841268963, 2.7557319222323764e-06,
		-2.5052107235693167e-08, 1.6058684257431606e-10, -7.595301509942013e-13)
}

func (p *program) cosRest(z value) value {
	return p.horner(z, 0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05,
		-2.7557317270560326e-07, 2.0876146024689747e-09, -1.1382614868556325e-11)
}

// sincos returns the sine and the cosine of an angle.
func (p *program) sincos(a value) (sin, cos value) {
	r := p.reduce(a)
	z := p.square(r.angle.hi)
	return p.turned(r, p.round(p.sinOf(r.angle, z)), p.round(p.cosOf(r.angle, z)))
}

// nearSincos is sincos with an error of up to two units in the last place.
func (p *program) nearSincos(a value) (sin, cos value) {
	r := p.reduce(a)
	h := r.angle.hi
	z := p.mul(h, h)
	s := p.fma(p.mul(h, z), p.fma(z, p.sinRest(z), p.num(sixthHi)), h)
	c := p.fma(p.mul(z, z), p.cosRest(z), p.fnma(z, p.num(0.5), p.num(1)))
	return p.turned(r, s, c)
}

// turned adds the quarter turns that an angle was reduced by.
func (p *program) turned(r remainder, s, c value) (sin, cos value) {
	odd := p.minus(p.shl(r.quarter, 63))
	sin = p.negatedIf(p.choose(odd, c, s), p.shl(r.quarter, 62))
	cos = p.negatedIf(p.choose(odd, s, c), p.shl(p.addInt(r.quarter, p.bits(1)), 62))
	return sin, cos
}

// tan returns the tangent of an angle.
func (p *program) tan(a value) value {
	r := p.reduce(a)
	z := p.square(r.angle.hi)
	s, c := p.sinOf(r.angle, z), p.cosOf(r.angle, z)
	c = p.fast(c.hi, c.lo)
	odd := p.minus(p.shl(r.quarter, 63))
	over := pair{p.choose(odd, c.hi, s.hi), p.choose(odd, c.lo, s.lo)}
	under := pair{p.choose(odd, s.hi, c.hi), p.choose(odd, s.lo, c.lo)}
	return p.negatedIf(p.round(p.quotient(over, under)), p.shl(r.quarter, 63))
}

// Of atan(1/4), atan(1/2), atan(3/4) and atan(1): the nearest double, and the rest.
var atans = [4][2]float64{
	{0.24497866312686414, 1.0698755618734451e-17},
	{0.4636476090008061, 2.2698777452961687e-17},
	{0.6435011087932844, 1.5834785051444286e-17},
	{0.7853981633974483, 3.061616997868383e-17},
}

// atan2 returns the angle of a position. At the origin it is NaN. x is not negative if right is true.
func (p *program) atan2(y, x value, right bool) value {
	ay, ax := p.abs(y), p.abs(x)
	if right {
		ax = x
	}
	steep := p.less(ax, ay)
	n, d := p.choose(steep, ax, ay), p.choose(steep, ay, ax)
	zero := p.num(0)
	c, angle := zero, pair{zero, zero}
	for i, atan := range atans {
		above := p.less(p.mul(d, p.num(0.125+0.25*float64(i))), n)
		c = p.choose(above, p.num(0.25+0.25*float64(i)), c)
		angle = pair{p.choose(above, p.num(atan[0]), angle.hi), p.choose(above, p.num(atan[1]), angle.lo)}
	}
	den := p.fma(c, n, d)
	q := p.quotient(pair{p.fnma(c, d, n), zero}, pair{den, p.fma(c, n, p.sub(d, den))})
	z := p.mul(q.hi, q.hi)
	rest := p.horner(z, -0.3333333333333333, 0.19999999999998927, -0.14285714284632534, 0.11111110701681154,
		-0.09090835215321835, 0.07685450629679833, -0.06349441508573639)
	r := p.fast(angle.hi, q.hi)
	r.lo = p.add(r.lo, p.fma(p.mul(q.hi, z), rest, p.add(q.lo, angle.lo)))
	r = p.lessFrom(r, steep, halfPiHi, halfPiLo)
	if !right {
		r = p.lessFrom(r, p.minus(x), piHi, piLo)
	}
	return p.withSign(p.round(r), y)
}

// lessFrom is c - a where the condition is true, else a.
func (p *program) lessFrom(a pair, condition value, hi, lo float64) pair {
	h := p.sub(p.num(hi), a.hi)
	l := p.add(p.sub(p.sub(p.num(hi), h), a.hi), p.sub(p.num(lo), a.lo))
	return pair{p.choose(condition, h, a.hi), p.choose(condition, l, a.lo)}
}

// log returns the logarithm of a number from 1 on.
func (p *program) log(a pair) value {
	exponent := p.shr(p.subInt(a.hi, p.num(math.Sqrt2/2)), 52)
	m := p.subInt(a.hi, p.shl(exponent, 52))
	scale := p.subInt(p.num(1), p.shl(exponent, 52))
	k := p.sub(p.or(exponent, p.num(1<<52)), p.num(1<<52))
	f := pair{p.sub(m, p.num(1)), p.mul(a.lo, scale)}
	d := p.add(f.hi, p.num(2))
	s := p.quotient(f, pair{d, p.add(p.sub(p.num(2), d), p.add(f.hi, f.lo))})
	z := p.mul(s.hi, s.hi)
	rest := p.mul(z, p.horner(z, logRest...))
	two := p.add(s.hi, s.hi)
	r := p.fast(p.mul(k, p.num(ln2Hi)), two)
	low := p.fma(s.hi, rest, p.add(s.lo, s.lo))
	return p.add(r.hi, p.add(r.lo, p.fma(k, p.num(ln2Lo), low)))
}

var logRest = []float64{
	0.6666666666666666, 0.4000000000000088, 0.2857142857080285, 0.22222222391887064, 0.18181795621632782,
	0.15386240708969665, 0.13268746195596595, 0.13086907887965027,
}

// asinh is computed in the steps of fdlibm (e_asinh.c, s_log1p.c), which PROJ's C library has too, so
// that most results have the same errors. far is whether an argument above 2 needs the same care.
func (p *program) asinh(x value, far bool) value {
	a := p.abs(x)
	t := p.mul(a, a)
	s := p.sqrt(p.add(t, p.num(1)))
	large := p.less(p.num(2), a)
	one, zero := p.num(1), p.num(0)
	q := p.div(p.choose(large, one, t), p.add(s, p.choose(large, a, one)))
	u := p.add(p.choose(large, p.add(a, a), a), q)
	sum := p.sum(one, u)
	h := pair{p.choose(large, u, sum.hi), p.choose(large, zero, sum.lo)}
	near := p.less(u, p.num(math.Sqrt2-1))
	log := p.log1p(h, u, near)
	if far {
		log = p.choose(large, p.log(pair{u, zero}), log)
	}
	return p.withSign(log, x)
}

// log1p returns log(h), where h is 1 + u. If near is true, h is below √2.
func (p *program) log1p(h pair, u, near value) value {
	const (
		hi = 6.93147180369123816490e-01
		lo = 1.90821492927058770002e-10
	)
	exponent := p.shr(p.subInt(h.hi, p.num(math.Sqrt2/2)), 52)
	m := p.subInt(h.hi, p.shl(exponent, 52))
	k := p.sub(p.or(exponent, p.num(1<<52)), p.num(1<<52))
	f := p.choose(near, u, p.sub(m, p.num(1)))
	half := p.mul(p.mul(p.num(0.5), f), f)
	s := p.div(f, p.add(f, p.num(2)))
	z := p.mul(s, s)
	z2 := p.mul(z, z)
	z4 := p.mul(z2, z2)
	z6 := p.mul(z4, z2)
	two := func(a, b float64) value { return p.add(p.num(a), p.mul(z, p.num(b))) }
	r := p.add(p.mul(z, p.num(6.666666666666735130e-01)),
		p.mul(z2, two(3.999999999940941908e-01, 2.857142874366239149e-01)))
	r = p.add(r, p.mul(z4, two(2.222219843214978396e-01, 1.818357216161805012e-01)))
	r = p.add(r, p.mul(z6, two(1.531383769920937332e-01, 1.479819860511658591e-01)))
	sr := p.mul(s, p.add(half, r))
	// The low part over h, which needs few digits.
	scale := p.subInt(p.num(1), p.shl(exponent, 52))
	inverse := p.fnma(p.add(s, s), p.add(p.sub(p.num(1), s), z), p.num(1))
	c := p.choose(near, p.num(0), p.mul(p.mul(h.lo, scale), inverse))
	c = p.add(p.mul(k, p.num(lo)), c)
	return p.sub(p.mul(k, p.num(hi)), p.sub(p.sub(half, p.add(sr, c)), f))
}

// hypot is the length of (a, b), and an approximation of its inverse.
func (p *program) hypot(a, b value) value {
	a2, b2 := p.square(a), p.square(b)
	s := p.sum(a2.hi, b2.hi)
	h := p.sqrt(s.hi)
	rest := p.add(p.fnma(h, h, s.hi), p.add(s.lo, p.add(a2.lo, b2.lo)))
	return p.fma(rest, p.div(p.num(0.5), h), h)
}

// expm1 returns exp(a)-1 for 0 <= a <= 40.
func (p *program) expm1(a value) value {
	shifted := p.fma(a, p.num(1/math.Ln2), p.num(magic))
	k := p.sub(shifted, p.num(magic))
	r := p.fnma(k, p.num(ln2Hi), a)
	w := p.mul(k, p.num(ln2Lo))
	h := p.sub(r, w)
	l := p.sub(p.sub(r, h), w)
	q := p.square(h)
	half := p.mul(q.hi, p.num(0.5))
	e := p.fast(h, half)
	cube := p.mul(q.hi, h)
	low := p.fma(q.lo, p.num(0.5), p.fma(l, h, l))
	low = p.add(e.lo, p.fma(cube, p.horner(h, expRest...), low))
	scale := p.shl(p.addInt(shifted, p.bits(1023)), 52)
	b := p.sub(scale, p.num(1))
	top := p.mul(scale, e.hi)
	sum := p.fast(b, top)
	return p.add(sum.hi, p.fma(scale, low, sum.lo))
}

var expRest = []float64{
	0.16666666666666669, 0.041666666666666664, 0.008333333333330039, 0.0013888888888886537,
	0.00019841269863171557, 2.4801587318722824e-05, 2.7557268276905696e-06, 2.7557282838800484e-07,
	2.5100472505694996e-08, 2.09112987659402e-09,
}

// sinh is computed as in fdlibm (e_sinh.c). Beyond 40 it is that of 40.
func (p *program) sinh(x value) value {
	a := p.abs(x)
	a = p.choose(p.less(a, p.num(40)), a, p.num(40))
	t := p.expm1(a)
	small := p.less(a, p.num(1))
	q := p.div(p.choose(small, p.mul(t, t), t), p.add(t, p.num(1)))
	s := p.choose(small, p.sub(p.add(t, t), q), p.add(t, q))
	return p.withSign(p.mul(s, p.num(0.5)), x)
}

// nearSinhCosh returns both for |x| < 40, with an error of some units in the last place.
func (p *program) nearSinhCosh(x value) (sinh, cosh value) {
	shifted := p.fma(x, p.num(1/math.Ln2), p.num(magic))
	k := p.sub(shifted, p.num(magic))
	r := p.fnma(k, p.num(ln2Lo), p.fnma(k, p.num(ln2Hi), x))
	e := p.fma(p.mul(p.mul(r, r), r), p.horner(r, expRest...), p.fma(p.mul(r, r), p.num(0.5), r))
	half := p.shl(p.addInt(shifted, p.bits(1022)), 52)
	e = p.fma(e, half, half)
	inverse := p.div(p.num(0.25), e)
	return p.sub(e, inverse), p.add(e, inverse)
}
