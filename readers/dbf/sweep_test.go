package dbf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random tables of every type of field, most of them with mistakes.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: dbf.Format(), Documents: 500, Variants: []readertest.Variant{workers(), blocks()},
		Document: func(seed uint64) readertest.Input {
			return sweepInput(rand.New(rand.NewPCG(seed, 7)), "CNNFDLM", "CNFDLMIBYTVQGX@+O", 80)
		},
	}.CPU(t)
}

// sweepInput returns a random table with its siblings and options, of some types of fields, or of
// others if it is one of Visual FoxPro, and fewer records than most.
func sweepInput(r *rand.Rand, kinds, foxKinds string, most int) readertest.Input {
	tab := table{version: []byte{3, 0x83, 0x8B, 0x30, 0x32, 0xF5}[r.IntN(6)]}
	fox := tab.version == 0x30 || tab.version == 0x32
	if fox {
		kinds = foxKinds
	}
	for k := range 1 + r.IntN(6) {
		f := sweepField(r, fmt.Sprint("F", k), kinds[r.IntN(len(kinds))], fox)
		tab.fields, tab.flags = append(tab.fields, f), append(tab.flags, byte(r.IntN(2)*2))
	}
	if fox {
		tab.fields, tab.flags = append(tab.fields, field{"_NullFlags", '0', 2, 0}), append(tab.flags, 1)
	}
	rows, careless := r.IntN(most), r.IntN(3) == 0
	for range rows {
		record := string(" \x00***   "[r.IntN(8)])
		for _, f := range tab.fields {
			record += sweepValue(r, f, careless)
		}
		tab.records = append(tab.records, record)
	}
	in := readertest.Input{Name: "a.dbf", Text: tab.bytes(), Options: map[string]any{}, Siblings: map[string][]byte{}}
	in.Options["on_error"] = []string{"fail", "skip", "null", "repair"}[r.IntN(4)]
	if r.IntN(8) == 0 {
		in.Options["decimal"] = ","
	}
	if r.IntN(4) == 0 {
		in.Options["include_deleted"] = true
	}
	if r.IntN(3) == 0 {
		in.Siblings[".cpg"] = []byte([]string{"UTF-8", "1252", "936", "GB18030", "932", "SYSTEM", ""}[r.IntN(7)])
	}
	memos := []string{"first", "", strings.Repeat("long ", 200), "M\xfcnchen", "é", strings.Repeat("x", 40)}
	switch {
	case r.IntN(8) == 0: // no memo file
	case tab.version == 0x83:
		in.Siblings[".dbt"] = dbt3(memos...)
	case tab.version == 0x8B:
		in.Siblings[".dbt"] = dbt4(512, memos...)
	default:
		in.Siblings[".fpt"] = fpt(64, memos...)
	}
	if r.IntN(4) == 0 {
		in.Limits.MaxFeatureBytes = int64(50 + r.IntN(1500))
	}
	if r.IntN(3) == 0 {
		in.Text = mutated(r, in.Text)
	}
	return in
}

func sweepField(r *rand.Rand, name string, kind byte, fox bool) field {
	f := field{name, kind, 1 + r.IntN(40), 0}
	switch kind {
	case 'N', 'F':
		if r.IntN(2) == 0 {
			f.decimals = r.IntN(min(f.length, 18))
		}
	case 'D':
		f.length = 8
	case 'L':
		f.length = 1
	case 'I', '+':
		f.length = 4
	case 'B', 'Y', 'T', '@', 'O':
		f.length = 8
	case 'M', 'G':
		f.length = 10
		if fox {
			f.length = 4
		}
	}
	return f
}

func sweepValue(r *rand.Rand, f field, careless bool) string {
	if careless && r.IntN(30) == 0 { // anything
		b := make([]byte, f.length)
		for i := range b {
			b[i] = "0123456789 .-+eE\x00*TF\xff\xc3\xa9a"[r.IntN(24)]
		}
		return string(b)
	}
	switch f.kind {
	case 'N', 'F', 'D', 'L':
		for {
			if v := randomValue(r, f); careless {
				return v
			} else if _, ok := slow(f, v); ok {
				return v
			}
		}
	case 'M', 'G':
		number := []int{0, 1, 2, 3, 8, 9, 10, 20}[r.IntN(8)]
		if f.length == 10 {
			return fmt.Sprintf("%10d", number)
		}
		return string([]byte{byte(number), 0, 0, 0})
	case 'T', '@':
		day, clock := 2440588+r.IntN(20000), r.IntN(86_400_000)
		return string([]byte{
			byte(day), byte(day >> 8), byte(day >> 16), 0, byte(clock), byte(clock >> 8),
			byte(clock >> 16), byte(clock >> 24),
		})
	case 'I', '+', 'B', 'Y', 'O', '0':
		b := make([]byte, f.length)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	case 'V', 'Q':
		return strings.Repeat("x", f.length-1) + string([]byte{byte(r.IntN(f.length))})
	}
	text := []string{"", "abc", "  ab  c", "M\xfcnchen", "é", "\x8b\xab\xd6\xd0", "\x00a\x00b\x00"}[r.IntN(7)]
	return text[:min(len(text), f.length)] + strings.Repeat(" ", max(0, f.length-len(text)))
}

// mutated changes, takes out or puts in a few bytes.
func mutated(r *rand.Rand, text []byte) []byte {
	text = append([]byte(nil), text...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(text), 200))
		}
		switch r.IntN(6) {
		case 0:
			text = text[:at+1]
		case 1:
			text = append(text[:at], text[at+1:]...)
		case 2:
			text = append(text[:at:at], append([]byte{byte(r.Uint32())}, text[at:]...)...)
		default:
			text[at] = []byte{0, 1, 0x20, 0x2A, 0xFF, 0x80, byte(r.Uint32())}[r.IntN(7)]
		}
		if len(text) == 0 {
			return text
		}
	}
	return text
}
