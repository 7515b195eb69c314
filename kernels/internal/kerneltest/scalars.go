package kerneltest

import (
	"math/rand/v2"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// ScalarTable is a table whose values are members of one text.
type ScalarTable struct {
	Tokens
	Kinds []kjson.ValueKind
	Slots [][]int32
}

// RandomTable has values drawn from those of each column, and rows without.
func RandomTable(rng *rand.Rand, rows int, columns [][]string) *ScalarTable {
	x := &ScalarTable{Slots: make([][]int32, len(columns))}
	kinds := map[byte]kjson.ValueKind{
		'n': kjson.ValueNull, 'f': kjson.ValueFalse, 't': kjson.ValueTrue,
		'"': kjson.ValueString, '{': kjson.ValueObject, '[': kjson.ValueArray,
	}
	for range rows {
		for c, values := range columns {
			if rng.IntN(5) == 0 {
				x.Slots[c] = append(x.Slots[c], -1)
				continue
			}
			x.Slots[c] = append(x.Slots[c], int32(len(x.Kinds)))
			token := values[rng.IntN(len(values))]
			kind, ok := kinds[token[0]]
			if !ok {
				kind = kjson.ValueNumber
			}
			x.Kinds = append(x.Kinds, kind)
			x.Add(token, ",")
		}
	}
	return x
}

// Value is the text of a row's value, "null" if there is none.
func (x *ScalarTable) Value(column, row int) (text string, kind kjson.ValueKind) {
	m := x.Slots[column][row]
	if m < 0 {
		return "null", kjson.ValueNull
	}
	return x.Token(int(m)), x.Kinds[m]
}

// ReadScalars runs ReadMembers on a table, some columns of which are expected to be numbers.
func ReadScalars(r *Rig, x *ScalarTable, rows int, expected []knumber.NumberColumn,
	undecided kernels.Mask,
) (text gpu.Buffer[byte], to knumber.Scalars) {
	r.Helper()
	text, to, _ = ReadMembers(r, x, rows, kjson.ScalarColumns{Expected: expected, Undecided: undecided})
	return text, to
}

// ReadMembers runs ReadMembers on a table. some says what is expected and measured.
func ReadMembers(r *Rig, x *ScalarTable, rows int, some kjson.ScalarColumns) (text gpu.Buffer[byte],
	to knumber.Scalars, texts *ktext.Texts,
) {
	r.Helper()
	some, text = x.Columns(r, rows, some)
	texts, err := kjson.ReadMembers(r.Set, r.Stream, text, x.Values(r), some, nil)
	r.OK(err)
	return text, some.To, texts
}

// Columns uploads a table and takes memory for its single values.
func (x *ScalarTable) Columns(r *Rig, rows int, some kjson.ScalarColumns) (_ kjson.ScalarColumns,
	text gpu.Buffer[byte],
) {
	r.Helper()
	columns := len(x.Slots)
	values, words := columns*rows, columns*kernels.Words(rows)
	some.To = knumber.Scalars{
		Starts: Poisoned[int64](r, values), Ends: Poisoned[int64](r, values), Kinds: Poisoned[uint32](r, columns),
		Valid: Poisoned[uint64](r, words), Numbers: Poisoned[uint64](r, words), Trues: Poisoned[uint64](r, words),
	}
	for _, slots := range x.Slots {
		some.Slots = append(some.Slots, Upload(r, slots))
	}
	return some, Upload(r, x.Text)
}

// Values uploads the members.
func (x *ScalarTable) Values(r *Rig) kjson.MemberValues {
	r.Helper()
	return kjson.MemberValues{Start: UploadShort(r, x.Starts), End: UploadShort(r, x.Ends), Kind: Upload(r, x.Kinds)}
}
