package fixed_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

func TestFixedTexts(t *testing.T) {
	r := kerneltest.Open(t)
	words := []string{
		"", "a", "  two words ", "\x00\x00", "\x00 x \x00", "é", "123456789 123456789 1234",
		strings.Repeat("é", 12), "\xff", "                       x", "x                      x", "12345678é",
	}
	columns := make([]kfixed.FixedColumn, 11) // more than a launch takes
	for k := range columns {
		columns[k] = kfixed.FixedColumn{
			Type: kfixed.FixedText, Width: 24 + k, Null: kfixed.FixedNoFlag,
			Size: kfixed.FixedNoFlag,
		}
		switch k % 4 {
		case 1:
			columns[k].Null = 2 * k
		case 2:
			columns[k].Type = kfixed.FixedVariable
		case 3:
			columns[k].Type, columns[k].Null, columns[k].Size = kfixed.FixedVariable, k, k+8
		}
	}
	rng := rand.New(rand.NewPCG(9, 4))
	for _, n := range []int{1, 33, 64, 300} {
		var values [][]string
		for range n {
			var record []string
			for _, c := range columns {
				v := words[rng.IntN(len(words))]
				if c.Type == kfixed.FixedVariable {
					v += strings.Repeat(" ", c.Width-1-len(v)) + string([]byte{byte(rng.IntN(c.Width + n%2))})
				}
				record = append(record, v)
			}
			values = append(values, record)
		}
		for _, flags := range []string{" ", " * "} {
			for _, ascii := range []bool{false, true} {
				x := newFixedTable(r, flags, columns, values, []uint32{0, 0xffffff, rng.Uint32()})
				x.sameTexts(r, fmt.Sprintf("%d records, flags %q, ascii %t", n, flags, ascii), ascii)
			}
		}
	}
}

// sameTexts has a device find a table's texts, and holds them against the plain ones.
func (t *fixedTable) sameTexts(r *kerneltest.Rig, name string, ascii bool) {
	r.Helper()
	text, odd, n := kerneltest.Upload(r, t.text), kerneltest.Upload(r, []uint32{0}), t.x.Records
	words, all := kernels.Words(n), n*len(t.columns)
	starts, ends, valid := kerneltest.Poisoned[int64](r, all), kerneltest.Poisoned[int64](r, all),
		kerneltest.Poisoned[uint64](r, words*len(t.columns))
	r.OK(kfixed.FixedRows(r.Set, r.Stream, text, &t.x, false, odd))
	r.OK(kfixed.FixedTexts(r.Set, r.Stream, text, &t.x, t.columns, ascii, starts, ends, valid, odd))
	rows, wantOdd := t.rows(false)
	from, to, masks := kerneltest.Read(r, starts), kerneltest.Read(r, ends), kerneltest.Read(r, valid)
	for k, c := range t.columns {
		for i := range n {
			if i >= len(rows) {
				if from[k*n+i] != to[k*n+i] || masks[k*words+i/64]>>(i%64)&1 == 1 {
					r.Fatalf("%s: column %d has a text behind the last row", name, k)
				}
				continue
			}
			want, ok, bad := t.plainText(rows[i], c)
			if ascii && strings.ContainsFunc(want, func(c rune) bool { return c >= 0x80 }) {
				ok, bad = false, kfixed.FixedHigh
			}
			wantOdd |= bad
			if got, has := string(t.text[from[k*n+i]:to[k*n+i]]), masks[k*words+i/64]>>(i%64)&1 == 1; has != ok ||
				ok && got != want {
				r.Fatalf("%s: column %d, record %d %q is %q, %t, want %q, %t", name, k, rows[i],
					t.field(rows[i], c), got, has, want, ok)
			}
		}
	}
	if got := kerneltest.Read(r, odd)[0]; got != wantOdd {
		r.Fatalf("%s: odd are %#x, want %#x", name, got, wantOdd)
	}
}

// plainText is the text of a field.
func (t *fixedTable) plainText(record int64, c kfixed.FixedColumn) (text string, ok bool, odd uint32) {
	field := t.field(record, c)
	switch {
	case t.flag(record, c.Null):
		return "", false, 0
	case c.Type == kfixed.FixedText:
		text, _ = plainField(field)
		return text, text != "", 0
	case !t.flag(record, c.Size):
		return field, true, 0
	}
	size := int(field[len(field)-1])
	if size >= len(field) {
		return "", false, kfixed.FixedMalformed
	}
	return field[:size], true, 0
}
