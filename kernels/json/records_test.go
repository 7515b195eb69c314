package json_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// recordsList runs the kernels; fault is -1 or where they found one.
func recordsList(r *kerneltest.Rig, text []byte, sep kjson.RecordSeparator) (x *recordList, fault int64) {
	r.Helper()
	b, err := gpu.Of(r.Stream, text)
	r.OK(err)
	defer kerneltest.Freed(r, b)
	parsed, err := kjson.AllocStructure(r.Stream, len(text))
	r.OK(err)
	defer func() { r.OK(parsed.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, b, parsed, gpu.Buffer[kjson.StructureCarry]{}))
	names, err := kjson.AllocFields(r.Stream, recordNames)
	r.OK(err)
	defer func() { r.OK(names.Free(r.Stream)) }()
	got, err := kjson.ListRecords(r.Set, r.Stream, b, parsed, sep, names)
	r.OK(err)
	defer func() { r.OK(got.Free(r.Stream)) }()
	if got.Fault >= 0 {
		return nil, got.Fault
	}
	r.OK(kjson.ListKeys(r.Set, r.Stream, b, parsed, got))
	x = &recordList{open: kerneltest.Read(r, got.Open), close: kerneltest.Read(r, got.Close)}
	row, owner, kind := kerneltest.Read(r, got.Row), kerneltest.Read(r, got.Owner), kerneltest.Read(r, got.Kind)
	keyStart, keyEnd, start, end := kerneltest.Read(r, got.KeyStart), kerneltest.Read(r, got.KeyEnd),
		kerneltest.Read(r, got.ValueStart),
		kerneltest.Read(r, got.ValueEnd)
	if got.Count != len(x.open) || got.Members != len(row) {
		r.Fatalf("%d records and %d members in lists of %d and %d", got.Count, got.Members, len(x.open), len(row))
	}
	for i := range row {
		m := member{row: row[i], owner: owner[i], kind: kind[i], keyAt: keyStart[i], at: int64(start[i])}
		m.key, m.value = string(text[keyStart[i]:keyEnd[i]]), string(text[start[i]:end[i]])
		x.members = append(x.members, m)
	}
	checkRecordFields(r, x, kerneltest.Read(r, got.Field), kerneltest.Read(r, got.Missed)[0])
	return x, -1
}

// recordNames are the names that records' keys are looked up by.
var recordNames = []string{"", "a", "b", "id", "type", "properties", "coordinates", strings.Repeat("k", 100)}

// checkRecordFields compares the names that keys are with their text.
func checkRecordFields(r *kerneltest.Rig, x *recordList, field []int32, missed uint32) {
	r.Helper()
	first := uint32(math.MaxUint32)
	for i, m := range x.members {
		want := int32(slices.Index(recordNames, m.key))
		if want < 0 {
			first = min(first, uint32(i))
		}
		if field[i] != want {
			r.Fatalf("member %d, %.60q, is field %d, want %d", i, m.key, field[i], want)
		}
	}
	if missed != first {
		r.Fatalf("the first key that is no name is %d, want %d", missed, first)
	}
}

// checkRecords compares what the kernels say of text with a plain reading, and gives whether it is
// a run of records.
func checkRecords(r *kerneltest.Rig, name string, text []byte, sep kjson.RecordSeparator) bool {
	r.Helper()
	want := recordsOf(text, sep)
	got, fault := recordsList(r, text, sep)
	switch {
	case fault > int64(len(text)):
		r.Fatalf("%s: a fault at %d in %q", name, fault, text)
	case (want == nil) != (fault >= 0):
		r.Fatalf("%s: fault at %d, want a fault: %v; text around it %s", name, fault, want == nil,
			kerneltest.Around(text, int(max(fault, 0))))
	case want == nil:
		return false
	}
	if !reflect.DeepEqual(normal(got), normal(want)) {
		for i := range min(len(got.members), len(want.members)) {
			if got.members[i] != want.members[i] {
				r.Fatalf("%s: member %d is %+.200v, want %+.200v", name, i, got.members[i], want.members[i])
			}
		}
		r.Fatalf("%s: %d records, %d members; want %d, %d", name, len(got.open), len(got.members),
			len(want.open), len(want.members))
	}
	return true
}

// normal has no nil slices.
func normal(x *recordList) recordList {
	return recordList{append([]int64{}, x.open...), append([]int64{}, x.close...), append([]member{}, x.members...)}
}

var separators = []kjson.RecordSeparator{kjson.RecordsComma, kjson.RecordsLine}

func TestListRecords(t *testing.T) {
	r := kerneltest.Open(t)
	for i, sep := range separators {
		for seed := range uint64(60) {
			text := randomRecords(seed, int(seed)*3, int(seed%5), int(seed%4), sep)
			if !checkRecords(r, fmt.Sprintf("random records %d", seed), text, sep) {
				t.Fatalf("no records: %q", text)
			}
			if len(text) > 0 {
				checkRecords(r, "the other separator", text, separators[1-i])
			}
		}
		for _, n := range []int{16000, 33000, 70000} {
			checkRecords(r, "several tiles", randomRecords(uint64(n), n, n%6, 3, sep), sep)
		}
	}
}

// Tokens over the bounds of words and tiles: blanks before a text of every kind of token move it
// over them.
func TestListRecordsOverTiles(t *testing.T) {
	r := kerneltest.Open(t)
	const tile = 16384
	text := []byte(`{"a":{"b":[1,[2]],"c":{"x":[]},"d":"e"},"f":1.5,"g":[{"h":"i"}]},`)
	for shift := range len(text) + 2 {
		filler := []byte(`{"filler":"` + strings.Repeat("[", tile-shift-14) + `"},`)
		checkRecords(r, "over a tile", slices.Concat(filler, text, text), kjson.RecordsComma)
		for i := max(0, shift-2); i < min(shift+2, len(text)); i++ {
			checkRecords(r, "over a tile, with a byte less", slices.Concat(filler, text[:i], text[i+1:]),
				kjson.RecordsComma)
		}
	}
	// Tiles of one, two and three tokens, between strings and arrays that are longer than a tile.
	long := strings.Repeat("[", tile+10)
	for shift := range 16 {
		filler := `{"filler":"` + strings.Repeat("x", tile-shift-14) + `"},`
		checkRecords(r, "long strings", []byte(filler+`{"k" : "`+long+`" , "l":{"m":"`+long[shift:]+
			`"},"n":[["`+long+`"]]},`), kjson.RecordsComma)
		checkRecords(r, "a string of a tile", []byte(filler+`{"k" : "`+long[:tile-2]+`"},`), kjson.RecordsComma)
		checkRecords(r, "a colon too many", []byte(filler+`{"k" : "`+long+`" : "l"},`), kjson.RecordsComma)
	}
	// Arrays, strings, objects and blanks that fill several tiles, which so have no token or only
	// tokens of an array.
	for _, fill := range []string{"[1,2],", "1,", `"a",`, `{"a":[]},`, "[[[", " ", `"\\":1,`} {
		long = strings.Repeat(fill, 50000/len(fill))
		for _, form := range []string{
			`{"a":[%s0]},{"b":7},`, `{"a":{"b":[%s0],"c":1},"d":"e"},`, `{"a":1,"b":{"c":{%s"d":0}}},`,
			`{"a":{"b":"x","c":"%s"},"d":[]},`, `{"a":{%s"b":1},"c":2},`, `{%s"b":1},`,
		} {
			checkRecords(r, form+" with "+fill, []byte(fmt.Sprintf(form, long)), kjson.RecordsComma)
		}
	}
}

// Any bytes at all are refused or listed as the plain reading does. TestListRecordsOfManyTiles has
// more tiles than the block that joins them takes at a time, with records in the first ones and in
// the last ones.
func TestListRecordsOfManyTiles(t *testing.T) {
	r := kerneltest.Open(t)
	some := randomRecords(7, 40<<10, 2, 3, kjson.RecordsComma)
	text := slices.Concat(some, []byte(`{"p":{"long":"`), bytes.Repeat([]byte("a ,:{"), 33<<20/5),
		[]byte(`"},"q":1},`), some)
	checkRecords(r, "many tiles", text, kjson.RecordsComma)
}

func TestListRecordsRandom(t *testing.T) {
	r := kerneltest.Open(t)
	for seed := range uint64(200) {
		text := append([]byte("{"), kerneltest.Random(seed, int(seed), `{}[]:,"\1 `)...)
		checkRecords(r, "random bytes", text, separators[seed%2])
	}
	for name, text := range kerneltest.HostileTexts() {
		if len(text)%3 == 0 {
			checkRecords(r, name, text, kjson.RecordsComma)
			checkRecords(r, name, slices.Concat([]byte(`{"a":[`), text), kjson.RecordsComma)
		}
	}
}

// What each rule of the grammar is there for.
func TestListRecordsFaults(t *testing.T) {
	r := kerneltest.Open(t)
	tests := []struct{ name, text string }{
		{"two colons", `{"a":"b":1},`},
		{"a colon behind a value", `{"a":[]:1},`},
		{"an array closed as an object", `{"a":[1},"b":2},`},
		{"an object closed as an array", `{"a":{"b":1],"c":2},`},
		{"a nested object closed as an array", `{"a":{"b":{]}},`},
		{"a nested array closed as an object", `{"a":{"b":[}}},`},
		{"a record closed as an array", `{"a":1],`},
		{"a record opened as an array", `["a":1},`},
		{"an array", `["a"],`},
		{"a string between records", `{},"a",{},`},
		{"a member between records", `{},"a":1,{},`},
		{"closers and openers between records", `{},}{{},`},
		{"two commas between records", `{},,{},`},
		{"no comma between records", `{}{},`},
		{"no comma behind the last record", `{},{}`},
		{"a comma at the start of an object", `{,"a":1},`},
		{"a comma at the end of an object", `{"a":1,},`},
		{"two commas between members", `{"a":1,,"b":2},`},
		{"no comma between members", `{"a":"b""c":1},`},
		{"no comma behind an object", `{"a":{}"c":1},`},
		{"no value", `{"a":},`},
		{"no colon", `{"a"},`},
		{"no key", `{:1},`},
		{"a key without quotes", `{a:1},`},
		{"an object as a key", `{{}:1},`},
		{"two scalars", `{"a":1 2},`},
		{"a scalar behind a string", `{"a":"b"1},`},
		{"a scalar behind an array", `{"a":[]1},`},
		{"a string behind a scalar", `{"a":1"b"},`},
		{"a value behind a scalar", `{"a":1[]},`},
		{"a colon in an array", `{"a":["b":1]},`},
		{"a word cut off", `{"a":nul},`},
		{"a word with more behind it", `{"a":truee},`},
		{"a word in capitals", `{"a":True},`},
		{"a plus", `{"a":+1},`},
		{"a leading zero", `{"a":01},`},
		{"no digit", `{"a":-},`},
		{"no digit before the point", `{"a":.5},`},
		{"no digit behind the point", `{"a":5.},`},
		{"no digit in an exponent", `{"a":5e+},`},
		{"not a number", `{"a":NaN},`},
		{"hexadecimal", `{"a":0x1f},`},
		{"a NUL", "{\"a\":1\x00},"},
		{"a vertical tab", "{\"a\":\v1},"},
		{"a byte order mark", "\ufeff{},"},
		{"a backslash", `{"a":1\\},`},
		{"an escaped quote outside of strings", `{\"a":1,"b":2},`},
	}
	// so that a thread looks at several members, the first one's fault among them
	more := strings.Repeat(`{"a":1,"b":""},`, 300)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, text := range []string{test.text, test.text + more} {
				if checkRecords(&kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}, test.name, []byte(text),
					kjson.RecordsComma) {
					t.Errorf("no fault in %q", text)
				}
			}
		})
	}
	for _, text := range []string{"{}", "{} {}\n", "{},\n{}\n", "{}\n,{}\n", "{}\n\"a\"\n", "\n{}\n"} {
		if checkRecords(r, "lines", []byte(text), kjson.RecordsLine) {
			t.Errorf("no fault in %q", text)
		}
	}
}

// Scalars are read in one step up to 8 bytes, and in many beyond.
func TestListRecordsScalars(t *testing.T) {
	r := kerneltest.Open(t)
	all := []string{
		"null", "false", "true", "nulla", "fals", "truee", "1234567", "12345678", "123456789",
		"-1234567", "0.123456", "0.1234567", "-0.12345", "1.23456.", "1.2345.6", "01234567", "-0123456",
		"1234567.", "1e5", "1.5E-10",
	}
	words := []string{""}
	for range 4 {
		var longer []string
		for _, word := range words {
			for _, c := range "-01.e" {
				longer = append(longer, word+string(c))
			}
		}
		all, words = append(all, longer...), longer
	}
	valid := 0
	for _, scalar := range all {
		if checkRecords(r, scalar, []byte(`{"a":`+scalar+`},`), kjson.RecordsComma) {
			valid++
		}
	}
	if valid < 50 {
		t.Errorf("%d of %d are scalars", valid, len(all))
	}
}

// What is known up to a limit is a fault beyond it.
func TestListRecordsLimits(t *testing.T) {
	r := kerneltest.Open(t)
	tests := []struct {
		name, text string
		fault      bool
	}{
		{"blanks", `{` + strings.Repeat(" ", 40000) + `},` + strings.Repeat(" ", 4097), false},
		{"blanks behind a colon", `{"a":` + strings.Repeat(" ", 4096) + `1},`, false},
		{"too many blanks behind a colon", `{"a":` + strings.Repeat(" ", 4097) + `1},`, true},
		{"too many blanks between a colon and a string", `{"a":` + strings.Repeat(" ", 4097) + `""},`, true},
		{"too many blanks behind a scalar", `{"a":1` + strings.Repeat(" ", 4097) + `},`, true},
		{"blanks behind a line feed", "{}\n" + strings.Repeat(" ", 4095) + "{}\n" + strings.Repeat(" ", 4095), false},
		{"too many blanks behind a line feed", "{}\n" + strings.Repeat(" ", 4096) + "{}\n", true},
		{"too many blanks behind the last line feed", "{}\n{}\n" + strings.Repeat(" ", 4096), true},
		{"a key", `{"` + strings.Repeat("k", 1023) + `":1},`, false},
		{"too long a key", `{"` + strings.Repeat("k", 1024) + `":1},`, true},
		{"a number", `{"a":` + strings.Repeat("1", 1024) + `},`, false},
		{"too long a number", `{"a":` + strings.Repeat("1", 1025) + `},`, true},
		{"a long string", `{"a":"` + strings.Repeat("k", 100000) + `"},`, false},
		{"brackets of both kinds", `{"a":[[{]}]},`, false}, // not looked at
		{"not closed", `{"a":[`, true},
		{"an open string", `{"a":"`, true},
		{"closers first", `}}}{{{`, true},
		{"no text", ``, false},
		{"a blank", ` `, true},
		{"a blank first", ` {},`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sep := kjson.RecordsComma
			if strings.Contains(test.name, "line feed") {
				sep = kjson.RecordsLine
			}
			_, fault := recordsList(&kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}, []byte(test.text), sep)
			if (fault >= 0) != test.fault || fault > int64(len(test.text)) {
				t.Errorf("fault at %d, want one: %v", fault, test.fault)
			}
		})
	}
}

// TestRecordsUnsound looks whether the records say that CheckStrings has something to look at:
// always where it finds something, and not for what most texts are.
func TestRecordsUnsound(t *testing.T) {
	r := kerneltest.Open(t)
	long := strings.Repeat("x", 3*16<<10)
	for _, test := range []struct {
		name, text string
		unsound    bool
	}{
		{"plain", `{"a":"b"},`, false},
		{"escapes and UTF-8", `{"a":"\n\u00e9 é 😀"},`, false},
		{"many tiles", `{"a":"` + long + `"},`, false},
		{"unknown escape", `{"a":"\x"},`, true},
		{"control character", "{\"a\":\"\x01\"},", true},
		{"control character tiles behind a quote", `{"a":"` + long + "\x01\"},", true},
		{"not UTF-8", "{\"a\":\"\xff\"},", true},
		{"a backslash outside of strings", `{"a":1\},`, true},
		{"no end", `{"a":"` + long, true},
	} {
		text := kerneltest.Upload(r, []byte(test.text))
		x, err := kjson.AllocStructure(r.Stream, len(test.text))
		r.OK(err)
		r.OK(kjson.ParseStructure(r.Set, r.Stream, text, x, gpu.Buffer[kjson.StructureCarry]{}))
		fault := kerneltest.Poisoned[int64](r, 1)
		r.OK(kjson.CheckStrings(r.Set, r.Stream, text, x, fault))
		records, err := kjson.QueueRecords(r.Set, r.Stream, text, x, kjson.RecordsComma, nil)
		r.OK(err)
		if at := kerneltest.Read(r, fault)[0]; records.Unsound != test.unsound || (at >= 0) != test.unsound {
			t.Errorf("%s: unsound %v, want %v; CheckStrings finds %d", test.name, records.Unsound, test.unsound, at)
		}
		r.OK(records.Free(r.Stream))
		r.OK(x.Free(r.Stream))
	}
}

// Brackets as deep as a word takes them all at once, and deeper, at every place in it.
func TestListRecordsDepth(t *testing.T) {
	r := kerneltest.Open(t)
	places, step := 64, 1
	if testing.Short() {
		step = 7
	}
	for deep := range 20 {
		for from := 0; from < places; from += step {
			nest := func(n int) string { return strings.Repeat("[", n) + "0" + strings.Repeat("]", n) }
			stairs := ""
			for n := range min(deep, 8) {
				stairs += "," + nest(n+1)
			}
			key := strings.Repeat("k", from)
			for _, text := range []string{
				`{"` + key + `":` + nest(deep+1) + `},{"a":1},`,
				`{"` + key + `":{"b":` + nest(deep+1) + `},"c":{}},{},`,
				`{"` + key + `":[0` + stairs + `],"d":{"e":{"f":` + nest(deep+1) + `}}},{"g":[{}]},`,
				`{"` + key + `":` + nest(deep+1) + `]},{"a":1},`,
			} {
				checkRecords(r, fmt.Sprintf("%d deep, from byte %d on", deep, from), []byte(text), kjson.RecordsComma)
			}
		}
	}
}
