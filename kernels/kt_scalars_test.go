package kernels_test

import (
	"math/rand/v2"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// scalarTable is a table whose values are members of one text.
type scalarTable struct {
	tokens
	kinds []kernels.ValueKind
	slots [][]int32
}

// randomTable has values drawn from those of each column, and rows without.
func randomTable(rng *rand.Rand, rows int, columns [][]string) *scalarTable {
	x := &scalarTable{slots: make([][]int32, len(columns))}
	kinds := map[byte]kernels.ValueKind{
		'n': kernels.ValueNull, 'f': kernels.ValueFalse, 't': kernels.ValueTrue,
		'"': kernels.ValueString, '{': kernels.ValueObject, '[': kernels.ValueArray,
	}
	for range rows {
		for c, values := range columns {
			if rng.IntN(5) == 0 {
				x.slots[c] = append(x.slots[c], -1)
				continue
			}
			x.slots[c] = append(x.slots[c], int32(len(x.kinds)))
			token := values[rng.IntN(len(values))]
			kind, ok := kinds[token[0]]
			if !ok {
				kind = kernels.ValueNumber
			}
			x.kinds = append(x.kinds, kind)
			x.add(token, ",")
		}
	}
	return x
}

// value is the text of a row's value, "null" if there is none.
func (x *scalarTable) value(column, row int) (text string, kind kernels.ValueKind) {
	m := x.slots[column][row]
	if m < 0 {
		return "null", kernels.ValueNull
	}
	return x.token(int(m)), x.kinds[m]
}

// readScalars runs ReadMembers on a table, some columns of which are expected to be numbers.
func readScalars(r *rig, x *scalarTable, rows int, expected []kernels.NumberColumn,
	undecided kernels.Mask,
) (text gpu.Buffer[byte], to kernels.Scalars) {
	r.Helper()
	text, to, _ = readMembers(r, x, rows, kernels.ScalarColumns{Expected: expected, Undecided: undecided})
	return text, to
}

// readMembers runs ReadMembers on a table. some says what is expected and measured.
func readMembers(r *rig, x *scalarTable, rows int, some kernels.ScalarColumns) (text gpu.Buffer[byte],
	to kernels.Scalars, texts *kernels.Texts,
) {
	r.Helper()
	some, text = x.columns(r, rows, some)
	texts, err := r.k.ReadMembers(r.s, text, x.values(r), some, nil)
	r.ok(err)
	return text, some.To, texts
}

// columns uploads a table and takes memory for its single values.
func (x *scalarTable) columns(r *rig, rows int, some kernels.ScalarColumns) (_ kernels.ScalarColumns,
	text gpu.Buffer[byte],
) {
	r.Helper()
	columns := len(x.slots)
	values, words := columns*rows, columns*kernels.Words(rows)
	some.To = kernels.Scalars{
		Starts: poisoned[int64](r, values), Ends: poisoned[int64](r, values), Kinds: poisoned[uint32](r, columns),
		Valid: poisoned[uint64](r, words), Numbers: poisoned[uint64](r, words), Trues: poisoned[uint64](r, words),
	}
	for _, slots := range x.slots {
		some.Slots = append(some.Slots, upload(r, slots))
	}
	return some, upload(r, x.text)
}

// values uploads the members.
func (x *scalarTable) values(r *rig) kernels.MemberValues {
	r.Helper()
	return kernels.MemberValues{Start: uploadShort(r, x.starts), End: uploadShort(r, x.ends), Kind: upload(r, x.kinds)}
}
