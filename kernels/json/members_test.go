package json_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// memberKey are members with their keys.
type memberKey struct {
	memberList
	keys kerneltest.Tokens
}

// keyedMembers are members of two levels; field gives the number of a key.
func keyedMembers(rng *rand.Rand, n, names int, field func(name int) int32) *memberKey {
	x := &memberKey{}
	outer := int32(-1)
	for i := range n {
		name, owner := rng.IntN(names), int32(-1)
		if rng.IntN(3) > 0 {
			owner = outer
		}
		x.keys.Add(fmt.Sprintf("%s%d", strings.Repeat("k", name%20), name), `":`)
		x.add(0, owner, field(name), -1, kjson.ValueNull+kjson.ValueKind(rng.IntN(7)))
		if owner < 0 {
			outer = int32(i)
		}
	}
	return x
}

// of reports whether member i is one of a level.
func (x *memberKey) of(i int, want int32) bool {
	owner := x.owner[i]
	return want < 0 && owner < 0 || want >= 0 && owner >= 0 && x.field[owner] == want
}

// level takes the members to the device.
func (x *memberKey) level(r *kerneltest.Rig, want int32) kjson.MemberLevel {
	return kjson.MemberLevel{Owner: kerneltest.Upload(r, x.owner), Field: kerneltest.Upload(r, x.field), Want: want}
}

// Rounds of UnknownKeys find every name that has no number, each at its first member.
func TestUnknownKeys(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 1))
	for _, n := range []int{0, 1, 33, 257, 5000} {
		for want := range int32(4) {
			x := keyedMembers(rng, n, 60, func(name int) int32 { return int32(name%5) - 1 })
			want := want - 1
			unknown := map[string]int{}
			for i := range x.owner {
				if _, met := unknown[x.keys.Token(i)]; !met && x.of(i, want) && x.field[i] < 0 {
					unknown[x.keys.Token(i)] = i
				}
			}
			text, starts, ends := kerneltest.Upload(r, x.keys.Text), kerneltest.Upload(r, x.keys.Starts),
				kerneltest.Upload(r, x.keys.Ends)
			found := map[string]bool{}
			for seed := range uint64(30) {
				spans := kerneltest.Poisoned[kjson.KeySpan](r, 16)
				r.OK(kjson.UnknownKeys(r.Set, r.Stream, text, starts, ends, x.level(r, want), seed, spans))
				before := len(found)
				for _, s := range kerneltest.Read(r, spans) {
					if s.Start < 0 {
						continue
					}
					name := string(x.keys.Text[s.Start:s.End])
					if at, ok := unknown[name]; !ok || x.keys.Starts[at] != s.Start {
						t.Fatalf("%d members, level %d: %q at byte %d, want %d", n, want, name, s.Start,
							x.keys.Starts[at])
					}
					found[name] = true
				}
				if len(unknown) > 0 && seed == 0 && len(found) == before {
					t.Fatalf("%d members, level %d: nothing of %d names", n, want, len(unknown))
				}
			}
			if got, want := slices.Sorted(maps.Keys(found)),
				slices.Sorted(maps.Keys(unknown)); !slices.Equal(got, want) {
				t.Errorf("%d members: names %q, want %q", n, got, want)
			}
		}
	}
}

// Keys that can't be read are left out.
func TestUnknownKeysOfWrongSpans(t *testing.T) {
	r := kerneltest.Open(t)
	starts := []int64{-1, 3, 5, 2, 0, 4}
	ends := []int64{0, 2000, 5, 1, 1025, 8}
	n := len(starts)
	level := kjson.MemberLevel{
		Owner: kerneltest.Upload(r, slices.Repeat([]int32{-1}, n)),
		Field: kerneltest.Upload(r, slices.Repeat([]int32{-1}, n)), Want: -1,
	}
	spans := kerneltest.Poisoned[kjson.KeySpan](r, 256)
	r.OK(kjson.UnknownKeys(r.Set, r.Stream, kerneltest.Upload(r, make([]byte, 1500)), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), level, 1, spans))
	got := slices.DeleteFunc(kerneltest.Read(r, spans), func(s kjson.KeySpan) bool { return s.Start < 0 })
	slices.SortFunc(got, func(a, b kjson.KeySpan) int { return int(a.Start - b.Start) })
	kerneltest.SameItems(t, "spans", got, []kjson.KeySpan{{4, 8}, {5, 5}})
}

// PlaceLevels gives what PlaceMembers gives for each level.
func TestPlaceLevels(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 3))
	for _, n := range []int{0, 1, 33, 257, 5000} {
		for _, few := range []int{2, 9, 40, 1500} { // of the last, some are beyond what a block reports by itself
			x := keyedMembers(rng, n, few, func(name int) int32 { return int32(name) - 1 })
			rows := 1 + n/4
			for i := range x.row {
				x.row[i] = int32((i + 1) / 4) // so that blocks cut rows
			}
			if n > 40 {
				x.row[7], x.row[8] = -1, int32(rows)
			}
			p := kjson.LevelPlan{
				Row: kerneltest.Upload(r, x.row), Owner: kerneltest.Upload(r, x.owner),
				Field: kerneltest.Upload(r, x.field),
				Kind:  kerneltest.Upload(r, x.kind), Wants: [2]int32{0, 3}, Rows: rows,
				Fields: [3]int{3, few, 1 + few/3},
			}
			columns := make([]int32, 0, few)
			for f := range max(0, few-3) {
				columns = append(columns, int32(few-f)%int32(few/2)-1)
			}
			last := x.field
			if few > 9 {
				p.Columns, last = kerneltest.Upload(r, columns), slices.Clone(x.field)
				for i, f := range last {
					if last[i] = -1; f >= 0 && int(f) < len(columns) {
						last[i] = columns[f]
					}
				}
			}
			fields := p.Fields[0] + p.Fields[1] + p.Fields[2]
			p.Slots, p.Report, p.Odd = kerneltest.Poisoned[int32](r, fields*rows),
				kerneltest.Poisoned[kjson.FieldReport](r, fields),
				kerneltest.Poisoned[kjson.PlaceReport](r, 3)
			r.OK(kjson.PlaceLevels(r.Set, r.Stream, p))
			slots, report, odd := kerneltest.Read(r, p.Slots), kerneltest.Read(r, p.Report), kerneltest.Read(r, p.Odd)
			at := 0
			for level, fields := range p.Fields {
				of := append([]int32{-1}, p.Wants[:]...)[level]
				field := x.field
				if level == 2 {
					field = last
				}
				want := placePlainly(&memberList{
					row: x.row, owner: x.owner, field: field, ownerField: x.field,
					kind: x.kind,
				}, of, rows, fields)
				what := fmt.Sprintf("%d members, %d fields, level %d", n, few, level)
				kerneltest.SameItems(t, what, slots[at*rows:(at+fields)*rows], want.slots)
				kerneltest.SameItems(t, what, report[at:at+fields], want.report)
				if odd[level] != want.odd {
					t.Errorf("%s: %+v, want %+v", what, odd[level], want.odd)
				}
				at += fields
			}
		}
	}
}

func TestCountMembers(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 2))
	for _, n := range []int{0, 1, 32, 65, 4096, 4097, 9000} {
		for _, fields := range []int{1, 7, 1024, 1500} {
			x := keyedMembers(rng, n, 1600, func(name int) int32 { return int32(name*name%1601) - 1 })
			for _, want := range []int32{-1, 0, 4} {
				const skip = 1<<3 | 1<<63
				counts, nested := kerneltest.Poisoned[int64](r, fields), kerneltest.Poisoned[uint64](r,
					kernels.Words(n))
				r.OK(kjson.CountMembers(r.Set, r.Stream, x.level(r, want), kerneltest.Upload(r, x.kind),
					skip, counts, nested))
				r.OK(kjson.CountMembers(r.Set, r.Stream, x.level(r, want), kerneltest.Upload(r, x.kind),
					skip, counts, kernels.Mask{}))
				expected := make([]int64, fields)
				for i := range n {
					if f := x.field[i]; x.of(i, want) && f >= 0 && int(f) < fields {
						expected[f]++
					}
				}
				what := fmt.Sprintf("%d members, %d fields, level %d", n, fields, want)
				kerneltest.SameItems(t, what, kerneltest.Read(r, counts), expected)
				kerneltest.SameMask(t, what, nil, kerneltest.Read(r, nested), kerneltest.Bitmap(n, func(i int) bool {
					return x.of(i, want) && x.kind[i] >= kjson.ValueObject && x.field[i] != 3 && x.field[i] != 63
				}))
			}
		}
	}
}

func TestMembersRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	at, level := kerneltest.Upload(r, make([]int64, 3)), kjson.MemberLevel{
		Owner: kerneltest.Upload(r, make([]int32, 3)),
		Field: kerneltest.Upload(r, make([]int32, 3)),
	}
	text, kind := kerneltest.Upload(r, make([]byte, 9)), kerneltest.Upload(r, make([]kjson.ValueKind, 3))
	for what, err := range map[string]error{
		"three spans": kjson.UnknownKeys(r.Set, r.Stream, text, at, at, level, 0,
			kerneltest.Poisoned[kjson.KeySpan](r, 3)),
		"no spans": kjson.UnknownKeys(r.Set, r.Stream, text, at, at, level, 0, gpu.Buffer[kjson.KeySpan]{}),
		"a key too few": kjson.UnknownKeys(r.Set, r.Stream, text, at.Slice(0, 2), at.Slice(0, 2), level, 0,
			kerneltest.Poisoned[kjson.KeySpan](r, 4)),
		"a kind too few": kjson.CountMembers(r.Set, r.Stream, level, kind.Slice(0, 2), 0,
			kerneltest.Poisoned[int64](r, 4), kernels.Mask{}),
		"two words of mask": kjson.CountMembers(r.Set, r.Stream, level, kind, 0, kerneltest.Poisoned[int64](r, 4),
			kerneltest.Poisoned[uint64](r, 2)),
		"no slots": kjson.PlaceLevels(r.Set, r.Stream, kjson.LevelPlan{
			Row: level.Owner, Owner: level.Owner,
			Field: level.Field, Kind: kind, Rows: 3, Fields: [3]int{1, 0, 0},
			Report: kerneltest.Poisoned[kjson.FieldReport](r, 1), Odd: kerneltest.Poisoned[kjson.PlaceReport](r, 3),
		}),
		"two levels": kjson.PlaceLevels(r.Set, r.Stream, kjson.LevelPlan{
			Row: level.Owner, Owner: level.Owner,
			Field: level.Field, Kind: kind, Odd: kerneltest.Poisoned[kjson.PlaceReport](r, 2),
		}),
		"an owner too few": kjson.CountMembers(r.Set, r.Stream, kjson.MemberLevel{
			Owner: level.Owner.Slice(0, 2),
			Field: level.Field,
		}, kind, 0, kerneltest.Poisoned[int64](r, 4), kernels.Mask{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
