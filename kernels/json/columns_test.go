package json_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// memberList is what PlaceMembers reads, on the host.
type memberList struct {
	row, owner, field, ownerField []int32
	kind                          []kjson.ValueKind
}

// add appends a member.
func (m *memberList) add(row, owner, field, ownerField int32, kind kjson.ValueKind) {
	m.row, m.owner, m.field, m.ownerField = append(m.row, row), append(m.owner, owner), append(m.field, field),
		append(m.ownerField, ownerField)
	m.kind = append(m.kind, kind)
}

// randomMembers are the members of rows records in text order. About one in repeat has a field that
// is drawn, not the next, and one in unknown has none.
func randomMembers(rng *rand.Rand, rows, fields, repeat, unknown int) *memberList {
	m := &memberList{}
	kind := func() kjson.ValueKind { return kjson.ValueNull + kjson.ValueKind(rng.IntN(7)) }
	next := func(f int) int32 {
		switch {
		case fields == 0 || unknown > 0 && rng.IntN(unknown) == 0:
			return -1
		case repeat > 0 && rng.IntN(repeat) == 0:
			return int32(rng.IntN(fields))
		}
		return int32(f)
	}
	for row := range rows {
		for f := range rng.IntN(fields + 1) {
			key := int32(rng.IntN(3)) - 1
			m.add(int32(row), -1, next(f), key, kind())
			if rng.IntN(2) == 0 {
				owner := int32(len(m.row) - 1)
				for f := range rng.IntN(fields + 1) {
					m.add(int32(row), owner, next(f), int32(rng.IntN(3))-1, kind())
				}
			}
		}
	}
	return m
}

// columnPlaces is what PlaceMembers says.
type columnPlaces struct {
	slots  []int32
	report []kjson.FieldReport
	odd    kjson.PlaceReport
}

// placePlainly is PlaceMembers, one member at a time.
func placePlainly(m *memberList, want int32, rows, fields int) columnPlaces {
	p := columnPlaces{
		slots: make([]int32, rows*fields), report: make([]kjson.FieldReport, fields),
		odd: kjson.PlaceReport{Unknown: -1, Repeated: -1},
	}
	for i := range p.slots {
		p.slots[i] = -1
	}
	for f := range p.report {
		p.report[f].First = math.MaxInt32
	}
	for i := range m.row {
		if owner := m.owner[i]; want < 0 && owner >= 0 || want >= 0 && (owner < 0 || m.ownerField[owner] != want) {
			continue
		}
		f, row := int(m.field[i]), int(m.row[i])
		if f < 0 || f >= fields || row < 0 || row >= rows {
			if p.odd.Unknown < 0 {
				p.odd.Unknown = int32(i)
			}
			continue
		}
		p.report[f].First = min(p.report[f].First, int32(i))
		p.report[f].Kinds |= 1 << m.kind[i]
		slot := &p.slots[f*rows+row]
		switch {
		case *slot < 0:
			*slot = int32(i)
		case p.odd.Repeated < 0 || *slot < p.odd.Repeated:
			p.odd.Repeated = *slot
		}
	}
	return p
}

// checkPlacing compares PlaceMembers with placePlainly.
func checkPlacing(r *kerneltest.Rig, what string, m *memberList, want int32, rows, fields int) {
	r.Helper()
	p := kjson.ColumnPlan{
		Row: kerneltest.Upload(r, m.row), Owner: kerneltest.Upload(r, m.owner), Field: kerneltest.Upload(r, m.field),
		OwnerField: kerneltest.Upload(r, m.ownerField), Want: want,
		Kind: kerneltest.Upload(r, m.kind), Rows: rows, Fields: fields,
		Slots: kerneltest.Poisoned[int32](r, rows*fields), Report: kerneltest.Poisoned[kjson.FieldReport](r, fields),
		Odd: kerneltest.Poisoned[kjson.PlaceReport](r, 1),
	}
	if want < 0 {
		p.OwnerField = gpu.Buffer[int32]{}
	}
	r.OK(kjson.PlaceMembers(r.Set, r.Stream, p))
	plain := placePlainly(m, want, rows, fields)
	what = fmt.Sprintf("%s, those of %d", what, want)
	kerneltest.SameItems(r, what+": slots", kerneltest.Read(r, p.Slots), plain.slots)
	kerneltest.SameItems(r, what+": reports", kerneltest.Read(r, p.Report), plain.report)
	kerneltest.SameItems(r, what+": odd", kerneltest.Read(r, p.Odd), []kjson.PlaceReport{plain.odd})
}

func TestPlaceMembers(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		name                         string
		rows, fields, repeat, absent int
	}{
		{"nothing", 0, 0, 0, 0},
		{"rows without fields", 5, 0, 0, 0},
		{"fields without rows", 0, 5, 0, 0},
		{"one of each", 1, 1, 0, 0},
		{"rows of records", 300, 6, 0, 0},
		{"unknown members", 300, 6, 0, 50},
		{"only unknown members", 100, 6, 0, 1},
		{"a repeated member now and then", 2000, 8, 500, 0},
		{"repeated and unknown members", 300, 8, 5, 5},
		{"one row", 1, 500, 10, 0},
		{"one field", 5000, 1, 0, 0},
		{"many fields", 3, 700, 0, 100},
	} {
		m := randomMembers(rng, tt.rows, tt.fields, tt.repeat, tt.absent)
		for want := int32(-1); want < 3; want++ {
			checkPlacing(r, tt.name, m, want, tt.rows, tt.fields)
		}
	}
}

// Repeated members meet within a warp, within a block, and over blocks; the lowest of all pairs is
// told.
func TestPlaceRepeatedMembers(t *testing.T) {
	r := kerneltest.Open(t)
	for _, distance := range []int32{1, 2, 31, 32, 33, 255, 256, 257, 1000} {
		for _, first := range []int32{0, 1, 31, 32, 300} {
			m := &memberList{}
			for i := range int32(1500) {
				field := i
				if i == first+distance || i == first+distance+100 {
					field = first
				}
				if i == 1499 { // a later pair, the second of which may be seen first
					field = 1400
				}
				m.add(0, -1, field, -1, kjson.ValueNumber)
			}
			checkPlacing(r, fmt.Sprintf("%d and %d behind it", first, distance), m, -1, 1, 1500)
		}
	}
	all := &memberList{}
	for range 5000 {
		all.add(0, -1, 0, -1, kjson.ValueString)
	}
	checkPlacing(r, "all the same", all, -1, 1, 1)
}

func TestPlaceMembersOutsideOfTheTable(t *testing.T) {
	r := kerneltest.Open(t)
	m := &memberList{}
	for _, at := range [][2]int32{
		{0, 0},
		{2, 0},
		{-1, 0},
		{math.MaxInt32, 1},
		{1, 3},
		{1, math.MaxInt32},
		{1, -2},
		{math.MinInt32, 0},
	} {
		m.add(at[0], -1, at[1], -1, kjson.ValueTrue)
	}
	checkPlacing(r, "outside of the table", m, -1, 2, 3)
}

func TestPlaceMembersRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	three, kinds := kerneltest.Upload(r, make([]int32, 3)), kerneltest.Upload(r, make([]kjson.ValueKind, 3))
	sound := kjson.ColumnPlan{
		Row: three, Owner: three, Field: three, OwnerField: three, Kind: kinds, Rows: 2, Fields: 2,
		Slots: kerneltest.Poisoned[int32](r, 4), Report: kerneltest.Poisoned[kjson.FieldReport](r, 2),
		Odd: kerneltest.Poisoned[kjson.PlaceReport](r, 1),
	}
	r.OK(kjson.PlaceMembers(r.Set, r.Stream, sound))
	for _, tt := range []struct {
		name   string
		change func(p *kjson.ColumnPlan)
	}{
		{"few owners", func(p *kjson.ColumnPlan) { p.Owner = three.Slice(0, 2) }},
		{"few fields", func(p *kjson.ColumnPlan) { p.Field = three.Slice(0, 2) }},
		{"few kinds", func(p *kjson.ColumnPlan) { p.Kind = kinds.Slice(0, 2) }},
		{"no fields of owners", func(p *kjson.ColumnPlan) { p.OwnerField = gpu.Buffer[int32]{} }},
		{"few slots", func(p *kjson.ColumnPlan) { p.Slots = p.Slots.Slice(0, 3) }},
		{"few reports", func(p *kjson.ColumnPlan) { p.Report = p.Report.Slice(0, 1) }},
		{"nothing for what is odd", func(p *kjson.ColumnPlan) { p.Odd = gpu.Buffer[kjson.PlaceReport]{} }},
		{"negative rows and fields", func(p *kjson.ColumnPlan) { p.Rows, p.Fields = -2, -2 }},
		{"too many rows", func(p *kjson.ColumnPlan) { p.Rows, p.Fields = 1<<62, 4 }},
	} {
		p := sound
		tt.change(&p)
		if kjson.PlaceMembers(r.Set, r.Stream, p) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

// columnTokens are what ColumnTokens says, on the host.
type columnTokens struct {
	starts, ends []int64
	valid, trues []uint64
}

// tokensPlainly is ColumnTokens, one row at a time.
func tokensPlainly(slots []int32, starts, ends []int64, kind []kjson.ValueKind, base []int64) columnTokens {
	x := columnTokens{
		valid: make([]uint64, kernels.Words(len(slots))),
		trues: make([]uint64, kernels.Words(len(slots))),
	}
	for row, m := range slots {
		start, end := int64(0), int64(0)
		if base != nil {
			start, end = base[row], base[row]
		}
		if m >= 0 && kind[m] != kjson.ValueNull {
			start, end = starts[m], ends[m]
			if kind[m] == kjson.ValueString {
				start, end = start+1, end-1
			}
			x.valid[row/64] |= 1 << (row % 64)
			if kind[m] == kjson.ValueTrue {
				x.trues[row/64] |= 1 << (row % 64)
			}
		}
		x.starts, x.ends = append(x.starts, start), append(x.ends, end)
	}
	return x
}

func TestColumnTokens(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 3000} {
		members := 2*rows + 1
		starts, ends, kind := make([]int64, members), make([]int64, members), make([]kjson.ValueKind, members)
		for i := range members {
			starts[i] = rng.Int64N(1 << 31)
			ends[i] = starts[i] + 2 + rng.Int64N(100)
			kind[i] = kjson.ValueNull + kjson.ValueKind(rng.IntN(7))
		}
		slots, base := make([]int32, rows), make([]int64, rows)
		for i := range slots {
			slots[i], base[i] = int32(rng.IntN(members+members/2+1)), rng.Int64()
			if slots[i] >= int32(members) {
				slots[i] = -1
			}
		}
		valueStart, valueEnd, kinds, slot := kerneltest.UploadShort(r, starts), kerneltest.UploadShort(r, ends),
			kerneltest.Upload(r, kind),
			kerneltest.Upload(r, slots)
		for _, based := range []bool{false, true} {
			var bases gpu.Buffer[int64]
			want := tokensPlainly(slots, starts, ends, kind, nil)
			if based {
				bases = kerneltest.Upload(r, base)
				want = tokensPlainly(slots, starts, ends, kind, base)
			}
			for _, trues := range []kernels.Mask{{}, kerneltest.Poisoned[uint64](r, kernels.Words(rows))} {
				gotStarts, gotEnds, valid := kerneltest.Poisoned[int64](r, rows), kerneltest.Poisoned[int64](r, rows),
					kerneltest.Poisoned[uint64](r, kernels.Words(rows))
				r.OK(kjson.ColumnTokens(r.Set, r.Stream, slot, valueStart, valueEnd, kinds, bases, gotStarts,
					gotEnds, valid, trues))
				what := fmt.Sprintf("%d rows, based %v: ", rows, based)
				kerneltest.SameItems(t, what+"starts", kerneltest.Read(r, gotStarts), want.starts)
				kerneltest.SameItems(t, what+"ends", kerneltest.Read(r, gotEnds), want.ends)
				kerneltest.SameItems(t, what+"valid", kerneltest.Read(r, valid), want.valid)
				if trues.Len() > 0 {
					kerneltest.SameItems(t, what+"trues", kerneltest.Read(r, trues), want.trues)
				}
			}
		}
	}
}

func TestColumnTokensRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	slots, at, kinds, mask := kerneltest.Upload(r, make([]int32, 70)), kerneltest.Upload(r, make([]uint32, 70)),
		kerneltest.Upload(r, make([]kjson.ValueKind, 70)), kerneltest.Poisoned[uint64](r, 2)
	out := kerneltest.Poisoned[int64](r, 70)
	few, one, none := at.Slice(0, 69), mask.Slice(0, 1), kernels.Mask{}
	base := out
	for _, tt := range []struct {
		name               string
		start, end         gpu.Buffer[uint32]
		base, starts, ends gpu.Buffer[int64]
		kind               gpu.Buffer[kjson.ValueKind]
		valid, trues       kernels.Mask
	}{
		{"few ends of values", at, few, base, out, out, kinds, mask, none},
		{"few kinds", at, at, base, out, out, kinds.Slice(0, 69), mask, none},
		{"few bases", at, at, base.Slice(0, 69), out, out, kinds, mask, none},
		{"few starts", at, at, base, out.Slice(0, 69), out, kinds, mask, none},
		{"few ends", at, at, base, out, out.Slice(0, 69), kinds, mask, none},
		{"a short valid mask", at, at, base, out, out, kinds, one, none},
		{"no valid mask", at, at, base, out, out, kinds, none, none},
		{"a short mask of trues", at, at, base, out, out, kinds, mask, one},
	} {
		if kjson.ColumnTokens(r.Set, r.Stream, slots, tt.start, tt.end, tt.kind, tt.base, tt.starts, tt.ends, tt.valid,
			tt.trues) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

func TestPickTokens(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(5, 12))
	for _, rows := range []int{0, 1, 63, 64, 65, 1000} {
		members := rows + 7
		starts, ends, kinds, slots := make([]int64, members), make([]int64, members),
			make([]kjson.ValueKind, members), make([]int32, rows)
		for i := range members {
			starts[i], kinds[i] = int64(i*10), kjson.ValueNull+kjson.ValueKind(rng.IntN(7))
			ends[i] = starts[i] + 2 + int64(rng.IntN(7))
		}
		for i := range slots {
			slots[i] = int32(rng.IntN(members+3)) - 1
		}
		want := kjson.Kinds(kjson.ValueString, kjson.ValueTrue)
		wantStarts, wantEnds := make([]int64, rows), make([]int64, rows)
		picked := kerneltest.Bitmap(rows, func(i int) bool {
			m := slots[i]
			if m < 0 || int(m) >= members || kinds[m] != kjson.ValueString && kinds[m] != kjson.ValueTrue {
				return false
			}
			wantStarts[i], wantEnds[i] = starts[m], ends[m]
			if kinds[m] == kjson.ValueString {
				wantStarts[i]++
				wantEnds[i]--
			}
			return true
		})
		from, to, mask := kerneltest.Poisoned[int64](r, rows), kerneltest.Poisoned[int64](r, rows),
			kerneltest.Poisoned[uint64](r, kernels.Words(rows))
		s, e, k, in := kerneltest.UploadShort(r, starts), kerneltest.UploadShort(r, ends),
			kerneltest.Upload(r, kinds), kerneltest.Upload(r, slots)
		r.OK(kjson.PickTokens(r.Set, r.Stream, in, s, e, k, want, from, to, mask))
		kerneltest.SameMask(t, "picked", make([]byte, rows), kerneltest.Read(r, mask), picked)
		if !slices.Equal(kerneltest.Read(r, from), wantStarts) || !slices.Equal(kerneltest.Read(r, to), wantEnds) {
			t.Errorf("%d rows: other tokens", rows)
		}
		alone := kerneltest.Poisoned[uint64](r, kernels.Words(rows))
		r.OK(kjson.PickTokens(r.Set, r.Stream, in, s, e, k, want, gpu.Buffer[int64]{}, gpu.Buffer[int64]{}, alone))
		kerneltest.SameMask(t, "picked alone", make([]byte, rows), kerneltest.Read(r, alone), picked)
	}
}
