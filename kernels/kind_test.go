package kernels_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// typeNames are the names of RFC 7946, in the order of their kinds.
var typeNames = strings.Fields("Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection " +
	"Feature FeatureCollection")

// geojsonType is GeoJSONTypes for the name that begins text.
func geojsonType(text []byte) kernels.TypeKind {
	name, _, ended := bytes.Cut(text, []byte{'"'})
	if i := slices.Index(typeNames, string(name)); ended && i >= 0 {
		return kernels.TypeKind(i + 1)
	}
	if bytes.IndexByte(name[:min(len(name), 18)], '\\') >= 0 {
		return kernels.KindUndecided
	}
	return kernels.KindUnknown
}

// likeTypeNames are the names of types, and others that begin or end like them.
func likeTypeNames() []string {
	return append([]string{
		"", "P", "Poin", "Polyx", "Polyline", "Line", "Linestring", "POINT", "point", "PointZ", "MultiPolygons",
		"GeometryCollectio", "FeatureCollections",
		`Pol\u0079gon`, `GeometryCollectio\u006e`, `\u0050oint`, `Point\`, "Point\x00", "\xffoint",
		"GeometryCollectionGeometryCollection", `x"\u0050`,
	}, typeNames...)
}

func TestGeoJSONTypes(t *testing.T) {
	names := likeTypeNames()
	var text []byte
	var at []int64
	for shift := range 8 { // every alignment
		text = append(text, bytes.Repeat([]byte{'"'}, shift)...)
		for _, name := range names {
			at = append(at, int64(len(text)))
			text = append(append(text, name...), '"')
		}
	}
	r := open(t)
	type test struct {
		name string
		text []byte
		at   []int64
	}
	tests := []test{
		{"all names", text, at},
		{"outside of the text", text[:100], []int64{-1, 100, 1 << 62, -1 << 63}},
		{"no names", text, nil},
		{"no text", nil, []int64{0}},
	}
	for _, name := range typeNames { // cut off anywhere by the text's end
		for cut := range len(name) + 2 {
			tests = append(tests, test{"cut " + name, []byte(name + `"`)[:cut], []int64{0}})
		}
	}
	for _, tt := range tests {
		kinds := poisoned[kernels.TypeKind](r, len(tt.at))
		r.ok(r.k.GeoJSONTypes(r.s, upload(r, tt.text), upload(r, tt.at), `"`, kinds))
		for i, got := range read(r, kinds) {
			want := kernels.KindUnknown
			if tt.at[i] >= 0 && tt.at[i] < int64(len(tt.text)) {
				want = geojsonType(tt.text[tt.at[i]:])
			}
			if got != want {
				t.Fatalf("%s: kind %d at byte %d, want %d in %.40q", tt.name, got, tt.at[i], want,
					tt.text[max(0, min(tt.at[i], int64(len(tt.text)))):])
			}
		}
	}
}

// What lies behind the text ends no name, whatever ends one.
func TestGeoJSONTypesFound(t *testing.T) {
	r := open(t)
	all := make([]rowGeometry, 700)
	for i := range all {
		all[i].kind = kernels.KindFeature
	}
	for _, tt := range []struct {
		name string
		odd  kernels.TypeKind // of one row
		want uint32
	}{
		{"features", kernels.KindFeature, 1 << 8},
		{"no type", kernels.KindUnknown, 1<<8 | 1},
		{"a point", kernels.KindPoint, 1<<8 | 1<<1},
		{"an escape", kernels.KindUndecided, 1<<8 | 1<<31},
	} {
		for _, at := range []int{0, 255, 256, 699} {
			rows := slices.Clone(all)
			rows[at].kind = tt.odd
			m, found := geometryMembers(rows, false), poisoned[uint32](r, 1)
			r.ok(r.k.GeoJSONTypesFound(r.s, upload(r, m.text), upload(r, m.slots[0]), uploadShort(r, m.starts),
				upload(r, m.kinds), found))
			if got := read(r, found)[0]; got != tt.want {
				t.Errorf("%s in row %d: found %b, want %b", tt.name, at, got, tt.want)
			}
		}
	}
	m, found := geometryMembers(all, false), poisoned[uint32](r, 1)
	for name, err := range map[string]error{
		"kinds": r.k.GeoJSONTypesFound(r.s, upload(r, m.text), upload(r, m.slots[0]), uploadShort(r, m.starts),
			upload(r, m.kinds[1:]), found),
		"found": r.k.GeoJSONTypesFound(r.s, upload(r, m.text), upload(r, m.slots[0]), uploadShort(r, m.starts),
			upload(r, m.kinds), found.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGeoJSONTypesCutOff(t *testing.T) {
	r := open(t)
	for text, want := range map[string]kernels.TypeKind{
		"Point": kernels.KindUnknown, "Point\x00": kernels.KindPoint,
		"Point;": kernels.KindPoint,
	} {
		kinds := poisoned[kernels.TypeKind](r, 1)
		r.ok(r.k.GeoJSONTypes(r.s, upload(r, []byte(text)), upload(r, []int64{0}), "\"';\x00", kinds))
		if got := read(r, kinds)[0]; got != want {
			t.Errorf("%q: kind %d, want %d", text, got, want)
		}
	}
}

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
