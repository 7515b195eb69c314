package json_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
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
	r := kerneltest.Open(t)
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
			x := kerneltest.RandomTable(rng, rows, values)
			members := kjson.ScalarColumns{Texts: of, Offsets: kerneltest.Poisoned[int64](r, len(of)*(rows+1))}
			text, to, texts := kerneltest.ReadMembers(r, x, rows, members)
			if len(texts.Of) != len(of) {
				t.Fatalf("%s: %d texts", what, len(texts.Of))
			}
			for i, c := range of {
				starts, ends := to.Starts.Slice(c*rows, (c+1)*rows), to.Ends.Slice(c*rows, (c+1)*rows)
				offsets := kerneltest.Poisoned[int64](r, rows+1)
				want, err := ktext.MeasureShortStrings(r.Set, r.Stream, text, starts, ends, ktext.StringsJSON, offsets)
				r.OK(err)
				sameTexts(r, fmt.Sprintf("%s: column %d", what, c), texts.Of[i], want,
					members.Offsets.Slice(i*(rows+1), (i+1)*(rows+1)), offsets)
				r.OK(want.Free(r.Stream))
			}
			r.OK(texts.Free(r.Stream))
		}
	}
}

// sameTexts compares columns of strings, their long strings measured, too.
func sameTexts(r *kerneltest.Rig, what string, got, want *ktext.Strings, offsets, wantOffsets gpu.Buffer[int64]) {
	r.Helper()
	for _, step := range []string{"short strings", "long strings"} {
		if step == "long strings" { // which no offset is known without
			kerneltest.SameItems(r, what+": offsets of "+step, kerneltest.Read(r, offsets),
				kerneltest.Read(r, wantOffsets))
		}
		kerneltest.SameItems(r, what+": summary of "+step, kerneltest.Read(r, got.Summary),
			kerneltest.Read(r, want.Summary))
		masks := []kernels.Mask{want.Escaped, want.Control, want.NotUTF8, want.Malformed, want.Replaced}
		for i, mask := range []kernels.Mask{got.Escaped, got.Control, got.NotUTF8, got.Malformed, got.Replaced} {
			kerneltest.SameItems(r, fmt.Sprintf("%s: flag %d of %s", what, i, step), kerneltest.Read(r, mask),
				kerneltest.Read(r, masks[i]))
		}
		room := 1<<20 + 64*offsets.Len()
		out, wantOut, narrow, wantNarrow := kerneltest.Poisoned[byte](r, room), kerneltest.Poisoned[byte](r, room),
			kerneltest.Poisoned[int32](r, offsets.Len()), kerneltest.Poisoned[int32](r, offsets.Len())
		r.OK(ktext.GatherStrings(r.Set, r.Stream, got, out, narrow))
		r.OK(ktext.GatherStrings(r.Set, r.Stream, want, wantOut, wantNarrow))
		kerneltest.SameItems(r, what+": narrow offsets of "+step, kerneltest.Read(r, narrow),
			kerneltest.Read(r, wantNarrow))
		bytes := kerneltest.Read(r, wantOffsets)[wantOffsets.Len()-1]
		if sum := kerneltest.Read(r, want.Summary)[0].Bytes; step == "short strings" && sum != bytes {
			r.Errorf("%s: %d bytes, want %d", what, sum, bytes)
		}
		kerneltest.SameItems(r, what+": bytes of "+step, kerneltest.Read(r, out)[:bytes],
			kerneltest.Read(r, wantOut)[:bytes])
		if kerneltest.Read(r, want.Summary)[0].HasLong == 0 || step == "long strings" {
			return
		}
		if n := offsets.Len(); ktext.MeasureLongStrings(r.Set, r.Stream, got, kerneltest.Poisoned[int64](r, n)) == nil {
			r.Errorf("%s: no error with other offsets", what)
		}
		r.OK(ktext.MeasureLongStrings(r.Set, r.Stream, got, offsets))
		r.OK(ktext.MeasureLongStrings(r.Set, r.Stream, want, wantOffsets))
	}
}

// Texts in columns that there are not, or in another order, or without room for their offsets.
func TestReadMembersTextsRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	x := kerneltest.RandomTable(rand.New(rand.NewPCG(7, 6)), 70, [][]string{{`"a"`}, {`"b"`}})
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
		members, text := x.Columns(r, 70, kjson.ScalarColumns{
			Texts:   tt.texts,
			Offsets: kerneltest.Poisoned[int64](r, tt.offsets),
		})
		if texts, err := kjson.ReadMembers(r.Set, r.Stream, text, x.Values(r), members, nil); err == nil ||
			texts != nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

// The types of geometries and of records, each in a launch of its own, at every alignment, far from
// the text's end and at it.
func TestReadMembersNames(t *testing.T) {
	r := kerneltest.Open(t)
	for i, name := range kerneltest.LikeTypeNames() {
		if name == `x"\u0050` { // which no string is
			continue
		}
		for shift := range 16 {
			for _, behind := range []int{0, 1, 15, 40} {
				text := slices.Concat(bytes.Repeat([]byte{'"'}, shift+1), []byte(name), []byte{'"'},
					bytes.Repeat([]byte{'x'}, behind))
				x := kerneltest.ScalarTable{Tokens: kerneltest.Tokens{
					Text: text, Starts: []int64{int64(shift)},
					Ends: []int64{int64(shift + len(name) + 2)},
				}, Kinds: []kjson.ValueKind{kjson.ValueString}}
				one, none := kerneltest.Upload(r, []int32{0}), kerneltest.Upload(r, []int32{-1})
				g := newGeometryRows(r, kjson.GeometryMembers{
					Record: one, Type: one, Coordinates: none,
					Geometries: none, Base: kerneltest.Upload(r, []int64{0}),
				})
				_, err := kjson.ReadMembers(r.Set, r.Stream, kerneltest.Upload(r, text), x.Values(r),
					kjson.ScalarColumns{}, g)
				r.OK(err)
				want := kerneltest.GeojsonType(text[shift+1:])
				if got, named := kerneltest.Read(r, g.To.Kinds)[0],
					kerneltest.Read(r, g.Report)[0].Named; got != want ||
					named != 1<<min(want, 31) {
					t.Fatalf("name %d, %q, at byte %d with %d bytes behind it: type %d, named %#x; want %d",
						i, name, shift+1, behind, got, named, want)
				}
			}
		}
	}
}

// newGeometryRows takes memory for what is read of geometries.
func newGeometryRows(r *kerneltest.Rig, of kjson.GeometryMembers) *kjson.GeometryRows {
	r.Helper()
	n := of.Type.Len()
	return &kjson.GeometryRows{
		GeometryMembers: of,
		To: kgeom.Coordinates{
			Starts: kerneltest.Poisoned[int64](r, n), Ends: kerneltest.Poisoned[int64](r, n),
			Kinds: kerneltest.Poisoned[kgeom.TypeKind](r, n),
		},
		Kinds: kerneltest.Poisoned[kgeom.GeometryKind](r, n), Valid: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
		Report: kerneltest.Poisoned[kgeom.GeometryReport](r, 1),
	}
}

// Columns and geometries in one launch are what they are in two.
func TestReadMembersTogether(t *testing.T) {
	r := kerneltest.Open(t)
	for _, rows := range []int{1, 64, 257, 700} {
		rng := rand.New(rand.NewPCG(7, uint64(rows)))
		var all []kerneltest.RowGeometry
		for range rows {
			all = append(all, kerneltest.RowGeometry{
				Kind: kgeom.TypeKind(1 + rng.IntN(8)), Valid: rng.IntN(4) > 0,
				Coordinates: rng.IntN(4) > 0, Geometries: rng.IntN(2) > 0,
			})
		}
		m := kerneltest.GeometryMembers(all, true)
		x := kerneltest.ScalarTable{
			Tokens: kerneltest.Tokens{Text: m.Text, Starts: m.Starts, Ends: m.Ends},
			Kinds:  m.Kinds,
		}
		of := kjson.GeometryMembers{
			Type: kerneltest.Upload(r, m.Slots[0]), Geometry: kerneltest.Upload(r, m.Slots[3]),
			Coordinates: kerneltest.Upload(r, m.Slots[1]), Geometries: kerneltest.Upload(r, m.Slots[2]),
			Base: kerneltest.Upload(r, m.Base),
		}
		for _, columns := range []int{1, 7, 8, 9} {
			what := fmt.Sprintf("%d rows, %d columns", rows, columns)
			x.Slots = slices.Repeat([][]int32{m.Slots[0]}, columns)
			texts := []int{columns - 1}
			run := func(g *kjson.GeometryRows) (knumber.Scalars, gpu.Buffer[int64]) {
				some, text := x.Columns(r, rows, kjson.ScalarColumns{
					Texts:   texts,
					Offsets: kerneltest.Poisoned[int64](r, rows+1),
				})
				got, err := kjson.ReadMembers(r.Set, r.Stream, text, x.Values(r), some, g)
				r.OK(err)
				r.OK(got.Free(r.Stream))
				return some.To, some.Offsets
			}
			together, alone := newGeometryRows(r, of), newGeometryRows(r, of)
			got, offsets := run(together)
			want, wantOffsets := run(nil)
			_, err := kjson.ReadMembers(r.Set, r.Stream, kerneltest.Upload(r, m.Text), x.Values(r),
				kjson.ScalarColumns{}, alone)
			r.OK(err)
			kerneltest.SameItems(r, what+": starts", kerneltest.Read(r, got.Starts), kerneltest.Read(r, want.Starts))
			kerneltest.SameItems(r, what+": ends", kerneltest.Read(r, got.Ends), kerneltest.Read(r, want.Ends))
			kerneltest.SameItems(r, what+": valid", kerneltest.Read(r, got.Valid), kerneltest.Read(r, want.Valid))
			kerneltest.SameItems(r, what+": offsets", kerneltest.Read(r, offsets), kerneltest.Read(r, wantOffsets))
			kerneltest.SameItems(r, what+": coordinates", kerneltest.Read(r, together.To.Starts),
				kerneltest.Read(r, alone.To.Starts))
			kerneltest.SameItems(r, what+": types", kerneltest.Read(r, together.To.Kinds),
				kerneltest.Read(r, alone.To.Kinds))
			kerneltest.SameItems(r, what+": kinds", kerneltest.Read(r, together.Kinds), kerneltest.Read(r, alone.Kinds))
			kerneltest.SameItems(r, what+": geometries", kerneltest.Read(r, together.Valid),
				kerneltest.Read(r, alone.Valid))
			kerneltest.SameItems(r, what+": report", kerneltest.Read(r, together.Report),
				kerneltest.Read(r, alone.Report))
		}
		if _, err := kjson.ReadMembers(r.Set, r.Stream, kerneltest.Upload(r, m.Text), x.Values(r),
			kjson.ScalarColumns{Slots: []gpu.Buffer[int32]{kerneltest.Upload(r, m.Slots[0][1:])}},
			newGeometryRows(r, of)); rows > 1 && err == nil {
			t.Errorf("%d rows: no error for columns of fewer", rows)
		}
	}
}
