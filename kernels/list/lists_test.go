package list_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// listText is arrays as values of one member a row, and what their elements are.
type listText struct {
	kerneltest.ValuesText
	elements [][]string // of each array that are scalars, as the text has them
	flags    []uint32   // of each array
}

// listElements are elements, and what each says of its array.
var listElements = []struct {
	text string
	flag uint32
}{
	{`1`, uint32(klist.ListNumber) | knumber.NumberInt32},
	{`-2.5e3`, uint32(klist.ListNumber) | knumber.NumberReal},
	{`18446744073709551615`, uint32(klist.ListNumber) | knumber.NumberUint64 | knumber.NumberInexact},
	{`"a"`, uint32(klist.ListString)},
	{`""`, uint32(klist.ListString)},
	{`"],\"[1"`, uint32(klist.ListString)},
	{`"` + strings.Repeat("long ", 40) + `"`, uint32(klist.ListString)},
	{`true`, uint32(klist.ListBool)},
	{`false`, uint32(klist.ListBool)},
	{`null`, uint32(klist.ListOdd)},
	{`[1, "x"]`, uint32(klist.ListOdd)},
	{`{"a": [2]}`, uint32(klist.ListOdd)},
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
		l.Add(b.String(), `{"p":{"x":[7],"a":`)
		l.Text = append(l.Text, "}},"...)
		l.elements, l.flags = append(l.elements, scalars), append(l.flags, flags)
	}
	return l
}

// reportOf is what MeasureLists says of arrays.
func reportOf(flags []uint32) (report uint32) {
	for _, f := range flags {
		switch family := klist.ListFlags(f) &^ (klist.ListBool - 1); {
		case f == 0:
			report |= uint32(klist.ListEmpty)
		case family&klist.ListOdd != 0 || family&(family-1) != 0:
			report |= uint32(klist.ListOdd)
		default:
			report |= f
		}
	}
	return report
}

func TestLists(t *testing.T) {
	r := kerneltest.Open(t)
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
			r := &kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}
			checkLists(r, randomLists(rng, test.rows, test.few, test.most), rng)
		})
	}
}

// checkLists has every array but some in a column.
func checkLists(r *kerneltest.Rig, l *listText, rng *rand.Rand) {
	r.Helper()
	n, rows := len(l.Text), len(l.Starts)
	text := kerneltest.Upload(r, l.Text)
	x, err := kjson.AllocStructure(r.Stream, n)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, text, x, gpu.Buffer[kjson.StructureCarry]{}))
	within := kerneltest.Poisoned[uint64](r, kernels.Words(n))
	r.OK(ktext.MarkSpans(r.Set, r.Stream, kerneltest.UploadShort(r, l.Starts), kerneltest.UploadShort(r, l.Ends),
		n, within))
	lists, err := klist.FindElements(r.Set, r.Stream, text, x, within, 3, kerneltest.UploadShort(r, l.Starts))
	r.OK(err)
	defer func() { r.OK(lists.Free(r.Stream)) }()
	all := slices.Concat(l.elements...)
	total := kerneltest.Read(r, lists.Total())[0]
	if total != int64(len(all)) {
		r.Fatalf("%d elements, want %d", total, len(all))
	}
	r.OK(klist.ReadElements(r.Set, r.Stream, lists, total))

	kinds, slots := make([]kjson.ValueKind, rows), make([]int32, rows)
	starts, ends := make([]int64, rows), make([]int64, rows)
	var want []string
	var flags []uint32
	wantOffsets := make([]int64, 1, rows+1)
	for i := range rows {
		kinds[i], slots[i] = kjson.ValueArray, -1
		switch rng.IntN(6) {
		case 0:
		case 1: // as if the array were a number
			kinds[i], slots[i] = kjson.ValueNumber, int32(i)
			want = append(want, string(l.Text[l.Starts[i]:l.Ends[i]]))
		default:
			slots[i], starts[i], ends[i] = int32(i), l.Starts[i], l.Ends[i]
			want, flags = append(want, l.elements[i]...), append(flags, l.flags[i])
		}
		wantOffsets = append(wantOffsets, int64(len(want)))
	}
	members, kind := kerneltest.Upload(r, slots), kerneltest.Upload(r, kinds)
	from, to, offsets, report := kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
		kerneltest.Poisoned[int64](r, rows+1), kerneltest.Poisoned[uint32](r, 1)
	r.OK(klist.MeasureLists(r.Set, r.Stream, lists, members, kind, from, to, offsets, report))
	if got, want := kerneltest.Read(r, report)[0], reportOf(flags); got != want {
		r.Errorf("report %#x, want %#x", got, want)
	}
	if got := kerneltest.Read(r, offsets); !slices.Equal(got, wantOffsets) {
		r.Fatalf("offsets %d, want %d", got, wantOffsets)
	}
	first, last, trues := kerneltest.Poisoned[int64](r, len(want)), kerneltest.Poisoned[int64](r, len(want)),
		kerneltest.Poisoned[uint64](r, kernels.Words(len(want)))
	r.OK(klist.GatherElements(r.Set, r.Stream, lists, members, kind, kerneltest.UploadShort(r, l.Ends),
		from, offsets, first, last, trues))
	gotFirst, gotLast := kerneltest.Read(r, first), kerneltest.Read(r, last)
	for i, w := range want {
		if w[0] == '"' {
			w = w[1 : len(w)-1]
		}
		if got := string(l.Text[gotFirst[i]:gotLast[i]]); got != w {
			r.Fatalf("element %d of %d is %.100q, want %.100q", i, len(want), got, w)
		}
	}
	kerneltest.SameMask(r, "trues", make([]byte, len(want)), kerneltest.Read(r, trues),
		kerneltest.Bitmap(len(want), func(i int) bool {
			return want[i] == "true"
		}))
}
