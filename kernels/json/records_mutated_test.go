package json_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// recordWriter writes random records.
type recordWriter struct {
	bytes.Buffer
	rng    *rand.Rand
	blanks int // at most, in a gap
}

func (w *recordWriter) gap() {
	for range w.rng.IntN(w.blanks + 1) {
		w.WriteByte(" \t\r\n"[w.rng.IntN(4)])
	}
}

func (w *recordWriter) pick(from ...string) { w.WriteString(from[w.rng.IntN(len(from))]) }

func (w *recordWriter) string() {
	w.WriteByte('"')
	for range w.rng.IntN(6) {
		w.pick("a", "{", "}", "[", "]", ":", ",", `\"`, `\\`, `\u00e4`, "ö", " ", "x", "0")
	}
	w.WriteByte('"')
}

func (w *recordWriter) value(depth int) {
	switch k := w.rng.IntN(10); {
	case k < 2 && depth > 0:
		w.object(depth - 1)
	case k < 4 && depth > 0:
		w.WriteByte('[')
		for i := range w.rng.IntN(4) {
			if i > 0 {
				w.WriteByte(',')
			}
			w.gap()
			w.value(depth - 1)
			w.gap()
		}
		w.WriteByte(']')
	case k < 7:
		w.string()
	default:
		w.pick("null", "true", "false", "0", "-0", "12", "-1.5", "0.25e-7", "1E+3", "10e0",
			"123456789012345678901234567890")
	}
}

func (w *recordWriter) object(depth int) {
	w.WriteByte('{')
	w.gap()
	for i := range w.rng.IntN(5) {
		if i > 0 {
			w.WriteByte(',')
			w.gap()
		}
		w.string()
		w.gap()
		w.WriteByte(':')
		w.gap()
		w.value(depth)
		w.gap()
	}
	w.WriteByte('}')
}

// randomRecords gives valid records of n bytes or somewhat more.
func randomRecords(seed uint64, n, depth, blanks int, sep kjson.RecordSeparator) []byte {
	w := &recordWriter{rng: rand.New(rand.NewPCG(seed, 2)), blanks: blanks}
	for w.Len() < n {
		w.object(depth)
		w.gap()
		if sep == kjson.RecordsComma {
			w.WriteByte(',')
		} else {
			w.WriteByte('\n')
		}
		w.gap()
	}
	return w.Bytes()
}

// One byte too few, too many or another one: what encoding/json refuses outside of strings and
// nested values is a fault, and nothing else is.
func TestListRecordsMutated(t *testing.T) {
	r := kerneltest.Open(t)
	// of the mutations go to the kernels, and all to the plain reading: the emulation takes
	// milliseconds for each
	const every = 11
	const bytesIn = "{}[]:,\"\\\x00a1- \n."
	tests := []struct {
		name, text string
		sep        kjson.RecordSeparator
		with       string
	}{
		{
			"all kinds", `{"a":{"b":[1],"c":{}},"d":-0.5e1,"e":null} ,{"f":"x","g":true} , `,
			kjson.RecordsComma, bytesIn,
		},
		{"nested", `{"a":{"b":{"c":[{}]},"d":"]","e":[[],{}]} , "k":[ [ ] ] },`, kjson.RecordsComma, bytesIn},
		{"empty", `{ }, {"":{ }},{"a" : [] } ,`, kjson.RecordsComma, bytesIn},
		{"literals", `{"a":{"a":false},"b":0,"c":10.5E+10},`, kjson.RecordsComma, bytesIn + "0eEtfnu+"},
		{"lines", "{\"a\":{\"b\":1}}\n {}\r\n{\"a\":\"\\\"\"} \n", kjson.RecordsLine, bytesIn + "\r"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inner := &kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}
			if !checkRecords(inner, "as it is", []byte(test.text), test.sep) {
				t.Fatal("a fault in the text itself")
			}
			for i, text := range mutations(test.text, test.with) {
				checkOracle(inner, text, test.sep)
				if i%every == 0 {
					checkRecords(inner, "mutated", []byte(text), test.sep)
				}
			}
		})
	}
}

// mutations are text cut off, with a byte less, and with each byte of with put in or in another's
// place, at every byte.
func mutations(text, with string) (all []string) {
	for i := range len(text) + 1 {
		head, tail, rest := text[:i], text[i:], text[min(i+1, len(text)):]
		all = append(all, head, head+rest)
		for _, c := range []byte(with) {
			all = append(all, head+string(c)+tail, head+string(c)+rest)
		}
	}
	return all
}

// checkOracle compares the plain reading with encoding/json.
func checkOracle(t testing.TB, text string, sep kjson.RecordSeparator) {
	t.Helper()
	x := recordsOf([]byte(text), sep)
	if x == nil && sep == kjson.RecordsComma && validRecords(text) {
		t.Fatalf("a fault in %q", text)
	}
	if x == nil {
		return
	}
	if bare := skeleton(text, x, sep); !validRecords(bare) {
		t.Fatalf("no fault in %q, of which %q is no JSON", text, bare)
	}
}

// validRecords says whether encoding/json takes text, records with commas, as the elements of an
// array.
func validRecords(text string) bool {
	var all []map[string]json.RawMessage
	head, ok := strings.CutSuffix(strings.TrimRight(text, " \t\r\n"), ",")
	if text == "" {
		return true
	}
	// A comma too many, and a null in the place of an object, are taken by Unmarshal or by the
	// brackets around.
	return ok && strings.HasPrefix(text, "{") && json.Unmarshal([]byte("["+head+"]"), &all) == nil &&
		!slices.ContainsFunc(all, func(m map[string]json.RawMessage) bool {
			return m == nil
		})
}

// skeleton is text without what stands in strings, arrays and nested objects, and with a comma
// after each record.
func skeleton(text string, x *recordList, sep kjson.RecordSeparator) string {
	bare := []byte(text)
	clear := func(from, length int64) {
		copy(bare[from:from+length], bytes.Repeat([]byte{' '}, int(length)))
	}
	for _, m := range x.members {
		clear(m.keyAt, int64(len(m.key)))
		if m.kind == kjson.ValueString || m.kind == kjson.ValueArray || m.kind == kjson.ValueObject &&
			m.owner >= 0 {
			clear(m.at+1, int64(len(m.value))-2)
		}
	}
	if sep == kjson.RecordsComma {
		return string(bare)
	}
	// The line feed after each record becomes its comma; another one in the gap stays a blank.
	for i, end := range x.close {
		gap := bare[end+1:]
		if i+1 < len(x.open) {
			gap = bare[end+1 : x.open[i+1]]
		}
		gap[bytes.IndexByte(gap, '\n')] = ','
	}
	return string(bare)
}
