package kernels_test

import (
	"fmt"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
)

// membersOf prepares what is done with the members of a million records: type and geometry, and
// properties with 8 members of its own.
func membersOf(r *kerneltest.Rig, what string) measurement {
	const rows, own = 1 << 20, 8
	const n = rows * (3 + own)
	var x kerneltest.Tokens
	names := []string{"type", "geometry", "properties"}
	for i := range own {
		names = append(names, fmt.Sprintf("property %d", i))
	}
	for _, name := range names {
		x.Add(name, `":`)
	}
	row, owner, field := make([]int32, n), make([]int32, n), make([]int32, n)
	kind, starts, ends := make([]kjson.ValueKind, n), make([]int64, n), make([]int64, n)
	for i := range n {
		f := i % (3 + own)
		row[i], owner[i], field[i], kind[i], starts[i], ends[i] = int32(i/(3+own)), -1, int32(f),
			kjson.ValueNumber, x.Starts[f], x.Ends[f]
		if f >= 3 {
			owner[i] = int32(i - f + 2)
		}
	}
	level := kjson.MemberLevel{Owner: kerneltest.Upload(r, owner), Field: kerneltest.Upload(r, field), Want: 2}
	kinds := kerneltest.Upload(r, kind)
	m := measurement{items: n}
	switch what {
	case "match keys":
		f, err := kjson.AllocFields(r.Stream, names)
		r.OK(err)
		r.Cleanup(func() { r.OK(f.Free(r.Stream)) })
		text, from, to, missed := kerneltest.Upload(r, x.Text), kerneltest.Upload(r, starts),
			kerneltest.Upload(r, ends), kerneltest.Poisoned[uint32](r, 1)
		m.launch, m.moved = func() error {
			return kjson.MatchAllKeys(r.Set, r.Stream, text, from, to, f, level.Field, missed)
		}, 20*n
	case "place levels":
		p := kjson.LevelPlan{
			Row: kerneltest.Upload(r, row), Owner: level.Owner, Field: level.Field, Kind: kinds,
			Wants: [2]int32{1, 2}, Rows: rows, Fields: [3]int{3, 3, 3 + own},
		}
		p.Slots, p.Report, p.Odd = kerneltest.Poisoned[int32](r, (9+own)*rows),
			kerneltest.Poisoned[kjson.FieldReport](r, 9+own),
			kerneltest.Poisoned[kjson.PlaceReport](r, 3)
		m.launch, m.moved = func() error { return kjson.PlaceLevels(r.Set, r.Stream, p) }, 13*n+4*(9+own)*rows+4*n
	case "unknown keys":
		for i := range field {
			if field[i] > 7 {
				field[i] = -1
			}
		}
		level.Field = kerneltest.Upload(r, field)
		text, from, to, spans := kerneltest.Upload(r, x.Text), kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
			kerneltest.Poisoned[kjson.KeySpan](r, 256)
		m.launch, m.moved = func() error {
			return kjson.UnknownKeys(r.Set, r.Stream, text, from, to, level, 1, spans)
		}, 8*n+16*3*rows
	case "count members":
		counts, nested := kerneltest.Poisoned[int64](r, 3+own), kerneltest.Poisoned[uint64](r, kernels.Words(n))
		m.launch, m.moved = func() error {
			return kjson.CountMembers(r.Set, r.Stream, level, kinds, 0, counts, nested)
		}, 9*n
	case "tally":
		counts := kerneltest.Poisoned[int64](r, klist.TallyValues)
		m.launch, m.moved = func() error { return klist.Tally(r.Set, r.Stream, kinds, kernels.Mask{}, counts) }, n
	default:
		panic("no " + what)
	}
	return m
}
