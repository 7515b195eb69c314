package kernels_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

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
