package main

import (
	"fmt"
	"math"
	"strings"
)

// target is a set of vector instructions of amd64.
type target struct {
	suffix    string // of the functions
	letter    string // of the registers
	lanes     int
	registers int // of vectors; the last two are for operands from memory
	masks     int // of conditions, from K1 on; 0: conditions are vectors
	copies    int // of the program that are interleaved
}

var targets = []target{
	{suffix: "512", letter: "Z", lanes: 8, registers: 32, masks: 7, copies: 2},
	{suffix: "256", letter: "Y", lanes: 4, registers: 16, copies: 2},
}

func assembly(all []*program) string {
	var b strings.Builder
	b.WriteString(header + "\n#include \"textflag.h\"\n")
	for i := range targets {
		for _, p := range all {
			b.WriteString(newAssembler(&targets[i], p).function())
		}
	}
	return b.String()
}

// assembler writes a program for a target. It keeps values in registers, and where these are too few,
// those whose next use is the latest on the stack.
type assembler struct {
	*target
	program *program
	out     strings.Builder

	uses  [][]int        // of each result: the places in the code, ascending
	place int            // of the current instruction
	copy  int            // of the program
	files [2]*registers  // of vectors and of conditions
	slots map[slotOf]int // of values on the stack
	count int            // of slots
}

// slotOf names a value of a copy of the program.
type slotOf struct{ copy, index int }

// registers are those of one kind.
type registers struct {
	name   string
	first  int
	holder []slotOf // of each: the value, or index -1
	where  map[slotOf]int
	pinned map[int]bool
}

func newRegisters(name string, first, n int) *registers {
	r := &registers{name: name, first: first, where: map[slotOf]int{}, pinned: map[int]bool{}}
	for range n {
		r.holder = append(r.holder, slotOf{0, -1})
	}
	return r
}

func newAssembler(t *target, p *program) *assembler {
	a := &assembler{target: t, slots: map[slotOf]int{}}
	a.program = p
	if t.masks == 0 {
		a.program = p.withoutMinus()
	}
	a.uses = make([][]int, len(a.program.code))
	for i := range a.program.code {
		for _, v := range a.program.code[i].operands() {
			if v.kind == isResult {
				a.uses[v.index] = append(a.uses[v.index], i)
			}
		}
	}
	for _, v := range []value{a.program.x, a.program.y} {
		a.uses[v.index] = append(a.uses[v.index], len(a.program.code))
	}
	a.files[0] = newRegisters(t.letter, 0, t.registers-2)
	a.files[1] = newRegisters("K", 1, t.masks)
	return a
}

// withoutMinus replaces conditions on signs by the values: a blend of AVX looks at the signs only.
func (p *program) withoutMinus() *program {
	q := *p
	q.code = append([]instruction(nil), p.code...)
	for i := range q.code {
		in := &q.code[i]
		if in.op == opSelect {
			if c := q.code[in.in[0].index]; c.op == opMinus {
				in.in[0] = c.in[0]
			}
		}
	}
	q.prune()
	return &q
}

func (a *assembler) isCondition(i int) bool {
	o := a.program.code[i].op
	return o >= opLess && o <= opMinus
}

func (a *assembler) fileOf(i int) *registers {
	if a.masks > 0 && a.isCondition(i) {
		return a.files[1]
	}
	return a.files[0]
}

func (a *assembler) emit(format string, args ...any) {
	fmt.Fprintf(&a.out, "\t"+format+"\n", args...)
}

// function returns the text of a function of n positions, a multiple of lanes times copies.
func (a *assembler) function() string {
	for i := range a.program.code {
		for c := range a.copies {
			a.place, a.copy = i, c
			a.instruction(i)
		}
	}
	for c := range a.copies {
		a.place, a.copy = len(a.program.code), c
		for k, v := range []value{a.program.x, a.program.y} {
			r := a.use(v)
			a.emit("VMOVUPD %s, %s", r, a.ordinate([]string{"R8", "R9"}[k]))
			a.unpin()
		}
	}
	var b strings.Builder
	size := a.lanes * 8
	fmt.Fprintf(&b, "\n// func %s%s(x, y, toX, toY *float64, n int, p *Params, c *uint64)\n", a.program.name, a.suffix)
	fmt.Fprintf(&b, "TEXT ·%s%s(SB), 0, $%d-56\n", a.program.name, a.suffix, a.count*size+size)
	for i, r := range []string{"SI", "DI", "R8", "R9", "CX", "DX", "BX"} {
		fmt.Fprintf(&b, "\tMOVQ %s+%d(FP), %s\n", []string{"x", "y", "toX", "toY", "n", "p", "c"}[i], 8*i, r)
	}
	fmt.Fprintf(&b, "\tLEAQ %d(SP), R10\n\tANDQ $~%d, R10\n\tXORQ AX, AX\n\tSHLQ $3, CX\n\nloop:\n", size-1, size-1)
	b.WriteString(a.out.String())
	fmt.Fprintf(&b, "\tADDQ $%d, AX\n\tCMPQ AX, CX\n\tJLT loop\n\tVZEROUPPER\n\tRET\n", size*a.copies)
	return b.String()
}

func (a *assembler) ordinate(base string) string {
	return fmt.Sprintf("%d(%s)(AX*1)", a.copy*a.lanes*8, base)
}

func (a *assembler) slot(s slotOf) string {
	at, ok := a.slots[s]
	if !ok {
		at = a.count
		a.slots[s] = at
		a.count++
	}
	return fmt.Sprintf("%d(R10)", at*a.lanes*8)
}

func (r *registers) text(i int) string { return fmt.Sprintf("%s%d", r.name, r.first+i) }

// nextUse returns the place of the next use of a value after the current instruction.
func (a *assembler) nextUse(s slotOf) int {
	for _, u := range a.uses[s.index] {
		if u > a.place || u == a.place && s.copy >= a.copy {
			return u
		}
	}
	return math.MaxInt
}

// dies reports whether the current instruction is the last one that needs a value.
func (a *assembler) dies(i int) bool {
	u := a.uses[i]
	return u[len(u)-1] == a.place
}

// take returns a register for a value, after it has freed one if necessary.
func (a *assembler) take(f *registers, s slotOf) int {
	best, latest := -1, -1
	for i, h := range f.holder {
		if f.pinned[i] {
			continue
		}
		next := math.MaxInt
		if h.index >= 0 {
			next = a.nextUse(h)
		}
		if h.index < 0 {
			best = i
			break
		}
		if next > latest {
			best, latest = i, next
		}
	}
	if old := f.holder[best]; old.index >= 0 {
		a.spill(f, best, old)
	}
	f.holder[best], f.where[s] = s, best
	f.pinned[best] = true
	return best
}

// spill frees a register whose value is needed later.
func (a *assembler) spill(f *registers, i int, old slotOf) {
	delete(f.where, old)
	f.holder[i] = slotOf{0, -1}
	op := a.program.code[old.index].op
	if _, stored := a.slots[old]; stored || op == opX || op == opY {
		return
	}
	if f == a.files[1] {
		a.emit("KMOVW %s, %s", f.text(i), a.slot(old))
	} else {
		a.emit("VMOVUPD %s, %s", f.text(i), a.slot(old))
	}
}

// use returns the register of a result.
func (a *assembler) use(v value) string {
	s := slotOf{a.copy, v.index}
	f := a.fileOf(v.index)
	i, ok := f.where[s]
	if !ok {
		i = a.take(f, s)
		switch op := a.program.code[v.index].op; {
		case op == opX:
			a.emit("VMOVUPD %s, %s", a.ordinate("SI"), f.text(i))
		case op == opY:
			a.emit("VMOVUPD %s, %s", a.ordinate("DI"), f.text(i))
		case f == a.files[1]:
			a.emit("KMOVW %s, %s", a.slot(s), f.text(i))
		default:
			a.emit("VMOVUPD %s, %s", a.slot(s), f.text(i))
		}
	}
	f.pinned[i] = true
	return f.text(i)
}

func (a *assembler) unpin() {
	for _, f := range a.files {
		clear(f.pinned)
	}
}

// free gives up the registers of results that are not needed after the current instruction.
func (a *assembler) free(in ...value) {
	for _, v := range in {
		s := slotOf{a.copy, v.index}
		if v.kind != isResult || !a.dies(v.index) {
			continue
		}
		f := a.fileOf(v.index)
		if i, ok := f.where[s]; ok {
			delete(f.where, s)
			f.holder[i] = slotOf{0, -1}
			delete(f.pinned, i)
		}
	}
}

func (a *assembler) memory(v value) string {
	base := "BX"
	if v.kind == isParameter {
		base = "DX"
	}
	return fmt.Sprintf("%d(%s)", 8*v.index, base)
}

// register returns an operand in a register; one of memory in a temporary one.
func (a *assembler) register(v value, temporary int) string {
	if v.kind == isResult {
		return a.use(v)
	}
	r := fmt.Sprintf("%s%d", a.letter, a.registers-1-temporary)
	a.emit("VBROADCASTSD %s, %s", a.memory(v), r)
	return r
}

// last returns an operand that may be in memory, and the suffix of the instruction.
func (a *assembler) last(v value) (operand, suffix string) {
	if v.kind == isResult || a.masks == 0 {
		return a.register(v, 0), ""
	}
	return a.memory(v), ".BCST"
}

// result returns the register of the result of the current instruction.
func (a *assembler) result() string {
	f := a.fileOf(a.place)
	return f.text(a.take(f, slotOf{a.copy, a.place}))
}

var mnemonics = map[op][2]string{ // with masks, without
	opAdd: {"VADDPD", "VADDPD"}, opSub: {"VSUBPD", "VSUBPD"}, opMul: {"VMULPD", "VMULPD"},
	opDiv: {"VDIVPD", "VDIVPD"}, opAnd: {"VPANDQ", "VPAND"}, opOr: {"VPORQ", "VPOR"}, opXor: {"VPXORQ", "VPXOR"},
	opAddInt: {"VPADDQ", "VPADDQ"}, opSubInt: {"VPSUBQ", "VPSUBQ"}, opFMA: {"VFMADD", "VFMADD"},
	opFMS: {"VFMSUB", "VFMSUB"}, opFNMA: {"VFNMADD", "VFNMADD"}, opShl: {"VPSLLQ", "VPSLLQ"},
	opShr: {"VPSRLQ", "VPSRLQ"},
}

func (a *assembler) mnemonic(o op) string {
	if a.masks > 0 {
		return mnemonics[o][0]
	}
	return mnemonics[o][1]
}

func (a *assembler) instruction(i int) {
	in := a.program.code[i]
	x, y := in.in[0], in.in[1]
	defer a.unpin()
	switch in.op {
	case opX, opY: // loaded when needed
	case opAdd, opMul, opAnd, opOr, opXor, opAddInt:
		if x.kind != isResult {
			x, y = y, x
		}
		fallthrough
	case opSub, opDiv, opSubInt:
		r := a.register(x, 1)
		m, suffix := a.last(y)
		a.free(x, y)
		a.emit("%s%s %s, %s, %s", a.mnemonic(in.op), suffix, m, r, a.result())
	case opSqrt:
		r := a.register(x, 1)
		a.free(x)
		a.emit("VSQRTPD %s, %s", r, a.result())
	case opShl, opShr:
		r := a.register(x, 1)
		a.free(x)
		a.emit("%s $%d, %s, %s", a.mnemonic(in.op), in.imm, r, a.result())
	case opLess, opLeq, opNaN:
		r := a.register(x, 1)
		m, suffix := a.last(y)
		a.free(x, y)
		a.emit("VCMPPD%s $%d, %s, %s, %s", suffix, map[op]int{opLess: 17, opLeq: 18, opNaN: 3}[in.op], m, r, a.result())
	case opMinus:
		r := a.register(x, 1)
		a.free(x)
		a.emit("VPMOVQ2M %s, %s", r, a.result())
	case opSelect:
		c := a.use(x)
		other := a.register(in.in[2], 1)
		m, suffix := a.last(y)
		a.free(x, y, in.in[2])
		if a.masks > 0 {
			a.emit("VBLENDMPD%s %s, %s, %s, %s", suffix, m, other, c, a.result())
		} else {
			a.emit("VBLENDVPD %s, %s, %s, %s", c, m, other, a.result())
		}
	default:
		a.fused(in)
	}
}

// fused writes a*b+c and its like. The result replaces an operand.
func (a *assembler) fused(in instruction) {
	x, y, z := in.in[0], in.in[1], in.in[2]
	name := a.mnemonic(in.op)
	replaceable := func(v value, others ...value) bool {
		for _, o := range others {
			if o == v {
				return false
			}
		}
		return v.kind == isResult && a.dies(v.index)
	}
	if x.kind != isResult || !replaceable(x, y, z) && replaceable(y, x, z) {
		x, y = y, x
	}
	switch {
	case replaceable(z, x, y):
		r := a.register(x, 1)
		dst := a.use(z)
		m, suffix := a.last(y)
		a.emit("%s231PD%s %s, %s, %s", name, suffix, m, r, dst)
		a.become(z)
		a.free(x, y)
	case replaceable(x, y, z) && y.kind == isResult:
		dst, r := a.use(x), a.use(y)
		m, suffix := a.last(z)
		a.emit("%s213PD%s %s, %s, %s", name, suffix, m, r, dst)
		a.become(x)
		a.free(y, z)
	case replaceable(x, y, z):
		dst, r := a.use(x), a.register(z, 1)
		m, suffix := a.last(y)
		a.emit("%s132PD%s %s, %s, %s", name, suffix, m, r, dst)
		a.become(x)
		a.free(y, z)
	default:
		r := a.register(x, 1)
		m, suffix := a.last(y)
		var from string
		if z.kind == isResult {
			from = a.use(z)
		}
		dst := a.result()
		if z.kind == isResult {
			a.emit("VMOVAPD %s, %s", from, dst)
		} else {
			a.emit("VBROADCASTSD %s, %s", a.memory(z), dst)
		}
		a.emit("%s231PD%s %s, %s, %s", name, suffix, m, r, dst)
		a.free(x, y, z)
	}
}

// become gives the register of an operand to the result.
func (a *assembler) become(v value) {
	f, old, now := a.files[0], slotOf{a.copy, v.index}, slotOf{a.copy, a.place}
	i := f.where[old]
	delete(f.where, old)
	f.holder[i], f.where[now] = now, i
}
