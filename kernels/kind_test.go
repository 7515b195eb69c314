package kernels_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// wktTag is the grammar of WKTTypes.
var wktTag = regexp.MustCompile(`(?is)^(point|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection)` +
	`(?:(zm|z|m)\b[ \t\r]*|\b[ \t\r]*(?:(zm|z|m)\b[ \t\r]*)?)(?:\(|(empty)(?:[ \t\r\n;,)]|$))`)

// wktType is WKTTypes for the tag that begins text.
func wktType(text []byte) (kernels.TypeKind, kernels.TagDims) {
	m := wktTag.FindSubmatch(text)
	if m == nil {
		return kernels.KindUnknown, 0
	}
	kind := slices.IndexFunc(typeNames, func(name string) bool { return strings.EqualFold(name, string(m[1])) }) + 1
	var dims kernels.TagDims
	words := strings.ToLower(string(m[2]) + string(m[3]))
	if strings.Contains(words, "z") {
		dims |= kernels.DimsZ
	}
	if strings.Contains(words, "m") {
		dims |= kernels.DimsM
	}
	if m[4] != nil {
		dims |= kernels.DimsEmpty
	}
	return kernels.TypeKind(kind), dims
}

func TestWKTTypes(t *testing.T) {
	var rows []string
	for _, name := range typeNames {
		for _, name := range []string{
			name, strings.ToUpper(name), strings.ToLower(name), name[:len(name)-1],
			name + "x", "x" + name,
		} {
			for _, dims := range []string{
				"", " ", "Z", " Z", "\tm ", "ZM", " zM  ", " ZMM", "MZ", " Z M",
				"25D", "Z\r",
			} {
				for _, rest := range []string{
					"(1 2)", "EMPTY", " EMPTY", " empty;", " EMPTYX", " EMPT",
					"", " 1 2", "\n(1 2)", " EMPTY)",
				} {
					rows = append(rows, name+dims+rest)
				}
			}
		}
	}
	var text []byte
	var at []int64
	for _, row := range rows {
		at = append(at, int64(len(text)))
		text = append(append(text, row...), '\n')
	}
	r := open(t)
	type test struct {
		name string
		text []byte
		at   []int64
	}
	tests := []test{
		{"all tags", text, at},
		{"outside of the text", []byte("POINT(1 2)"), []int64{-1, 10, 1 << 62}},
	}
	for _, row := range []string{"POINT(", "MultiPolygon zm (", "GeometryCollection EMPTY"} {
		for cut := 1; cut <= len(row); cut++ {
			tests = append(tests, test{"cut", []byte(row[:cut]), []int64{0}})
		}
	}
	for _, tt := range tests {
		kinds, dims := poisoned[kernels.TypeKind](r, len(tt.at)), poisoned[kernels.TagDims](r, len(tt.at))
		r.ok(r.k.WKTTypes(r.s, upload(r, tt.text), upload(r, tt.at), "\n,);", kinds, dims))
		gotDims := read(r, dims)
		for i, got := range read(r, kinds) {
			want, wantDims := kernels.KindUnknown, kernels.TagDims(0)
			if tt.at[i] >= 0 && tt.at[i] < int64(len(tt.text)) {
				want, wantDims = wktType(tt.text[tt.at[i]:])
			}
			if got != want || gotDims[i] != wantDims {
				t.Fatalf("%s: kind %d, dims %d, want %d, %d in %.40q", tt.name, got, gotDims[i], want,
					wantDims, tt.text[max(0, min(tt.at[i], int64(len(tt.text)))):])
			}
		}
	}
}

func TestWKTTypesOfManyBlanks(t *testing.T) {
	r := open(t)
	for _, tt := range []struct {
		name string
		text string
		want kernels.TypeKind
	}{
		{"63 blanks", "POINT" + strings.Repeat(" ", 63) + "(1 2)", kernels.KindPoint},
		{"64 blanks", "POINT" + strings.Repeat(" ", 64) + "(1 2)", kernels.KindUndecided},
		{"64 blanks behind Z", "POINT Z" + strings.Repeat(" ", 64) + "(1 2)", kernels.KindUndecided},
		{"blanks up to the end", "POINT" + strings.Repeat(" ", 60), kernels.KindUnknown},
	} {
		kinds, dims := poisoned[kernels.TypeKind](r, 1), poisoned[kernels.TagDims](r, 1)
		r.ok(r.k.WKTTypes(r.s, upload(r, []byte(tt.text)), upload(r, []int64{0}), "\n", kinds, dims))
		if got := read(r, kinds)[0]; got != tt.want {
			t.Errorf("%s: kind %d, want %d", tt.name, got, tt.want)
		}
	}
}
