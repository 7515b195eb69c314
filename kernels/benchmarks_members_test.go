package kernels_test

import (
	"fmt"

	"github.com/vibeflight/vibeflight/kernels"
)

// membersOf prepares what is done with the members of a million records: type and geometry, and
// properties with 8 members of its own.
func membersOf(r *rig, what string) measured {
	const rows, own = 1 << 20, 8
	const n = rows * (3 + own)
	var x tokens
	names := []string{"type", "geometry", "properties"}
	for i := range own {
		names = append(names, fmt.Sprintf("property %d", i))
	}
	for _, name := range names {
		x.add(name, `":`)
	}
	row, owner, field := make([]int32, n), make([]int32, n), make([]int32, n)
	kind, starts, ends := make([]kernels.ValueKind, n), make([]int64, n), make([]int64, n)
	for i := range n {
		f := i % (3 + own)
		row[i], owner[i], field[i], kind[i], starts[i], ends[i] = int32(i/(3+own)), -1, int32(f),
			kernels.ValueNumber, x.starts[f], x.ends[f]
		if f >= 3 {
			owner[i] = int32(i - f + 2)
		}
	}
	level := kernels.MemberLevel{Owner: upload(r, owner), Field: upload(r, field), Want: 2}
	kinds := upload(r, kind)
	m := measured{items: n}
	switch what {
	case "match keys":
		f, err := kernels.AllocFields(r.s, names)
		r.ok(err)
		r.Cleanup(func() { r.ok(f.Free(r.s)) })
		text, from, to, missed := upload(r, x.text), upload(r, starts), upload(r, ends), poisoned[uint32](r, 1)
		m.launch, m.moved = func() error { return r.k.MatchAllKeys(r.s, text, from, to, f, level.Field, missed) }, 20*n
	case "place levels":
		p := kernels.LevelPlacing{
			Row: upload(r, row), Owner: level.Owner, Field: level.Field, Kind: kinds,
			Wants: [2]int32{1, 2}, Rows: rows, Fields: [3]int{3, 3, 3 + own},
		}
		p.Slots, p.Report, p.Odd = poisoned[int32](r, (9+own)*rows), poisoned[kernels.FieldReport](r, 9+own),
			poisoned[kernels.PlaceReport](r, 3)
		m.launch, m.moved = func() error { return r.k.PlaceLevels(r.s, p) }, 13*n+4*(9+own)*rows+4*n
	case "unknown keys":
		for i := range field {
			if field[i] > 7 {
				field[i] = -1
			}
		}
		level.Field = upload(r, field)
		text, from, to, spans := upload(r, x.text), upload(r, starts), upload(r, ends),
			poisoned[kernels.KeySpan](r, 256)
		m.launch, m.moved = func() error { return r.k.UnknownKeys(r.s, text, from, to, level, 1, spans) }, 8*n+16*3*rows
	case "count members":
		counts, nested := poisoned[int64](r, 3+own), poisoned[uint64](r, kernels.Words(n))
		m.launch, m.moved = func() error { return r.k.CountMembers(r.s, level, kinds, 0, counts, nested) }, 9*n
	case "tally":
		counts := poisoned[int64](r, kernels.TallyValues)
		m.launch, m.moved = func() error { return kernels.Tally(r.k, r.s, kinds, kernels.Mask{}, counts) }, n
	default:
		panic("no " + what)
	}
	return m
}
