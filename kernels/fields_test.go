package kernels_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// checkFields compares MatchKeys with a map.
func checkFields(r *rig, what string, names []string, x *tokens) {
	r.Helper()
	numbers := map[string]int32{}
	for i, name := range names {
		numbers[name] = int32(i)
	}
	f, err := kernels.AllocFields(r.s, names)
	r.ok(err)
	defer func() { r.ok(f.Free(r.s)) }()
	if f.Len() != len(names) {
		r.Fatalf("%s: %d names, want %d", what, f.Len(), len(names))
	}
	field, missed, first := poisoned[int32](r, len(x.starts)), poisoned[uint32](r, 1), uint32(math.MaxUint32)
	r.ok(r.k.MatchAllKeys(r.s, upload(r, x.text), upload(r, x.starts), upload(r, x.ends), f, field, missed))
	for i, got := range read(r, field) {
		want, known := numbers[x.token(i)]
		if !known {
			want, first = -1, min(first, uint32(i))
		}
		if got != want {
			r.Fatalf("%s: key %d, %.60q, is field %d, want %d", what, i, x.token(i), got, want)
		}
	}
	if got := read(r, missed)[0]; got != first {
		r.Fatalf("%s: the first key that is no name is %d, want %d", what, got, first)
	}
}

// Several spellings are one field.
func TestMatchKeysOfSpellings(t *testing.T) {
	r := open(t)
	var x tokens
	for _, key := range []string{"a", `\u0061`, "b", "c", `\u0061 `} {
		x.add(key, `"`)
	}
	f, err := kernels.AllocSpellings(r.s, []string{"b", `\u0061`, "a"}, []int32{7, 4, 4})
	r.ok(err)
	defer func() { r.ok(f.Free(r.s)) }()
	field := poisoned[int32](r, len(x.starts))
	r.ok(r.k.MatchKeys(r.s, upload(r, x.text), upload(r, x.starts), upload(r, x.ends), f, field))
	sameItems(t, "fields", read(r, field), []int32{4, 4, 7, -1, -1})
	if _, err := kernels.AllocSpellings(r.s, []string{"a"}, nil); err == nil {
		t.Error("a number too few: no error")
	}
}

// nearNames are names that differ little: by case, length, one byte, the bytes behind them.
func nearNames() []string {
	names := []string{
		"", "id", "ID", "Id", "name", "name ", " name", "name\x00", "name\x00\x00", "\x00",
		"\x00\x00", `na\u006de`, `"`, "größe", "gro\u0308ße", "\xff", "populatio", "population", "populations",
	}
	for n := range 40 {
		names = append(names, strings.Repeat("x", n+1), strings.Repeat("x", n)+"y", "y"+strings.Repeat("x", n+1),
			strings.Repeat("z", n)+"\x00z")
	}
	return append(names, strings.Repeat("n", kernels.LongestFieldName), strings.Repeat("n", kernels.LongestFieldName-1)+
		"m", strings.Repeat("n", kernels.LongestFieldName-1))
}

// keysOf are the names as they are, cut, made longer and changed, each followed by follow.
func keysOf(names []string, follow string) *tokens {
	var x tokens
	for _, name := range names {
		x.add(name, follow)
		x.add(name+"x", follow)
		x.add(name+"\x00", follow)
		x.add(strings.ToUpper(name), follow)
		if name != "" {
			x.add(name[1:], follow)
			x.add(name[:len(name)-1], follow)
			x.add(name[:len(name)-1]+string(name[len(name)-1]^1), follow)
		}
	}
	return &x
}

func TestMatchKeys(t *testing.T) {
	r := open(t)
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
		checkFields(r, tt.name+", no keys", tt.names, &tokens{text: []byte("x")})
	}
}

// Keys that have the hash of a name, and its length, are not the name.
func TestMatchKeysOfOneHash(t *testing.T) {
	r := open(t)
	same := kernels.SameHashes(0, 100)
	for _, n := range []int{1, 3, 60} {
		var x tokens
		for _, key := range same {
			x.add(key, "")
		}
		checkFields(r, fmt.Sprint(n, " names of one hash"), same[:n], &x)
	}
}

func TestMatchKeysAtTheEndOfText(t *testing.T) {
	r := open(t)
	const name = "population of towns"
	for length := range len(name) + 1 {
		for pad := range 17 {
			var x tokens
			x.add("", strings.Repeat("p", pad))
			x.add(name[:length], "")
			checkFields(r, fmt.Sprintf("%d bytes behind %d", length, pad), []string{
				name, name[:7],
				name[:8], name[:9],
			}, &x)
		}
	}
}

func TestMatchKeysOfCounts(t *testing.T) {
	r := open(t)
	for _, n := range []int{1, 31, 32, 33, 255, 256, 257, 1000} {
		var x tokens
		for i := range n {
			x.add(fmt.Sprint("k", i%7), ":")
		}
		checkFields(r, fmt.Sprint(n, " keys"), []string{"k1", "k3", "k5"}, &x)
	}
}

func TestMatchKeysOfMostNames(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, kernels.MostFields)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", strings.Repeat("f", i%13), i)
	}
	var x tokens
	for range 50000 {
		x.add(fmt.Sprintf("%s%d", strings.Repeat("f", rng.IntN(13)), rng.IntN(len(names)+100)), `"`)
	}
	for range 50000 {
		x.add(names[rng.IntN(len(names))], "")
	}
	checkFields(r, "65536 names", names, &x)
}

// A key that is longer than all names is not read: many of 1 MiB over the same bytes would take too
// long.
func TestMatchKeysOfLongKeys(t *testing.T) {
	r := open(t)
	x := tokens{text: make([]byte, 1<<20)}
	for i := range 20000 {
		x.starts, x.ends = append(x.starts, int64(i%8)), append(x.ends, int64(len(x.text)-i%5))
	}
	checkFields(r, "long keys", []string{"a", strings.Repeat("\x00", 1000)}, &x)
}

func TestMatchKeysOfWrongSpans(t *testing.T) {
	r := open(t)
	f, err := kernels.AllocFields(r.s, []string{"", "a", "aa"})
	r.ok(err)
	defer func() { r.ok(f.Free(r.s)) }()
	starts := []int64{-1, 3, 4, 2, 1 << 62, -1 << 63, -1 << 63, 0}
	ends := []int64{0, 5, 4, 1, 1<<62 + 1, -1 << 63, 1<<63 - 1, 1<<63 - 1}
	field := poisoned[int32](r, len(starts))
	r.ok(r.k.MatchKeys(r.s, upload(r, []byte("aaaa")), upload(r, starts), upload(r, ends), f, field))
	sameItems(t, "fields", read(r, field), []int32{-1, -1, 0, -1, -1, -1, -1, -1})
}

func TestFieldsRefuse(t *testing.T) {
	r := open(t)
	for _, tt := range []struct {
		name  string
		names []string
	}{
		{"a name twice", []string{"a", "b", "a"}},
		{"the empty name twice", []string{"", ""}},
		{"a long name", []string{strings.Repeat("n", kernels.LongestFieldName+1)}},
		{"too many names", make([]string, kernels.MostFields+1)},
	} {
		if _, err := kernels.AllocFields(r.s, tt.names); !errors.Is(err, kernels.ErrFieldNames) {
			t.Errorf("%s: got error %v, want ErrFieldNames", tt.name, err)
		}
	}
	f, err := kernels.AllocFields(r.s, []string{"a"})
	r.ok(err)
	defer func() { r.ok(f.Free(r.s)) }()
	text, at := upload(r, make([]byte, 100)), upload(r, make([]int64, 3))
	if r.k.MatchKeys(r.s, text, at, at.Slice(0, 2), f, poisoned[int32](r, 3)) == nil {
		t.Error("an end too few: no error")
	}
	if r.k.MatchKeys(r.s, text, at, at, f, poisoned[int32](r, 2)) == nil {
		t.Error("a field too few: no error")
	}
}
