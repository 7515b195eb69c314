package json_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// checkFields compares MatchKeys with a map.
func checkFields(r *kerneltest.Rig, what string, names []string, x *kerneltest.Tokens) {
	r.Helper()
	numbers := map[string]int32{}
	for i, name := range names {
		numbers[name] = int32(i)
	}
	f, err := kjson.AllocFields(r.Stream, names)
	r.OK(err)
	defer func() { r.OK(f.Free(r.Stream)) }()
	if f.Len() != len(names) {
		r.Fatalf("%s: %d names, want %d", what, f.Len(), len(names))
	}
	field, missed, first := kerneltest.Poisoned[int32](r, len(x.Starts)), kerneltest.Poisoned[uint32](r, 1),
		uint32(math.MaxUint32)
	r.OK(kjson.MatchAllKeys(r.Set, r.Stream, kerneltest.Upload(r, x.Text), kerneltest.Upload(r, x.Starts),
		kerneltest.Upload(r, x.Ends), f, field, missed))
	for i, got := range kerneltest.Read(r, field) {
		want, known := numbers[x.Token(i)]
		if !known {
			want, first = -1, min(first, uint32(i))
		}
		if got != want {
			r.Fatalf("%s: key %d, %.60q, is field %d, want %d", what, i, x.Token(i), got, want)
		}
	}
	if got := kerneltest.Read(r, missed)[0]; got != first {
		r.Fatalf("%s: the first key that is no name is %d, want %d", what, got, first)
	}
}

// Several spellings are one field.
func TestMatchKeysOfSpellings(t *testing.T) {
	r := kerneltest.Open(t)
	var x kerneltest.Tokens
	for _, key := range []string{"a", `\u0061`, "b", "c", `\u0061 `} {
		x.Add(key, `"`)
	}
	f, err := kjson.AllocSpellings(r.Stream, []string{"b", `\u0061`, "a"}, []int32{7, 4, 4})
	r.OK(err)
	defer func() { r.OK(f.Free(r.Stream)) }()
	field := kerneltest.Poisoned[int32](r, len(x.Starts))
	r.OK(kjson.MatchKeys(r.Set, r.Stream, kerneltest.Upload(r, x.Text), kerneltest.Upload(r, x.Starts),
		kerneltest.Upload(r, x.Ends), f, field))
	kerneltest.SameItems(t, "fields", kerneltest.Read(r, field), []int32{4, 4, 7, -1, -1})
	if _, err := kjson.AllocSpellings(r.Stream, []string{"a"}, nil); err == nil {
		t.Error("a number too few: no error")
	}
}

// nearNames are names that differ little: by case, length, one byte, the bytes after them.
func nearNames() []string {
	names := []string{
		"", "id", "ID", "Id", "name", "name ", " name", "name\x00", "name\x00\x00", "\x00",
		"\x00\x00", `na\u006de`, `"`, "größe", "gro\u0308ße", "\xff", "populatio", "population", "populations",
	}
	for n := range 40 {
		names = append(names, strings.Repeat("x", n+1), strings.Repeat("x", n)+"y", "y"+strings.Repeat("x", n+1),
			strings.Repeat("z", n)+"\x00z")
	}
	return append(names, strings.Repeat("n", kjson.LongestFieldName), strings.Repeat("n", kjson.LongestFieldName-1)+
		"m", strings.Repeat("n", kjson.LongestFieldName-1))
}

// keysOf are the names as they are, cut, made longer and changed, each followed by follow.
func keysOf(names []string, follow string) *kerneltest.Tokens {
	var x kerneltest.Tokens
	for _, name := range names {
		x.Add(name, follow)
		x.Add(name+"x", follow)
		x.Add(name+"\x00", follow)
		x.Add(strings.ToUpper(name), follow)
		if name != "" {
			x.Add(name[1:], follow)
			x.Add(name[:len(name)-1], follow)
			x.Add(name[:len(name)-1]+string(name[len(name)-1]^1), follow)
		}
	}
	return &x
}

func TestMatchKeys(t *testing.T) {
	r := kerneltest.Open(t)
	names := nearNames()
	for _, tt := range []struct {
		name  string
		names []string
	}{
		{"no names", nil},
		{"the empty name", []string{""}},
		{"one name", []string{"population"}},
		{"names of 8 and 16 bytes", []string{"12345678", "1234567812345678", "123456781234567"}},
		{"names that differ little", names},
	} {
		for _, follow := range []string{"", `"`, "\x00", "xxx"} {
			checkFields(r, fmt.Sprintf("%s, followed by %q", tt.name, follow), tt.names, keysOf(names, follow))
		}
		checkFields(r, tt.name+", no keys", tt.names, &kerneltest.Tokens{Text: []byte("x")})
	}
}

// Keys that have the hash of a name, and its length, are not the name.
func TestMatchKeysOfOneHash(t *testing.T) {
	r := kerneltest.Open(t)
	same := kjson.SameHashes(0, 100)
	for _, n := range []int{1, 3, 60} {
		var x kerneltest.Tokens
		for _, key := range same {
			x.Add(key, "")
		}
		checkFields(r, fmt.Sprint(n, " names of one hash"), same[:n], &x)
	}
}

func TestMatchKeysAtTheEndOfText(t *testing.T) {
	r := kerneltest.Open(t)
	const name = "population of towns"
	for length := range len(name) + 1 {
		for pad := range 17 {
			var x kerneltest.Tokens
			x.Add("", strings.Repeat("p", pad))
			x.Add(name[:length], "")
			checkFields(r, fmt.Sprintf("%d bytes behind %d", length, pad), []string{
				name, name[:7],
				name[:8], name[:9],
			}, &x)
		}
	}
}

func TestMatchKeysOfCounts(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{1, 31, 32, 33, 255, 256, 257, 1000} {
		var x kerneltest.Tokens
		for i := range n {
			x.Add(fmt.Sprint("k", i%7), ":")
		}
		checkFields(r, fmt.Sprint(n, " keys"), []string{"k1", "k3", "k5"}, &x)
	}
}

func TestMatchKeysOfMostNames(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, kjson.MaxFields)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", strings.Repeat("f", i%13), i)
	}
	var x kerneltest.Tokens
	for range 50000 {
		x.Add(fmt.Sprintf("%s%d", strings.Repeat("f", rng.IntN(13)), rng.IntN(len(names)+100)), `"`)
	}
	for range 50000 {
		x.Add(names[rng.IntN(len(names))], "")
	}
	checkFields(r, "65536 names", names, &x)
}

// A key that is longer than all names is not read: many of 1 MiB over the same bytes would take too
// long.
func TestMatchKeysOfLongKeys(t *testing.T) {
	r := kerneltest.Open(t)
	x := kerneltest.Tokens{Text: make([]byte, 1<<20)}
	for i := range 20000 {
		x.Starts, x.Ends = append(x.Starts, int64(i%8)), append(x.Ends, int64(len(x.Text)-i%5))
	}
	checkFields(r, "long keys", []string{"a", strings.Repeat("\x00", 1000)}, &x)
}

func TestMatchKeysOfWrongSpans(t *testing.T) {
	r := kerneltest.Open(t)
	f, err := kjson.AllocFields(r.Stream, []string{"", "a", "aa"})
	r.OK(err)
	defer func() { r.OK(f.Free(r.Stream)) }()
	starts := []int64{-1, 3, 4, 2, 1 << 62, -1 << 63, -1 << 63, 0}
	ends := []int64{0, 5, 4, 1, 1<<62 + 1, -1 << 63, 1<<63 - 1, 1<<63 - 1}
	field := kerneltest.Poisoned[int32](r, len(starts))
	r.OK(kjson.MatchKeys(r.Set, r.Stream, kerneltest.Upload(r, []byte("aaaa")), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), f, field))
	kerneltest.SameItems(t, "fields", kerneltest.Read(r, field), []int32{-1, -1, 0, -1, -1, -1, -1, -1})
}

func TestFieldsRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name  string
		names []string
	}{
		{"a name twice", []string{"a", "b", "a"}},
		{"the empty name twice", []string{"", ""}},
		{"a long name", []string{strings.Repeat("n", kjson.LongestFieldName+1)}},
		{"too many names", make([]string, kjson.MaxFields+1)},
	} {
		if _, err := kjson.AllocFields(r.Stream, tt.names); !errors.Is(err, kjson.ErrFieldNames) {
			t.Errorf("%s: got error %v, want ErrFieldNames", tt.name, err)
		}
	}
	f, err := kjson.AllocFields(r.Stream, []string{"a"})
	r.OK(err)
	defer func() { r.OK(f.Free(r.Stream)) }()
	text, at := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Upload(r, make([]int64, 3))
	if kjson.MatchKeys(r.Set, r.Stream, text, at, at.Slice(0, 2), f, kerneltest.Poisoned[int32](r, 3)) == nil {
		t.Error("an end too few: no error")
	}
	if kjson.MatchKeys(r.Set, r.Stream, text, at, at, f, kerneltest.Poisoned[int32](r, 2)) == nil {
		t.Error("a field too few: no error")
	}
}
