package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// listText is arrays as values of one member a row, and what their elements are.
type listText struct {
	valuesText
	elements [][]string // of each array that are scalars, as the text has them
	flags    []uint32   // of each array
}

// listElements are elements, and what each says of its array.
var listElements = []struct {
	text string
	flag uint32
}{
	{`1`, uint32(kernels.ListNumber) | kernels.NumberInt32},
	{`-2.5e3`, uint32(kernels.ListNumber) | kernels.NumberReal},
	{`18446744073709551615`, uint32(kernels.ListNumber) | kernels.NumberUint64 | kernels.NumberInexact},
	{`"a"`, uint32(kernels.ListString)},
	{`""`, uint32(kernels.ListString)},
	{`"],\"[1"`, uint32(kernels.ListString)},
	{`"` + strings.Repeat("long ", 40) + `"`, uint32(kernels.ListString)},
	{`true`, uint32(kernels.ListBool)},
	{`false`, uint32(kernels.ListBool)},
	{`null`, uint32(kernels.ListOdd)},
	{`[1, "x"]`, uint32(kernels.ListOdd)},
	{`{"a": [2]}`, uint32(kernels.ListOdd)},
}

// randomLists gives rows arrays. few is from how many kinds of elements those of an array are
// drawn.
func randomLists(rng *rand.Rand, rows, few, most int) *listText {
	l := &listText{}
	blank := func() string { return strings.Repeat(" ", max(0, rng.IntN(5)-3)*rng.IntN(90)) }
	for range rows {
		var b strings.Builder
		var scalars []string
		var flags uint32
		b.WriteString("[" + blank())
		from := rng.IntN(len(listElements))
		for i := range rng.IntN(most + 1) {
			if i > 0 {
				b.WriteString("," + blank())
			}
			e := listElements[(from+rng.IntN(few))%len(listElements)]
			b.WriteString(e.text + blank())
			flags |= e.flag
			if e.text[0] != '[' && e.text[0] != '{' {
				scalars = append(scalars, e.text)
			}
		}
		b.WriteString("]")
		l.add(b.String(), `{"p":{"x":[7],"a":`)
		l.text = append(l.text, "}},"...)
		l.elements, l.flags = append(l.elements, scalars), append(l.flags, flags)
	}
	return l
}

// reportOf is what MeasureLists says of arrays.
func reportOf(flags []uint32) (report uint32) {
	for _, f := range flags {
		switch family := kernels.ListFlags(f) &^ (kernels.ListBool - 1); {
		case f == 0:
			report |= uint32(kernels.ListEmpty)
		case family&kernels.ListOdd != 0 || family&(family-1) != 0:
			report |= uint32(kernels.ListOdd)
		default:
			report |= f
		}
	}
	return report
}

func TestLists(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(3, 14))
	for _, test := range []struct{ rows, few, most int }{
		{0, 1, 1},
		{1, 1, 1},
		{1, 3, 3000},
		{70, 1, 3},
		{300, 3, 40},
		{500, 12, 6},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			r := &rig{TB: t, k: r.k, s: r.s}
			checkLists(r, randomLists(rng, test.rows, test.few, test.most), rng)
		})
	}
}

// checkLists has every array but some in a column.
func checkLists(r *rig, l *listText, rng *rand.Rand) {
	r.Helper()
	n, rows := len(l.text), len(l.starts)
	text := upload(r, l.text)
	x, err := kernels.AllocStructure(r.s, n)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	r.ok(r.k.ParseStructure(r.s, text, x, gpu.Buffer[kernels.StructureCarry]{}))
	within := poisoned[uint64](r, kernels.Words(n))
	r.ok(r.k.MarkSpans(r.s, uploadShort(r, l.starts), uploadShort(r, l.ends), n, within))
	lists, err := r.k.FindElements(r.s, text, x, within, 3, uploadShort(r, l.starts))
	r.ok(err)
	defer func() { r.ok(lists.Free(r.s)) }()
	all := slices.Concat(l.elements...)
	total := read(r, lists.Total())[0]
	if total != int64(len(all)) {
		r.Fatalf("%d elements, want %d", total, len(all))
	}
	r.ok(r.k.ReadElements(r.s, lists, total))

	kinds, slots := make([]kernels.ValueKind, rows), make([]int32, rows)
	starts, ends := make([]int64, rows), make([]int64, rows)
	var want []string
	var flags []uint32
	wantOffsets := make([]int64, 1, rows+1)
	for i := range rows {
		kinds[i], slots[i] = kernels.ValueArray, -1
		switch rng.IntN(6) {
		case 0:
		case 1: // as if the array were a number
			kinds[i], slots[i] = kernels.ValueNumber, int32(i)
			want = append(want, string(l.text[l.starts[i]:l.ends[i]]))
		default:
			slots[i], starts[i], ends[i] = int32(i), l.starts[i], l.ends[i]
			want, flags = append(want, l.elements[i]...), append(flags, l.flags[i])
		}
		wantOffsets = append(wantOffsets, int64(len(want)))
	}
	members, kind := upload(r, slots), upload(r, kinds)
	from, to, offsets, report := upload(r, starts), upload(r, ends), poisoned[int64](r, rows+1), poisoned[uint32](r, 1)
	r.ok(r.k.MeasureLists(r.s, lists, members, kind, from, to, offsets, report))
	if got, want := read(r, report)[0], reportOf(flags); got != want {
		r.Errorf("report %#x, want %#x", got, want)
	}
	if got := read(r, offsets); !slices.Equal(got, wantOffsets) {
		r.Fatalf("offsets %d, want %d", got, wantOffsets)
	}
	first, last, trues := poisoned[int64](r, len(want)), poisoned[int64](r, len(want)),
		poisoned[uint64](r, kernels.Words(len(want)))
	r.ok(r.k.GatherElements(r.s, lists, members, kind, uploadShort(r, l.ends), from, offsets, first, last, trues))
	gotFirst, gotLast := read(r, first), read(r, last)
	for i, w := range want {
		if w[0] == '"' {
			w = w[1 : len(w)-1]
		}
		if got := string(l.text[gotFirst[i]:gotLast[i]]); got != w {
			r.Fatalf("element %d of %d is %.100q, want %.100q", i, len(want), got, w)
		}
	}
	sameMask(r, "trues", make([]byte, len(want)), read(r, trues), bitmap(len(want), func(i int) bool {
		return want[i] == "true"
	}))
}
