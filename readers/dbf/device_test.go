package dbf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// everyType returns a table of Visual FoxPro with columns of all types that devices read, texts of
// some words, and nulls of every kind.
func everyType(r *rand.Rand, records int, words ...string) table {
	tab := table{version: 0x30, fields: []field{
		{"ID", 'N', 9, 0},
		{"WIDE", 'N', 19, 0},
		{"DEC", 'N', 24, 15},
		{"F", 'F', 20, 11},
		{"D", 'D', 8, 0},
		{"D10", 'D', 10, 0},
		{"L", 'L', 1, 0},
		{"L3", 'L', 3, 0},
		{"TEXT", 'C', 30, 0},
		{"CODE", 'C', 2, 0},
		{"V", 'V', 20, 0},
		{"I", 'I', 4, 0},
		{"AUTO", '+', 4, 0},
		{"B", 'B', 8, 0},
		{"O", 'O', 8, 0},
		{"Y", 'Y', 8, 0},
		{"T", 'T', 8, 0},
		{"AT", '@', 8, 0},
		{"_NullFlags", '0', 3, 0},
	}}
	for i := range tab.fields {
		tab.flags = append(tab.flags, byte(i%2*2))
	}
	le := func(n int, v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)[:n]) }
	moment := func() string { return le(4, uint64(1721426+r.IntN(3652059))) + le(4, uint64(r.IntN(86_400_000))) }
	for i := range records {
		word := words[r.IntN(len(words))]
		values := []string{
			fmt.Sprint(i - 99), fmt.Sprint(int64(r.Uint64()) >> r.IntN(64)), fmt.Sprintf("%.15f", r.NormFloat64()*1e3),
			fmt.Sprintf("%.11e", r.NormFloat64()),
			fmt.Sprintf("2024%02d%02d", 1+i%12, 1+i%29), " 19991231 ", string("TFyn? "[i%6]),
			" " + string("TFyn? "[i%6]), word, string("ab"[i%2]), fmt.Sprintf("%-19s%c", "a  variable", r.IntN(20)),
			le(4, r.Uint64()), le(4, uint64(i)), le(8, math.Float64bits(r.NormFloat64())), le(8, r.Uint64()),
			le(8, r.Uint64()), moment(), moment(), le(3, r.Uint64()&r.Uint64()),
		}
		if i%7 == 0 {
			values[0], values[1], values[2], values[4], values[8] = "", "*******************", "nan", "00000000", "\x00"
			values[3], values[16], values[17] = []string{"-inf", "+Infinity", ".5", "7."}[i%4], le(8, 0), "        "
		}
		record := string(" \x00 *"[r.IntN(4)])
		for k, v := range values {
			size := tab.fields[k].length
			if v = v[:min(len(v), size)]; i%2 == 0 && k < 4 {
				v = fmt.Sprintf("%*s", size, v)
			}
			record += v + strings.Repeat(" ", size-len(v))
		}
		tab.records = append(tab.records, record)
	}
	return tab
}

// longer returns a table of n records, which are those of another one again and again.
func longer(tab table, records int) []byte {
	all := make([]string, records)
	for i := range all {
		all[i] = tab.records[i%len(tab.records)]
	}
	tab.records = all
	return tab.bytes()
}

// TestDeviceAcceptsOrdinaryTables holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryTables(t *testing.T) {
	ascii, utf8 := []string{"", "plain", "  two  words ", "a\x00b", strings.Repeat("x", 30)},
		[]string{"é ü", "😀", "", strings.Repeat("ä", 15), "中文"}
	random := func() *rand.Rand { return rand.New(rand.NewPCG(7, 1)) }
	for _, c := range []struct {
		name     string
		text     []byte
		options  map[string]any
		siblings map[string][]byte
	}{
		{"every type", everyType(random(), 400, ascii...).bytes(), nil, nil},
		{"deleted ones too", everyType(random(), 400, ascii...).bytes(), map[string]any{"include_deleted": true}, nil},
		{"skipping", everyType(random(), 400, ascii...).bytes(), map[string]any{"on_error": "skip"}, nil},
		{"UTF-8", everyType(random(), 400, utf8...).bytes(), nil, map[string][]byte{".cpg": []byte("UTF-8")}},
		{"GBK, ASCII", everyType(random(), 400, ascii...).bytes(), map[string]any{"encoding": "GBK"}, nil},
		{"Latin-1", everyType(random(), 400, "M\xfcnchen", "", "\xe9\xe8\xea", "plain").bytes(), nil, nil},
		{
			"CP437", everyType(random(), 400, "\xc9\xcd\xbb", "", "plain", "\xff").bytes(),
			map[string]any{"encoding": "437"},
			nil,
		},
		{
			"1251", everyType(random(), 400, "\xcc\xee\xf1\xea\xe2\xe0", "", "plain").bytes(),
			map[string]any{"encoding": "1251"},
			nil,
		},
		{"parcels", parcels(500), nil, nil},
		{"parcels and what is after them", append(parcels(500), "\x1A and more"...), nil, nil},
		{
			"ignored memos", longer(column("M", 'M', 10, 0, "         1", "", "        99"), 3000),
			map[string]any{"memo": "ignore"},
			nil,
		},
		{"all deleted", bytes.ReplaceAll(longer(column("N", 'N', 9, 0, "      123"), 3000), []byte("       123"),
			[]byte("*      123")), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var inputs []readertest.Input
			for _, rows := range []int{0, 100, 7} {
				inputs = append(inputs, readertest.Input{
					Name: "a.dbf", Text: c.text, Options: c.options, Siblings: c.siblings,
					Limits: readers.Limits{BatchRows: rows},
				})
			}
			readertest.NewDevice(t, dbf.Format(), 9<<10).Accepts(t, 3, inputs...)
		})
	}
}

// TestDeviceLeavesTheRest has tables that devices do not read, or not all of: the tables and errors
// are those of the CPU engine.
func TestDeviceLeavesTheRest(t *testing.T) {
	fields := []field{
		{"ID", 'N', 9, 0},
		{"WIDE", 'N', 20, 0},
		{"F", 'N', 40, 3},
		{"D", 'D', 8, 0},
		{"L", 'L', 1, 0},
		{"T", 'C', 10, 0},
	}
	record := func(values ...string) string {
		text := " "
		for i, f := range fields {
			v := []string{"1", "12345678901", "2.5", "20240229", "T", "word"}[i]
			if i < len(values) && values[i] != "" {
				v = values[i]
			}
			text += v + strings.Repeat(" ", f.length-len(v))
		}
		return text
	}
	for _, c := range []struct {
		name, odd, page string
		why             string // of a refusal; empty: of none
	}{
		{"nothing", record(), "UTF-8", ""},
		{"a flag that is none", "x" + record()[1:], "UTF-8", "a deletion flag"},
		{"no number", record("N/A"), "UTF-8", "no value of its type"},
		{"an infinite number", record("", "", "1e400"), "UTF-8", "no value of its type"},
		{"no date", record("", "", "", "20230229"), "UTF-8", "no value of its type"},
		{"no logical value", record("", "", "", "", "X"), "UTF-8", "no value of its type"},
		{"stars for a logical value", record("", "", "", "", "*"), "UTF-8", "no value of its type"},
		{"a fraction", record("1.5"), "UTF-8", "whole numbers"},
		{"a point", record("1."), "UTF-8", "whole numbers"},
		{"an exponent", record("", "1e3"), "UTF-8", "whole numbers"},
		{"beyond int64", record("", "9223372036854775808"), "UTF-8", "beyond int64"},
		{
			"a number near the middle of two", record("", "", "1.00000000000000011102230246251565404"),
			"UTF-8", "of many digits",
		},
		{"Latin-1", record("", "", "", "", "", "M\xfcnchen"), "88591", ""},
		{"UTF-8 that says it is Latin-1", record("", "", "", "", "", "é"), "88591", ""},
		{"a byte that is no character", record("", "", "", "", "", "\x81"), "1252", "is no character"},
		{"GBK", record("", "", "", "", "", "\xd6\xd0"), "GBK", "that GPUs do not know"},
		{"UTF-8 that is none", record("", "", "", "", "", "M\xfcnchen"), "UTF-8", "not UTF-8"},
		{"half a character at the end of a text", record("", "", "", "", "", "123456789\xc3"), "UTF-8", "not UTF-8"},
		{"the other half after it", record() + "\xa9" + record()[1:], "UTF-8", "a deletion flag"},
		{"UTF-8", record("", "", "", "", "", "é 中"), "UTF-8", ""},
		{"numbers of every kind", record("-0", "-9223372036854775808", "-INFINITY", "00000101", "?", "*"), "UTF-8", ""},
		{"nothing at all", " " + strings.Repeat("\x00", len(record())-1), "UTF-8", ""},
		{"stars", record("***", "*", "****", "***", "", "***"), "UTF-8", ""},
		{"many digits", record("", "-0000000000000000012", "0.3333333333333333148296162562473909"), "UTF-8", ""},
		{"deleted, whatever it holds", "*" + strings.Repeat("\xff", len(record())-1), "UTF-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := table{fields: fields}
			for i := range 300 {
				if i == 150 {
					tab.records = append(tab.records, c.odd)
				}
				tab.records = append(tab.records, record())
			}
			d := readertest.NewDevice(t, dbf.Format(), 3<<10)
			d.Refuses(t, c.why, readertest.Modes(readertest.Input{
				Name: "a.dbf", Text: tab.bytes(),
				Options: map[string]any{"encoding": c.page},
			})...)
		})
	}
}

// TestDeviceTextsThatGrow has fields that are full of characters which take two bytes as UTF-8:
// they do not fit into the room that other texts leave.
func TestDeviceTextsThatGrow(t *testing.T) {
	for _, c := range []struct {
		name, value string
		refused     bool
	}{{"full", strings.Repeat("\xec", 20), true}, {"half full", strings.Repeat("\xec", 10), false}} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, dbf.Format(), 3<<10)
			in := readertest.Input{
				Name: "a.dbf", Text: longer(column("C", 'C', 20, 0, c.value), 600),
				Options: map[string]any{"encoding": "1251"},
			}
			d.Same(t, in)
			if n := d.Counts(); (n.Refused > 0) != c.refused || n.Refused+n.Chunks == 0 || c.refused &&
				!strings.Contains(n.Reason, "far longer as UTF-8") {
				t.Errorf("%d chunks accepted, %d refused: %q", n.Chunks, n.Refused, n.Reason)
			}
		})
	}
}

// TestDeviceIsNotAsked has tables that no device is asked to read.
func TestDeviceIsNotAsked(t *testing.T) {
	for _, c := range []struct {
		name string
		in   readertest.Input
	}{
		{"memos", sharing(2, 500, 100)},
		{"bytes", readertest.Input{Text: longer(column("Q", 'Q', 10, 0, "0123456789"), 2000)}},
		{"short records", readertest.Input{Text: longer(column("N", 'N', 6, 0, "123456"), 4000)}},
		{"wide fields", readertest.Input{Text: longer(column("C", 'C', 300, 0, strings.Repeat("x", 300)), 100)}},
		{"a field without bytes", readertest.Input{Text: longer(table{fields: []field{
			{"C", 'C', 0, 0},
			{"N", 'N', 9, 0},
		}, records: []string{" 123456789"}}, 2000)}},
		{"two chunks", readertest.Input{Text: longer(column("N", 'N', 9, 0, "123456789"), 600)}},
		{"no record", readertest.Input{Text: table{fields: []field{{"N", 'N', 9, 0}}}.bytes()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Name = "a.dbf"
			d := readertest.NewDevice(t, dbf.Format(), 3<<10)
			d.Ignores(t, c.in)
		})
	}
}

// TestDeviceHostile has tables of hardly anything but one thing.
func TestDeviceHostile(t *testing.T) {
	many := make([]field, 2000)
	for i := range many {
		many[i] = field{fmt.Sprint("L", i), 'L', 1, 0}
	}
	texts := make([]field, 240)
	for i := range texts {
		texts[i] = field{fmt.Sprint("C", i), 'C', 255, 0}
	}
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"tiny records", longer(column("N", 'N', 7, 0, "1234567"), 1<<17)},
		{"tiny texts", longer(table{fields: []field{
			{"A", 'C', 1, 0},
			{"B", 'C', 1, 0},
			{"C", 'C', 1, 0},
			{"D", 'C', 4, 0},
		}, records: []string{" abcdefg", "*      x"}}, 1<<16)},
		{"blanks", longer(column("C", 'C', 250, 0, strings.Repeat(" ", 250)), 4000)},
		{"stars", longer(column("N", 'N', 250, 0, strings.Repeat("*", 250)), 2000)},
		{"long numbers", longer(column("N", 'N', 250, 240, strings.Repeat("0", 9)+"."+strings.Repeat("3", 240)), 500)},
		{"many columns", longer(table{fields: many, records: []string{" " + strings.Repeat("T?F ", 500)}}, 100)},
		{"many columns of text", longer(table{fields: texts, records: []string{" " + strings.Repeat("x", 240*255)}},
			9)},
		{"NULs", longer(column("C", 'C', 20, 0, strings.Repeat("\x00", 20)), 20000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, dbf.Format(), 48<<10)
			d.Same(t, readertest.Input{Name: "a.dbf", Text: c.text})
			n := d.Counts()
			t.Logf("%d chunks accepted, %d refused: %s", n.Chunks, n.Refused, n.Reason)
		})
	}
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	text := everyType(rand.New(rand.NewPCG(7, 9)), 700, "abc", "", "é").bytes()
	readertest.DeviceFaults(t, dbf.Format(), readertest.Input{
		Name: "a.dbf", Text: text,
		Options: map[string]any{"encoding": "UTF-8"}, Limits: readers.Limits{BatchRows: 100},
	})
}

// TestDeviceBringsBackWhatIsAskedFor compares the bytes that come back from a device for a column
// with those for all.
func TestDeviceBringsBackWhatIsAskedFor(t *testing.T) {
	table := everyType(rand.New(rand.NewPCG(7, 9)), 400, "plain", "text", "")
	in := readertest.Input{Name: "a.dbf", Text: table.bytes()}
	back := readertest.BytesBack(t, dbf.Format(), in)
	all := back(nil)
	for _, f := range table.fields {
		if one := back([]string{f.name}); one > all/3 {
			t.Errorf("%d bytes for %s, %d for all columns", one, f.name, all)
		}
	}
}
