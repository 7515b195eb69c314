package main

import "math"

// op is an operation on doubles, or on their 64 bits, that every target has with the same result.
type op uint8

const (
	opX op = iota // the first ordinate
	opY           // the second ordinate
	opAdd
	opSub
	opMul
	opDiv
	opSqrt
	opFMA  // a*b + c, rounded once
	opFMS  // a*b - c
	opFNMA // c - a*b
	opAnd  // of bits
	opOr
	opXor
	opAddInt // of bits as integers
	opSubInt
	opShl // by imm
	opShr
	opLess  // a < b; false if one is NaN. The result is a condition
	opLeq   // a <= b
	opNaN   // a or b is NaN
	opMinus // the sign bit of a is set
	opSelect
)

// value is an operand: the result of an instruction, a constant or a parameter.
type value struct {
	kind  kind
	index int
}

type kind uint8

const (
	isResult kind = iota
	isConstant
	isParameter
)

// instruction computes result i of a program, where i is its place.
type instruction struct {
	op  op
	in  [3]value
	n   int // operands
	imm int
}

// program is a sequence of operations on a position without branches.
type program struct {
	name      string
	comment   string
	code      []instruction
	x, y      value // the results
	constants *constants
}

// constants are the distinct constants of all programs, by their bits.
type constants struct {
	bits  []uint64
	index map[uint64]int
}

func (p *program) emit(o op, in ...value) value {
	i := instruction{op: o, n: len(in)}
	copy(i.in[:], in)
	for at, have := range p.code { // common subexpressions
		if have == i {
			return value{isResult, at}
		}
	}
	p.code = append(p.code, i)
	return value{isResult, len(p.code) - 1}
}

// bits is a constant by its bits.
func (p *program) bits(b uint64) value {
	at, ok := p.constants.index[b]
	if !ok {
		at = len(p.constants.bits)
		p.constants.index[b] = at
		p.constants.bits = append(p.constants.bits, b)
	}
	return value{isConstant, at}
}

func (p *program) num(f float64) value         { return p.bits(math.Float64bits(f)) }
func (p *program) param(i int) value           { return value{isParameter, i} }
func (p *program) add(a, b value) value        { return p.emit(opAdd, a, b) }
func (p *program) sub(a, b value) value        { return p.emit(opSub, a, b) }
func (p *program) mul(a, b value) value        { return p.emit(opMul, a, b) }
func (p *program) div(a, b value) value        { return p.emit(opDiv, a, b) }
func (p *program) sqrt(a value) value          { return p.emit(opSqrt, a) }
func (p *program) fma(a, b, c value) value     { return p.emit(opFMA, a, b, c) }
func (p *program) fms(a, b, c value) value     { return p.emit(opFMS, a, b, c) }
func (p *program) fnma(a, b, c value) value    { return p.emit(opFNMA, a, b, c) }
func (p *program) and(a, b value) value        { return p.emit(opAnd, a, b) }
func (p *program) or(a, b value) value         { return p.emit(opOr, a, b) }
func (p *program) xor(a, b value) value        { return p.emit(opXor, a, b) }
func (p *program) addInt(a, b value) value     { return p.emit(opAddInt, a, b) }
func (p *program) subInt(a, b value) value     { return p.emit(opSubInt, a, b) }
func (p *program) less(a, b value) value       { return p.emit(opLess, a, b) }
func (p *program) leq(a, b value) value        { return p.emit(opLeq, a, b) }
func (p *program) nan(a, b value) value        { return p.emit(opNaN, a, b) }
func (p *program) minus(a value) value         { return p.emit(opMinus, a) }
func (p *program) choose(c, a, b value) value  { return p.emit(opSelect, c, a, b) }
func (p *program) abs(a value) value           { return p.and(a, p.bits(1<<63-1)) }
func (p *program) sign(a value) value          { return p.and(a, p.bits(1<<63)) }
func (p *program) withSign(a, of value) value  { return p.or(a, p.sign(of)) }
func (p *program) negatedIf(a, of value) value { return p.xor(a, p.sign(of)) }

func (p *program) shl(a value, n int) value { return p.shift(opShl, a, n) }
func (p *program) shr(a value, n int) value { return p.shift(opShr, a, n) }

func (p *program) shift(o op, a value, n int) value {
	p.code = append(p.code, instruction{op: o, in: [3]value{a}, n: 1, imm: n})
	return value{isResult, len(p.code) - 1}
}

// horner is c[0] + z*c[1] + z²*c[2] + …
func (p *program) horner(z value, c ...float64) value {
	r := p.num(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		r = p.fma(r, z, p.num(c[i]))
	}
	return r
}

// pair is a number as the sum of a double and a much smaller one.
type pair struct{ hi, lo value }

// round returns the nearest double.
func (p *program) round(a pair) value { return p.add(a.hi, a.lo) }

// square is a*a.
func (p *program) square(a value) pair {
	h := p.mul(a, a)
	return pair{h, p.fms(a, a, h)}
}

// fast is a+b for |a| >= |b|, or a = 0 (Dekker).
func (p *program) fast(a, b value) pair {
	s := p.add(a, b)
	return pair{s, p.add(p.sub(a, s), b)}
}

// sum is a+b (Knuth).
func (p *program) sum(a, b value) pair {
	s := p.add(a, b)
	t := p.sub(s, a)
	return pair{s, p.add(p.sub(a, p.sub(s, t)), p.sub(b, t))}
}

// quotient is a/b, with one division.
func (p *program) quotient(a, b pair) pair {
	inverse := p.div(p.num(1), b.hi)
	q := p.mul(a.hi, inverse)
	rest := p.add(p.fnma(q, b.hi, a.hi), p.fnma(q, b.lo, a.lo))
	return pair{q, p.mul(rest, inverse)}
}
