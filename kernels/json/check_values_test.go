package json_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// runCheckValues is CheckValues of the values.
func runCheckValues(r *kerneltest.Rig, v *kerneltest.ValuesText, most int) (fault int64, solid []uint64) {
	r.Helper()
	n := len(v.Text)
	b, out := kerneltest.Upload(r, v.Text), kerneltest.Poisoned[int64](r, 1)
	within, kept := kerneltest.Poisoned[uint64](r, kernels.Words(n)), kerneltest.Poisoned[uint64](r, kernels.Words(n))
	x, err := kjson.AllocStructure(r.Stream, n)
	r.OK(err)
	r.OK(kjson.ParseStructure(r.Set, r.Stream, b, x, gpu.Buffer[kjson.StructureCarry]{}))
	r.OK(ktext.MarkSpans(r.Set, r.Stream, kerneltest.UploadShort(r, v.Starts), kerneltest.UploadShort(r, v.Ends),
		n, within))
	r.OK(kjson.CheckValues(r.Set, r.Stream, b, x, within, most, kept, out))
	fault, solid = kerneltest.Read(r, out)[0], kerneltest.Read(r, kept)
	r.OK(kjson.CheckValues(r.Set, r.Stream, b, x, within, most, kernels.Mask{}, out))
	if again := kerneltest.Read(r, out)[0]; again != fault {
		r.Fatalf("fault at %d, and at %d without a mask", fault, again)
	}
	r.OK(x.Free(r.Stream))
	return fault, solid
}

// TestCheckValuesOfManyTiles has a value of more tiles than the block that joins them has threads.
func TestCheckValuesOfManyTiles(t *testing.T) {
	r := kerneltest.Open(t)
	v := &kerneltest.ValuesText{}
	value := append([]byte("[1,"), bytes.Repeat([]byte(" "), 513*16384)...)
	v.Add(string(append(value, "2]"...)), "")
	if fault, _ := runCheckValues(r, v, 64); fault != -1 {
		t.Errorf("fault at %d", fault)
	}
}

// checkValues compares CheckValues with encoding/json: the fault lies in the first value that is
// none, or right after it.
func checkValues(r *kerneltest.Rig, v *kerneltest.ValuesText, most int) (sound bool) {
	r.Helper()
	fault, solid := runCheckValues(r, v, most)
	for i, start := range v.Starts {
		value := v.Text[start:v.Ends[i]]
		if json.Valid(value) && deepest(value)+1 <= min(most, 64) {
			continue
		}
		if fault < start || fault > v.Ends[i] {
			r.Fatalf("fault at %d, want one in [%d, %d]: %.200s", fault, start, v.Ends[i], value)
		}
		return false
	}
	if fault >= 0 {
		r.Fatalf("fault at %d: %s", fault, kerneltest.Around(v.Text, int(fault)))
	}
	var got, want bytes.Buffer
	for i, start := range v.Starts {
		got.Reset()
		want.Reset()
		for at := start; at < v.Ends[i]; at++ {
			if solid[at/64]>>(at%64)&1 != 0 {
				got.WriteByte(v.Text[at])
			}
		}
		r.OK(json.Compact(&want, v.Text[start:v.Ends[i]]))
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			r.Fatalf("%.200q is solid in %.200q", got.Bytes(), want.Bytes())
		}
	}
	for i, bits := range solid {
		for ; bits != 0; bits &= bits - 1 {
			at, in := int64(i*64+kerneltest.BitsTrailing(bits)), false
			for j := range v.Starts {
				in = in || v.Starts[j] <= at && at < v.Ends[j]
			}
			if !in {
				r.Fatalf("byte %d is solid and in no value", at)
			}
		}
	}
	return true
}

// deepest is how many brackets are open at most.
func deepest(value []byte) (most int) {
	depth := 0
	each(value, func(c byte) {
		switch c {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	})
	return most
}

// each calls do for the bytes outside of strings, and says whether all strings are sound.
func each(value []byte, do func(c byte)) (whole bool) {
	inside, escaped, start, sound := false, false, 0, true
	for i, c := range value {
		if inside {
			if inside = escaped || c != '"'; !inside {
				sound = sound && json.Valid(value[start:i+1])
			}
			escaped = !escaped && c == '\\'
			continue
		}
		inside, start = c == '"', i
		do(c)
	}
	return !inside && sound
}

// closed reports whether a value closes as many brackets as it opens, no others, and not before its
// end.
func closed(value []byte) bool {
	depth, ok, over := 0, len(bytes.TrimSpace(value)) > 0, false
	whole := each(value, func(c byte) {
		ok = ok && !over
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			over = depth == 0
			ok = ok && depth >= 0
		}
	})
	return whole && ok && depth == 0 && value[0] != ' '
}

var valueTests = []struct{ name, value string }{
	{"empty object", "{}"},
	{"empty array", "[ ]"},
	{"object", `{"a":1,"b":[true,false,null],"c":{"d":"x"}}`},
	{"tags", `{"a": [1, 2, {"b": null}]}`},
	{"blanks", "{ \"a\"\t: [ 1 ,\r\n 2 ] }"},
	{"strings of everything", `["{","[","}","]",":",",","\"","\\"," ","\\\" "]`},
	{"numbers", "[0,-0,1.5,1e5,1E-5,-12.25e+3,1e400]"},
	{"string", `"x"`},
	{"number", `-1.5e3`},
	{"literal", `null`},
	{"same name twice", `{"a":1,"a":2}`},
	{"long blanks", "[" + strings.Repeat(" ", 40000) + `1,"` + strings.Repeat(" ", 20000) + `"]`},
	{"long string", `{"` + strings.Repeat("[", 40000) + `":"` + strings.Repeat(`\\`, 20000) + `"}`},
	{"deep", strings.Repeat(`{"a":[`, 31) + strings.Repeat("]}", 31)},
	{"too deep", strings.Repeat("[", 64) + strings.Repeat("]", 64)},
	{"far too deep", strings.Repeat("[{", 100) + strings.Repeat("}]", 100)},
	{"comma first", "[,1]"},
	{"comma last", "[1,]"},
	{"comma alone", "[,]"},
	{"two commas", "[1,,2]"},
	{"no comma", "[1 2]"},
	{"no comma before a string", `[1"a"]`},
	{"no comma between strings", `["a""a"]`},
	{"no comma between arrays", "[[][]]"},
	{"no comma behind a bracket", "[[]1]"},
	{"colon in an array", `["a":1]`},
	{"colon in an array, later", `[1,"a":1]`},
	{"no key", "{1}"},
	{"no key, later", `{"a":1,2}`},
	{"no value", `{"a"}`},
	{"no value, later", `{"a":1,"b"}`},
	{"no value behind a colon", `{"a":}`},
	{"no value behind a colon, and a comma", `{"a":,"b":1}`},
	{"two colons", `{"a"::1}`},
	{"two colons with a string", `{"a":"b":1}`},
	{"number as key", `{1:1}`},
	{"array as key", `{[]:1}`},
	{"object as key", `{{}:1}`},
	{"comma in place of a colon", `{"a",1}`},
	{"comma last in an object", `{"a":1,}`},
	{"comma first in an object", `{,"a":1}`},
	{"string behind an array in an object", `{"a":[],"b"}`},
	{"key behind an object in an array", `[{},"b":1]`},
	{"other closer", "[1}"},
	{"other closer, empty", "{]"},
	{"other closers inside", `[{"a":[1}]]`},
	{"crossed closers", `{"a":[1}]`},
	{"leading zero", "[01]"},
	{"plus", "[+1]"},
	{"minus alone", "[-]"},
	{"no fraction", "[1.]"},
	{"no exponent", "[1e]"},
	{"literal cut", "[tru]"},
	{"literal grown", "[truex]"},
	{"literal and number", "[true1]"},
	{"number and letter", "[1x]"},
	{"letter", "[x]"},
	{"upper case", "[NULL]"},
	{"control character", "[\x01]"},
	{"form feed", "[1,\f2]"},
	{"minus behind a number", "[1-2]"},
	{"two scalars", "1 2"},
	{"comma behind a scalar", "1,2"},
	{"colon behind a string", `"a":1`},
	{"colon alone", `:`},
	{"comma alone, bare", `,`},
}

// TestCheckValues has each value at many places of a word, alone and among others.
func TestCheckValues(t *testing.T) {
	r := kerneltest.Open(t)
	befores := []int{0, 1, 37, 60, 61, 62, 63, 16380, 16383}
	if testing.Short() {
		befores = []int{0, 61, 16383}
	}
	for _, test := range valueTests {
		t.Run(test.name, func(t *testing.T) {
			r := &kerneltest.Rig{TB: t, Set: r.Set, Stream: r.Stream}
			for _, before := range befores {
				var v kerneltest.ValuesText
				v.Add(test.value, `{"a"`+strings.Repeat(" ", before)+":")
				sound := checkValues(r, &v, 100)
				if single := len(v.Text); single > 3000 {
					continue
				}
				var more kerneltest.ValuesText
				for range 3 {
					more.Add(`{"x":[1,"y"]}`, `{"a":[1}:`[:1]+`"]`+strings.Repeat(" ", before)+`":`)
					more.Add(test.value, `,"b" : `)
					more.Text = append(more.Text, "},\n"...)
				}
				if checkValues(r, &more, 100) != sound {
					t.Errorf("sound: %v alone, and not so among others", sound)
				}
			}
		})
	}
}

// randomValue gives JSON with blanks.
func randomValue(rng *rand.Rand, depth int) string {
	blank := func() string {
		return strings.Repeat([...]string{" ", "\n", "\t"}[rng.IntN(3)],
			max(0, rng.IntN(8)-5)*(1+rng.IntN(2)*rng.IntN(40)))
	}
	kind := rng.IntN(9)
	if depth == 0 {
		kind %= 5
	}
	var b strings.Builder
	switch {
	case kind < 2:
		return [...]string{"0", "-12", "1.25", "1e5", "-0.5E-7", "123456789012"}[rng.IntN(6)]
	case kind == 2:
		return [...]string{"true", "false", "null"}[rng.IntN(3)]
	case kind < 5:
		return `"` + [...]string{
			"", "x", `\"`, `\\`, "{", "]", ",", ":", `a \u0041 é`,
			strings.Repeat("long ", 30),
		}[rng.IntN(10)] + `"`
	case kind < 7:
		b.WriteString("[" + blank())
		for i := range rng.IntN(5) {
			if i > 0 {
				b.WriteString("," + blank())
			}
			b.WriteString(randomValue(rng, depth-1) + blank())
		}
		return b.String() + "]"
	}
	b.WriteString("{" + blank())
	for i := range rng.IntN(4) {
		if i > 0 {
			b.WriteString("," + blank())
		}
		fmt.Fprintf(&b, `"%c"%s:%s%s%s`, 'a'+rng.IntN(26), blank(), blank(), randomValue(rng, depth-1), blank())
	}
	return b.String() + "}"
}

// TestCheckValuesMutated breaks values by a byte or two.
func TestCheckValuesMutated(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 2))
	runs, sound, broken := 400, 0, 0
	if testing.Short() {
		runs = 120
	}
	for range runs {
		var v kerneltest.ValuesText
		bad := rng.IntN(2) == 0
		for range 1 + rng.IntN(30) {
			value := []byte(randomValue(rng, 5))
			if bad && rng.IntN(8) == 0 {
				mutated := bytes.Clone(value)
				for range 1 + rng.IntN(2) {
					at := rng.IntN(len(mutated))
					switch c := "{}[]\",:x0 -1.e"[rng.IntN(14)]; rng.IntN(3) {
					case 0:
						mutated[at] = c
					case 1:
						mutated = append(mutated[:at:at], append([]byte{c}, mutated[at:]...)...)
					default:
						mutated = append(mutated[:at:at], mutated[min(at+1, len(mutated)-1):]...)
					}
				}
				if closed(mutated) {
					value = mutated
				}
			}
			v.Add(string(value), `{"name":`+strings.Repeat("[", rng.IntN(2))+" "+strings.Repeat("-",
				rng.IntN(100)*rng.IntN(2)))
		}
		if checkValues(r, &v, 1000) {
			sound++
		} else {
			broken++
		}
	}
	if sound < 10 || broken < 10 {
		t.Errorf("%d texts of sound values and %d others", sound, broken)
	}
}

func TestCheckValuesDepth(t *testing.T) {
	r := kerneltest.Open(t)
	for most := range 6 {
		var v kerneltest.ValuesText
		v.Add(`[{"a":[1]}]`, `{"k":`)
		want := int64(-1)
		for level, at := range []int64{5, 6, 11} {
			if level+2 > most {
				want = at
				break
			}
		}
		if fault, _ := runCheckValues(r, &v, most); fault != want {
			t.Errorf("%d brackets: fault at %d, want %d", most, fault, want)
		}
	}
}

func TestCheckValuesArguments(t *testing.T) {
	r := kerneltest.Open(t)
	text, mask, fault := kerneltest.Upload(r, bytes.Repeat([]byte("[1] "), 32)), kerneltest.Poisoned[uint64](r, 2),
		kerneltest.Poisoned[int64](r, 1)
	x, err := kjson.AllocStructure(r.Stream, 128)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, text, x, gpu.Buffer[kjson.StructureCarry]{}))
	for name, err := range map[string]error{
		"another text": kjson.CheckValues(r.Set, r.Stream, text.Slice(0, 64), x, mask.Slice(0, 1), 9,
			kernels.Mask{}, fault),
		"short mask":  kjson.CheckValues(r.Set, r.Stream, text, x, mask.Slice(0, 1), 9, kernels.Mask{}, fault),
		"short solid": kjson.CheckValues(r.Set, r.Stream, text, x, mask, 9, mask.Slice(0, 1), fault),
		"no fault":    kjson.CheckValues(r.Set, r.Stream, text, x, mask, 9, kernels.Mask{}, fault.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCheckValuesOfAnything has texts that are no JSON, and masks of no values: all that counts is
// that nothing else is touched, and that it is the same twice.
func TestCheckValuesOfAnything(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 3))
	for name, text := range kerneltest.HostileTexts() {
		if rng.IntN(4) > 0 && testing.Short() {
			continue
		}
		v := kerneltest.ValuesText{Text: text}
		for range 5 {
			v.Starts, v.Ends = append(v.Starts, int64(rng.IntN(len(text)))),
				append(v.Ends, int64(rng.IntN(len(text)+1)))
		}
		one, _ := runCheckValues(r, &v, 64)
		if two, _ := runCheckValues(r, &v, 64); one != two {
			t.Errorf("%s: fault at %d, and at %d", name, one, two)
		}
	}
	for i, n := range kerneltest.Sizes {
		text := kerneltest.Random(uint64(i), n, `{}[]",:\tfn-.e019 `+"\n\x80")
		for range 2 {
			v := kerneltest.ValuesText{
				Text: text, Starts: []int64{int64(rng.IntN(n + 1)), 0},
				Ends: []int64{int64(rng.IntN(n + 1)), int64(n)},
			}
			runCheckValues(r, &v, 64)
			x, err := kjson.AllocStructure(r.Stream, n)
			r.OK(err)
			b := kerneltest.Upload(r, text)
			r.OK(kjson.ParseStructure(r.Set, r.Stream, b, x, gpu.Buffer[kjson.StructureCarry]{}))
			within := kerneltest.Poisoned[uint64](r, kernels.Words(n))
			r.OK(ktext.MarkSpans(r.Set, r.Stream, kerneltest.UploadShort(r, v.Starts),
				kerneltest.UploadShort(r, v.Ends), n, within))
			l, err := klist.FindElements(r.Set, r.Stream, b, x, within, rng.IntN(3),
				kerneltest.UploadShort(r, []int64{0, int64(n / 2)}))
			r.OK(err)
			r.OK(l.Free(r.Stream))
			r.OK(x.Free(r.Stream))
		}
	}
}
