package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// TestCut divides members by the bytes that they are expected to have when they are unpacked.
func TestCut(t *testing.T) {
	const kib = 1 << 10
	for _, c := range []struct {
		name string
		path string
		size int64
		want []int // members of each unit
	}{
		{"small", "a.csv", kib, []int{100}},
		{"half a MiB", "a.csv", 512 * kib, []int{16, 16, 16, 16, 16, 16, 4}},
		{"packed", "a.csv.gz", 64 * kib, []int{16, 16, 16, 16, 16, 16, 4}},
		{"large", "a.csv", 1024 * kib, slices.Repeat([]int{1}, 100)},
		{"packed and large", "a.csv.zst", 128 * kib, slices.Repeat([]int{1}, 100)},
	} {
		d := &set{Sets: &Sets{}}
		how := &choice{}
		var all []member
		for range 100 {
			all = append(all, member{entry: &tree.Entry{Name: c.path, Path: c.path, Size: c.size}, how: how})
		}
		var got []int
		for _, u := range d.cut(all) {
			got = append(got, len(u.members))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: units of %d members, want %d", c.name, got, c.want)
		}
	}
}

// TestLongTexts refuses texts whose offsets do not fit 32 bits.
func TestLongTexts(t *testing.T) {
	f := &folderColumns{filename: "file"}
	m := &member{label: strings.Repeat("x", 1<<20)}
	for _, c := range []struct {
		rows int
		want error
	}{{3, nil}, {2048, errLongTexts}, {4096, errLongTexts}} {
		var col geoarrow.Column
		err := f.fill(f.id(0), &col, []run{{m, c.rows}}, c.rows)
		if !errors.Is(err, c.want) || err == nil && len(col.Values) != c.rows<<20 {
			t.Errorf("%d rows: %v and %d bytes, want %v", c.rows, err, len(col.Values), c.want)
		}
	}
}
