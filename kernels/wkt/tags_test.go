package wkt_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
)

// wktTag is the grammar of WKTTypes.
var wktTag = regexp.MustCompile(`(?is)^(point|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection)` +
	`(?:(zm|z|m)\b[ \t\r]*|\b[ \t\r]*(?:(zm|z|m)\b[ \t\r]*)?)(?:\(|(empty)(?:[ \t\r\n;,)]|$))`)

// wktType is WKTTypes for the tag that begins text.
func wktType(text []byte) (kgeom.TypeKind, kwkt.TagDims) {
	m := wktTag.FindSubmatch(text)
	if m == nil {
		return kgeom.KindUnknown, 0
	}
	kind := slices.IndexFunc(kerneltest.TypeNames, func(name string) bool {
		return strings.EqualFold(name, string(m[1]))
	}) + 1
	var dims kwkt.TagDims
	words := strings.ToLower(string(m[2]) + string(m[3]))
	if strings.Contains(words, "z") {
		dims |= kwkt.DimsZ
	}
	if strings.Contains(words, "m") {
		dims |= kwkt.DimsM
	}
	if m[4] != nil {
		dims |= kwkt.DimsEmpty
	}
	return kgeom.TypeKind(kind), dims
}

func TestWKTTypes(t *testing.T) {
	var rows []string
	for _, name := range kerneltest.TypeNames {
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
	r := kerneltest.Open(t)
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
		kinds, dims := kerneltest.Poisoned[kgeom.TypeKind](r, len(tt.at)),
			kerneltest.Poisoned[kwkt.TagDims](r, len(tt.at))
		r.OK(kwkt.WKTTypes(r.Set, r.Stream, kerneltest.Upload(r, tt.text), kerneltest.Upload(r, tt.at),
			"\n,);", kinds, dims))
		gotDims := kerneltest.Read(r, dims)
		for i, got := range kerneltest.Read(r, kinds) {
			want, wantDims := kgeom.KindUnknown, kwkt.TagDims(0)
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
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name string
		text string
		want kgeom.TypeKind
	}{
		{"63 blanks", "POINT" + strings.Repeat(" ", 63) + "(1 2)", kgeom.KindPoint},
		{"64 blanks", "POINT" + strings.Repeat(" ", 64) + "(1 2)", kgeom.KindUndecided},
		{"64 blanks behind Z", "POINT Z" + strings.Repeat(" ", 64) + "(1 2)", kgeom.KindUndecided},
		{"blanks up to the end", "POINT" + strings.Repeat(" ", 60), kgeom.KindUnknown},
	} {
		kinds, dims := kerneltest.Poisoned[kgeom.TypeKind](r, 1), kerneltest.Poisoned[kwkt.TagDims](r, 1)
		r.OK(kwkt.WKTTypes(r.Set, r.Stream, kerneltest.Upload(r, []byte(tt.text)), kerneltest.Upload(r, []int64{0}),
			"\n", kinds, dims))
		if got := kerneltest.Read(r, kinds)[0]; got != tt.want {
			t.Errorf("%s: kind %d, want %d", tt.name, got, tt.want)
		}
	}
}
