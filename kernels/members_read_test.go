package kernels_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// textValues are values of columns of texts: short and long strings, what is odd in them, and other
// values among them.
var textValues = [...][]string{
	{`"x y"`, `""`, `"\u00e9"`, `"\ud83c\udfe0 \ud83c"`, `"tab\t\\"`, `"\x"`, "\"a\x01b\"", "\"\xff\"", "null"},
	{`"Elm St"`, "12", "-1.5e3", "true", "false", "null", `"` + strings.Repeat("a", 256) + `"`},
	{`"` + strings.Repeat(`\n`, 200) + `"`, `"` + strings.Repeat("b", 3000) + `"`, `"c"`},
	{"7", "null", "[1]", `{"a":1}`},
}

// TestReadMembersTexts measures some columns of a table as texts while they are read, and holds
// what comes out against MeasureShortStrings.
func TestReadMembersTexts(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 5))
	// the last ones are more than blocks add up by themselves
	for _, rows := range []int{0, 1, 65, 257, 512, 700, 1<<20 + 1} {
		for _, columns := range []int{1, 3, 8, 9, 17} {
			if rows > 1<<20 && (columns > 1 || testing.Short()) {
				continue
			}
			values := make([][]string, columns)
			var of []int
			for c := range values {
				values[c] = textValues[rng.IntN(len(textValues))]
				if rng.IntN(3) > 0 || columns == 1 {
					of = append(of, c)
				}
			}
			what := fmt.Sprintf("%d rows, texts %d of %d columns", rows, of, columns)
			x := randomTable(rng, rows, values)
			members := kernels.ScalarColumns{Texts: of, Offsets: poisoned[int64](r, len(of)*(rows+1))}
			text, to, texts := readMembers(r, x, rows, members)
			if len(texts.Of) != len(of) {
				t.Fatalf("%s: %d texts", what, len(texts.Of))
			}
			for i, c := range of {
				starts, ends := to.Starts.Slice(c*rows, (c+1)*rows), to.Ends.Slice(c*rows, (c+1)*rows)
				offsets := poisoned[int64](r, rows+1)
				want, err := r.k.MeasureShortStrings(r.s, text, starts, ends, kernels.StringsJSON, offsets)
				r.ok(err)
				sameTexts(r, fmt.Sprintf("%s: column %d", what, c), texts.Of[i], want,
					members.Offsets.Slice(i*(rows+1), (i+1)*(rows+1)), offsets)
				r.ok(want.Free(r.s))
			}
			r.ok(texts.Free(r.s))
		}
	}
}

// sameTexts compares columns of strings, their long strings measured, too.
func sameTexts(r *rig, what string, got, want *kernels.Strings, offsets, wantOffsets gpu.Buffer[int64]) {
	r.Helper()
	for _, step := range []string{"short strings", "long strings"} {
		if step == "long strings" { // which no offset is known without
			sameItems(r, what+": offsets of "+step, read(r, offsets), read(r, wantOffsets))
		}
		sameItems(r, what+": summary of "+step, read(r, got.Summary), read(r, want.Summary))
		masks := []kernels.Mask{want.Escaped, want.Control, want.NotUTF8, want.Malformed, want.Replaced}
		for i, mask := range []kernels.Mask{got.Escaped, got.Control, got.NotUTF8, got.Malformed, got.Replaced} {
			sameItems(r, fmt.Sprintf("%s: flag %d of %s", what, i, step), read(r, mask), read(r, masks[i]))
		}
		room := 1<<20 + 64*offsets.Len()
		out, wantOut, narrow, wantNarrow := poisoned[byte](r, room), poisoned[byte](r, room),
			poisoned[int32](r, offsets.Len()), poisoned[int32](r, offsets.Len())
		r.ok(r.k.GatherStrings(r.s, got, out, narrow))
		r.ok(r.k.GatherStrings(r.s, want, wantOut, wantNarrow))
		sameItems(r, what+": narrow offsets of "+step, read(r, narrow), read(r, wantNarrow))
		bytes := read(r, wantOffsets)[wantOffsets.Len()-1]
		if sum := read(r, want.Summary)[0].Bytes; step == "short strings" && sum != bytes {
			r.Errorf("%s: %d bytes, want %d", what, sum, bytes)
		}
		sameItems(r, what+": bytes of "+step, read(r, out)[:bytes], read(r, wantOut)[:bytes])
		if read(r, want.Summary)[0].Long == 0 || step == "long strings" {
			return
		}
		if n := offsets.Len(); r.k.MeasureLongStrings(r.s, got, poisoned[int64](r, n)) == nil {
			r.Errorf("%s: no error with other offsets", what)
		}
		r.ok(r.k.MeasureLongStrings(r.s, got, offsets))
		r.ok(r.k.MeasureLongStrings(r.s, want, wantOffsets))
	}
}

// Texts in columns that there are not, or in another order, or without room for their offsets.
func TestReadMembersTextsRefuses(t *testing.T) {
	r := open(t)
	x := randomTable(rand.New(rand.NewPCG(7, 6)), 70, [][]string{{`"a"`}, {`"b"`}})
	for _, tt := range []struct {
		name    string
		texts   []int
		offsets int
	}{
		{"beyond the columns", []int{2}, 71},
		{"before them", []int{-1}, 71},
		{"twice", []int{1, 1}, 142},
		{"out of order", []int{1, 0}, 142},
		{"few offsets", []int{0, 1}, 141},
		{"offsets of nothing", nil, 71},
	} {
		members, text := x.columns(r, 70, kernels.ScalarColumns{
			Texts:   tt.texts,
			Offsets: poisoned[int64](r, tt.offsets),
		})
		if texts, err := r.k.ReadMembers(r.s, text, x.values(r), members, nil); err == nil || texts != nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

// The types of geometries and of records, each in a launch of its own, at every alignment, far from
// the text's end and at it.
func TestReadMembersNames(t *testing.T) {
	r := open(t)
	for i, name := range likeTypeNames() {
		if name == `x"\u0050` { // which no string is
			continue
		}
		for shift := range 16 {
			for _, behind := range []int{0, 1, 15, 40} {
				text := slices.Concat(bytes.Repeat([]byte{'"'}, shift+1), []byte(name), []byte{'"'},
					bytes.Repeat([]byte{'x'}, behind))
				x := scalarTable{tokens: tokens{
					text: text, starts: []int64{int64(shift)},
					ends: []int64{int64(shift + len(name) + 2)},
				}, kinds: []kernels.ValueKind{kernels.ValueString}}
				one, none := upload(r, []int32{0}), upload(r, []int32{-1})
				g := newGeometryRows(r, kernels.GeometryMembers{
					Record: one, Type: one, Coordinates: none,
					Geometries: none, Base: upload(r, []int64{0}),
				})
				_, err := r.k.ReadMembers(r.s, upload(r, text), x.values(r), kernels.ScalarColumns{}, g)
				r.ok(err)
				want := geojsonType(text[shift+1:])
				if got, named := read(r, g.To.Kinds)[0], read(r, g.Report)[0].Named; got != want ||
					named != 1<<min(want, 31) {
					t.Fatalf("name %d, %q, at byte %d with %d bytes behind it: type %d, named %#x; want %d",
						i, name, shift+1, behind, got, named, want)
				}
			}
		}
	}
}

// newGeometryRows takes memory for what is read of geometries.
func newGeometryRows(r *rig, of kernels.GeometryMembers) *kernels.GeometryRows {
	r.Helper()
	n := of.Type.Len()
	return &kernels.GeometryRows{
		GeometryMembers: of,
		To: kernels.Coordinates{
			Starts: poisoned[int64](r, n), Ends: poisoned[int64](r, n),
			Kinds: poisoned[kernels.TypeKind](r, n),
		},
		Kinds: poisoned[kernels.GeometryKind](r, n), Valid: poisoned[uint64](r, kernels.Words(n)),
		Report: poisoned[kernels.GeometryReport](r, 1),
	}
}

// Columns and geometries in one launch are what they are in two.
func TestReadMembersTogether(t *testing.T) {
	r := open(t)
	for _, rows := range []int{1, 64, 257, 700} {
		rng := rand.New(rand.NewPCG(7, uint64(rows)))
		var all []rowGeometry
		for range rows {
			all = append(all, rowGeometry{
				kind: kernels.TypeKind(1 + rng.IntN(8)), valid: rng.IntN(4) > 0,
				coordinates: rng.IntN(4) > 0, geometries: rng.IntN(2) > 0,
			})
		}
		m := geometryMembers(all, true)
		x := scalarTable{tokens: tokens{text: m.text, starts: m.starts, ends: m.ends}, kinds: m.kinds}
		of := kernels.GeometryMembers{
			Type: upload(r, m.slots[0]), Geometry: upload(r, m.slots[3]),
			Coordinates: upload(r, m.slots[1]), Geometries: upload(r, m.slots[2]), Base: upload(r, m.base),
		}
		for _, columns := range []int{1, 7, 8, 9} {
			what := fmt.Sprintf("%d rows, %d columns", rows, columns)
			x.slots = slices.Repeat([][]int32{m.slots[0]}, columns)
			texts := []int{columns - 1}
			run := func(g *kernels.GeometryRows) (kernels.Scalars, gpu.Buffer[int64]) {
				some, text := x.columns(r, rows, kernels.ScalarColumns{
					Texts:   texts,
					Offsets: poisoned[int64](r, rows+1),
				})
				got, err := r.k.ReadMembers(r.s, text, x.values(r), some, g)
				r.ok(err)
				r.ok(got.Free(r.s))
				return some.To, some.Offsets
			}
			together, alone := newGeometryRows(r, of), newGeometryRows(r, of)
			got, offsets := run(together)
			want, wantOffsets := run(nil)
			_, err := r.k.ReadMembers(r.s, upload(r, m.text), x.values(r), kernels.ScalarColumns{}, alone)
			r.ok(err)
			sameItems(r, what+": starts", read(r, got.Starts), read(r, want.Starts))
			sameItems(r, what+": ends", read(r, got.Ends), read(r, want.Ends))
			sameItems(r, what+": valid", read(r, got.Valid), read(r, want.Valid))
			sameItems(r, what+": offsets", read(r, offsets), read(r, wantOffsets))
			sameItems(r, what+": coordinates", read(r, together.To.Starts), read(r, alone.To.Starts))
			sameItems(r, what+": types", read(r, together.To.Kinds), read(r, alone.To.Kinds))
			sameItems(r, what+": kinds", read(r, together.Kinds), read(r, alone.Kinds))
			sameItems(r, what+": geometries", read(r, together.Valid), read(r, alone.Valid))
			sameItems(r, what+": report", read(r, together.Report), read(r, alone.Report))
		}
		if _, err := r.k.ReadMembers(r.s, upload(r, m.text), x.values(r),
			kernels.ScalarColumns{Slots: []gpu.Buffer[int32]{upload(r, m.slots[0][1:])}},
			newGeometryRows(r, of)); rows > 1 && err == nil {
			t.Errorf("%d rows: no error for columns of fewer", rows)
		}
	}
}
