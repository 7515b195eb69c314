package fixed_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// fixedTable is records that a test makes: a deletion flag, the fields one after the other, three
// bytes of flags, and some bytes of nobody.
type fixedTable struct {
	text    []byte
	x       kfixed.FixedRecords
	columns []kfixed.FixedColumn
}

// newFixedTable lays values out. Field i is that of column i.
func newFixedTable(r *kerneltest.Rig, flags string, columns []kfixed.FixedColumn, values [][]string,
	bits []uint32,
) *fixedTable {
	t := &fixedTable{columns: slices.Clone(columns)}
	at := 1
	for i := range t.columns {
		t.columns[i].Offset = at
		at += t.columns[i].Width
	}
	t.x = kfixed.FixedRecords{Length: at + 5, Records: len(values), Flags: at}
	for i, record := range values {
		t.text = append(t.text, flags[i%len(flags)])
		for k, v := range record {
			t.text = append(t.text, v+strings.Repeat(" ", t.columns[k].Width-len(v))...)
		}
		t.text = append(binary.LittleEndian.AppendUint32(t.text, bits[i%len(bits)])[:len(t.text)+3], "9*"...)
	}
	t.x.Rows, t.x.Live = kerneltest.Poisoned[int64](r, t.x.Records), kerneltest.Poisoned[int64](r, 1)
	return t
}

// rows are the records that are rows, by the plain rule, and what is odd about flags.
func (t *fixedTable) rows(deleted bool) (list []int64, odd uint32) {
	for i := range t.x.Records {
		switch flag := t.text[i*t.x.Length]; {
		case flag == ' ', flag == 0, flag == '*' && deleted:
			list = append(list, int64(i))
		case flag != '*':
			odd = kfixed.FixedFlag
		}
	}
	return list, odd
}

func (t *fixedTable) flag(record int64, n int) bool {
	return n != kfixed.FixedNoFlag && t.text[int(record)*t.x.Length+t.x.Flags+n/8]>>(n%8)&1 == 1
}

func (t *fixedTable) field(record int64, c kfixed.FixedColumn) string {
	at := int(record)*t.x.Length + c.Offset
	return string(t.text[at : at+c.Width])
}

// plainValue is what a field says: its value as words, and FixedMalformed and the like, or 0 with
// ok false for a null.
func plainValue(kind kfixed.FixedType, field string) (words []uint64, ok bool, odd uint32) {
	text, null := plainField(field)
	le := func() uint64 { return binary.LittleEndian.Uint64([]byte(field)) }
	one := func(v uint64) ([]uint64, bool, uint32) { return []uint64{v}, true, 0 }
	switch kind {
	case kfixed.FixedAsInt32, kfixed.FixedAsInt64:
		v, state := plainInt(field)
		switch {
		case state == fixedNull:
			return nil, false, 0
		case state == fixedMalformed:
			return nil, false, kfixed.FixedMalformed
		case state == fixedFraction, strings.HasSuffix(text, ".") && state == fixedValid:
			return nil, false, kfixed.FixedFraction
		case state == fixedOverflow, kind == kfixed.FixedAsInt32 && int64(int32(v)) != v:
			return nil, false, kfixed.FixedOverflow
		case kind == kfixed.FixedAsInt32:
			return one(uint64(uint32(v)))
		}
		return one(uint64(v))
	case kfixed.FixedAsFloat64:
		switch strings.TrimLeft(strings.ToLower(text), "+-") {
		case "nan":
			return one(0x7ff8000000000000)
		case "inf", "infinity":
			if len(text)-len(strings.TrimLeft(text, "+-")) < 2 {
				return one(math.Float64bits(math.Inf(1 - 2*strings.Count(text, "-"))))
			}
		}
		v, state := plainFloat(field)
		if state == fixedMalformed {
			return nil, false, kfixed.FixedMalformed
		}
		return []uint64{math.Float64bits(v)}, state == fixedValid, 0
	case kfixed.FixedAsDate:
		if null {
			return nil, false, 0
		}
		if len(text) != 8 {
			return nil, false, kfixed.FixedMalformed
		}
		v, state := plainDate(text)
		return []uint64{uint64(uint32(v))}, state == fixedValid,
			map[int]uint32{fixedMalformed: kfixed.FixedMalformed}[state]
	case kfixed.FixedAsLogical:
		switch {
		case text == "" || text == "?":
			return nil, false, 0
		case len(text) == 1 && strings.Contains("TtYy", text):
			return one(1)
		case len(text) == 1 && strings.Contains("FfNn", text):
			return one(0)
		}
		return nil, false, kfixed.FixedMalformed
	case kfixed.FixedBinaryInt32:
		return one(uint64(binary.LittleEndian.Uint32([]byte(field))))
	case kfixed.FixedBinaryFloat64:
		if v := math.Float64frombits(le()); v != v {
			return one(0x7ff8000000000000)
		}
		return one(le())
	case kfixed.FixedBinaryMoney:
		return []uint64{le(), uint64(int64(le()) >> 63)}, true, 0
	case kfixed.FixedBinaryTimestamp:
		day, clock := int64(int32(le())), int64(int32(le()>>32))
		switch {
		case day >= 1721426 && day <= 5373484 && clock >= 0 && clock < 86400000:
			return one(uint64((day-2440588)*86400000 + clock))
		case text == "":
			return nil, false, 0
		}
		return nil, false, kfixed.FixedMalformed
	}
	panic("no value")
}

// sameValues has a device make a table's columns, and holds them against the plain ones.
func (t *fixedTable) sameValues(r *kerneltest.Rig, name string, deleted bool) {
	r.Helper()
	text, odd, n := kerneltest.Upload(r, t.text), kerneltest.Upload(r, []uint32{0}), t.x.Records
	r.OK(kfixed.FixedRows(r.Set, r.Stream, text, &t.x, deleted, odd))
	rows, wantOdd := t.rows(deleted)
	if live := kerneltest.Read(r, t.x.Live)[0]; live != int64(len(rows)) {
		r.Fatalf("%s: %d rows, want %d", name, live, len(rows))
	}
	kerneltest.SameItems(r, name+", rows", kerneltest.Read(r, t.x.Rows)[:len(rows)], rows)
	total, words := 0, kernels.Words(n)
	for _, c := range t.columns {
		total += c.Type.Words(n)
	}
	values, valid := kerneltest.Poisoned[uint64](r, total), kerneltest.Poisoned[uint64](r, words*len(t.columns))
	r.OK(kfixed.FixedValues(r.Set, r.Stream, text, &t.x, t.columns, values, valid, odd))
	got, masks := kerneltest.Read(r, values), kerneltest.Read(r, valid)
	for k, c := range t.columns {
		mask := kerneltest.Bitmap(n, func(i int) bool { return i < len(rows) && masks[k*words+i/64]>>(i%64)&1 == 1 })
		kerneltest.SameItems(r, fmt.Sprintf("%s, column %d, bits behind the last row", name, k),
			masks[k*words:(k+1)*words], mask)
		for i, record := range rows {
			field := t.field(record, c)
			want, ok, bad := plainValue(c.Type, field)
			if t.flag(record, c.Null) {
				ok, bad = false, 0
			}
			if wantOdd |= bad; !ok {
				want = make([]uint64, max(1, len(want)))
			}
			if has := mask[i/64]>>(i%64)&1 == 1; has != ok {
				r.Fatalf("%s: column %d, type %d, record %d %q has a value: %t, want %t", name, k, c.Type,
					record, field, has, ok)
			}
			if have := valueAt(c.Type, got, i); have != want[0] || c.Type == kfixed.FixedBinaryMoney &&
				got[2*i+1] != want[len(want)-1] {
				r.Fatalf("%s: column %d, type %d, record %d %q is %#x, want %#x", name, k, c.Type, record,
					field, have, want)
			}
		}
		got = got[c.Type.Words(n):]
	}
	if have := kerneltest.Read(r, odd)[0]; have != wantOdd {
		r.Fatalf("%s: odd are %#x, want %#x", name, have, wantOdd)
	}
}

// valueAt is the value of a row among those of a column.
func valueAt(kind kfixed.FixedType, values []uint64, row int) uint64 {
	switch kind {
	case kfixed.FixedAsLogical:
		return values[row/64] >> (row % 64) & 1
	case kfixed.FixedAsInt32, kfixed.FixedAsDate, kfixed.FixedBinaryInt32:
		return uint64(uint32(values[row/2] >> (row % 2 * 32)))
	case kfixed.FixedBinaryMoney:
		return values[2*row]
	}
	return values[row]
}

// fixedFields are fields of every type but texts: those that are no odd, and all.
func fixedFields() (columns []kfixed.FixedColumn, plain, all [][]string) {
	wide, dates := numberFields(), []string{
		// plain
		"20261121", "  20261121", "20261121  ", "00000000", "", "\x00", "********", "***", "19700101",
		"99991231", "00000301",
		"20230229", "2026112", "202611211", " 2026 11 21", "0000000", "1*", "abcdefgh",
	}
	logicals := []string{
		"T", " t", "y ", "Y", "F", "f", "n", "N", "?", "", "\x00", " ? ", "*", "X", "TT",
		"T F", "??", "1",
	}
	rng := rand.New(rand.NewPCG(8, 4))
	little := func(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }
	moments := []string{
		little(0), strings.Repeat(" ", 8), little(2440588), little(1721426),
		little(5373484 | 86399999<<32), little(1721425), little(5373485), little(2440588 | 86400000<<32),
		little(2440588 | 1<<63),
	}
	kinds := []kfixed.FixedType{
		kfixed.FixedAsInt32, kfixed.FixedAsInt64, kfixed.FixedAsFloat64,
		kfixed.FixedAsDate, kfixed.FixedAsLogical, kfixed.FixedBinaryInt32, kfixed.FixedBinaryMoney,
		kfixed.FixedBinaryTimestamp,
	}
	widths := []int{24, 24, 24, 11, 3, 4, 8, 8}
	for k, kind := range kinds {
		columns = append(columns, kfixed.FixedColumn{
			Type: kind, Width: widths[k], Null: kfixed.FixedNoFlag,
			Size: kfixed.FixedNoFlag,
		})
		if k%2 == 1 {
			columns[k].Null = 3 * k
		}
	}
	wide = append(wide, "nan", "-NaN", "+inf", "-Infinity", "INFINITY", "infinit", "++inf", "inf1", "7.",
		"2147483648", "-2147483648", "-2147483649")
	for i, number := range wide {
		binaryField := little(rng.Uint64())
		all = append(all, []string{
			number, number, number, dates[i%len(dates)], logicals[i%len(logicals)],
			binaryField[:4], binaryField, moments[i%len(moments)],
		})
		whole := fmt.Sprint(int32(rng.Uint32()))
		plain = append(plain, []string{
			whole, fmt.Sprint(int64(rng.Uint64())), fmt.Sprint(rng.NormFloat64()),
			dates[i%11], logicals[i%11], binaryField[:4], binaryField, moments[i%5],
		})
	}
	return columns, plain, all
}

func TestFixedValues(t *testing.T) {
	r := kerneltest.Open(t)
	columns, plain, all := fixedFields()
	none, some := []uint32{0}, []uint32{0, 0xffffff, 1 << 9, 1 << 3, 0x123456}
	for _, c := range []struct {
		name  string
		flags string
		rows  [][]string
		bits  []uint32
	}{
		{"plain", " ", plain, none},
		{"some deleted", " *\x00  *", plain, some},
		{"all deleted", "*", plain, some},
		{"odd flags", " *\x00x", plain, some},
		{"odd", " ", all, none},
		{"odd, some deleted", "  *", all, some},
	} {
		for _, n := range []int{1, 2, 31, 33, 64, 65, 257, len(c.rows)} {
			x := newFixedTable(r, c.flags, columns, c.rows[:n], c.bits)
			x.sameValues(r, fmt.Sprintf("%s, %d records", c.name, n), n%2 == 0)
		}
	}
	doubles := []kfixed.FixedColumn{{
		Type: kfixed.FixedBinaryFloat64, Width: 8, Null: kfixed.FixedNoFlag,
		Size: kfixed.FixedNoFlag,
	}}
	var values [][]string
	for _, v := range []uint64{
		0, 1 << 63, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001,
		0xffffffffffffffff, 1, math.Float64bits(1.5),
	} {
		values = append(values, []string{string(binary.LittleEndian.AppendUint64(nil, v))})
	}
	newFixedTable(r, " ", doubles, values, none).sameValues(r, "doubles", false)
}

// TestFixedValuesUndecided has a number that a host must look at.
func TestFixedValuesUndecided(t *testing.T) {
	r := kerneltest.Open(t)
	column := []kfixed.FixedColumn{{
		Type: kfixed.FixedAsFloat64, Width: 40, Null: kfixed.FixedNoFlag,
		Size: kfixed.FixedNoFlag,
	}}
	x := newFixedTable(r, " ", column, [][]string{{"1"}, {"1.00000000000000011102230246251565404"}}, []uint32{0})
	text, odd, values, valid := kerneltest.Upload(r, x.text), kerneltest.Upload(r, []uint32{0}),
		kerneltest.Poisoned[uint64](r, 2),
		kerneltest.Poisoned[uint64](r, 1)
	r.OK(kfixed.FixedRows(r.Set, r.Stream, text, &x.x, false, odd))
	r.OK(kfixed.FixedValues(r.Set, r.Stream, text, &x.x, x.columns, values, valid, odd))
	if got, mask := kerneltest.Read(r, odd)[0], kerneltest.Read(r, valid)[0]; got != kfixed.FixedUndecided ||
		mask != 1 {
		t.Errorf("odd are %#x, want %#x; valid are %b, want 1", got, kfixed.FixedUndecided, mask)
	}
}

// A header may say anything of the records after it.
func TestFixedColumnsRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	text, odd := kerneltest.Upload(r, bytes.Repeat([]byte{' '}, 160)), kerneltest.Upload(r, []uint32{0})
	x := kfixed.FixedRecords{
		Length: 16, Records: 10, Flags: 14, Rows: kerneltest.Poisoned[int64](r, 10),
		Live: kerneltest.Poisoned[int64](r, 1),
	}
	longer, more, none := x, x, x
	longer.Length, more.Records, none.Records = 17, 9, 0
	column := func(c kfixed.FixedColumn) []kfixed.FixedColumn {
		if c.Null == 0 {
			c.Null = kfixed.FixedNoFlag
		}
		c.Size = kfixed.FixedNoFlag
		return []kfixed.FixedColumn{c}
	}
	values, mask := kerneltest.Poisoned[uint64](r, 10), kerneltest.Poisoned[uint64](r, 1)
	value := func(c kfixed.FixedColumn) error {
		return kfixed.FixedValues(r.Set, r.Stream, text, &x, column(c), values, mask, odd)
	}
	spans := kerneltest.Poisoned[int64](r, 10)
	good := kfixed.FixedColumn{Type: kfixed.FixedAsFloat64, Offset: 1, Width: 8}
	r.OK(kfixed.FixedRows(r.Set, r.Stream, text, &x, false, odd))
	r.OK(value(good))
	for name, err := range map[string]error{
		"records longer than text": kfixed.FixedRows(r.Set, r.Stream, text, &longer, false, odd),
		"room for other records":   kfixed.FixedRows(r.Set, r.Stream, text, &more, false, odd),
		"no record":                kfixed.FixedRows(r.Set, r.Stream, text, &none, false, odd),
		"no odd":                   kfixed.FixedRows(r.Set, r.Stream, text, &x, false, gpu.Buffer[uint32]{}),
		"a field over the end":     value(kfixed.FixedColumn{Type: kfixed.FixedAsFloat64, Offset: 9, Width: 8}),
		"a field before its record": value(kfixed.FixedColumn{
			Type: kfixed.FixedAsFloat64, Offset: -1,
			Width: 8,
		}),
		"seven bytes of a double": value(kfixed.FixedColumn{
			Type:   kfixed.FixedBinaryFloat64,
			Offset: 1, Width: 7,
		}),
		"three bytes of an integer": value(kfixed.FixedColumn{
			Type:   kfixed.FixedBinaryInt32,
			Offset: 1, Width: 3,
		}),
		"a flag behind the record": value(kfixed.FixedColumn{
			Type: kfixed.FixedAsFloat64, Offset: 1,
			Width: 8, Null: 16,
		}),
		"a flag before the first": value(kfixed.FixedColumn{
			Type: kfixed.FixedAsFloat64, Offset: 1,
			Width: 8, Null: -1,
		}),
		"a text among values": value(kfixed.FixedColumn{Type: kfixed.FixedText, Offset: 1, Width: 8}),
		"no room for values": kfixed.FixedValues(r.Set, r.Stream, text, &x, column(good), values.Slice(0, 9),
			mask, odd),
		"no room for a mask": kfixed.FixedValues(r.Set, r.Stream, text, &x, column(good), values,
			gpu.Buffer[uint64]{}, odd),
		"no column": kfixed.FixedValues(r.Set, r.Stream, text, &x, nil, gpu.Buffer[uint64]{},
			gpu.Buffer[uint64]{}, odd),
		"nine columns": kfixed.FixedValues(r.Set, r.Stream, text, &x, slices.Repeat(column(good), 9),
			kerneltest.Poisoned[uint64](r, 90), kerneltest.Poisoned[uint64](r, 9), odd),
		"a number among texts": kfixed.FixedTexts(r.Set, r.Stream, text, &x, column(good), true, spans,
			spans, mask, odd),
		"no room for spans": kfixed.FixedTexts(r.Set, r.Stream, text, &x,
			column(kfixed.FixedColumn{Type: kfixed.FixedText, Width: 8}), true, spans.Slice(0, 9), spans, mask, odd),
		"no room for a mask of texts": kfixed.FixedTexts(r.Set, r.Stream, text, &x,
			column(kfixed.FixedColumn{Type: kfixed.FixedText, Width: 8}), true, spans, spans,
			gpu.Buffer[uint64]{}, odd),
		"a text over the end": kfixed.FixedTexts(r.Set, r.Stream, text, &x,
			column(kfixed.FixedColumn{Type: kfixed.FixedText, Offset: 10, Width: 8}), true, spans, spans, mask, odd),
		"records longer than the buffer": kfixed.FixedTexts(r.Set, r.Stream, text, &longer,
			column(kfixed.FixedColumn{Type: kfixed.FixedText, Width: 8}), true, spans, spans, mask, odd),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
