package json_test

import (
	"bytes"
	"slices"
	"testing"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

func TestGeoJSONTypes(t *testing.T) {
	names := kerneltest.LikeTypeNames()
	var text []byte
	var at []int64
	for shift := range 8 { // every alignment
		text = append(text, bytes.Repeat([]byte{'"'}, shift)...)
		for _, name := range names {
			at = append(at, int64(len(text)))
			text = append(append(text, name...), '"')
		}
	}
	r := kerneltest.Open(t)
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
	for _, name := range kerneltest.TypeNames { // cut off anywhere by the text's end
		for cut := range len(name) + 2 {
			tests = append(tests, test{"cut " + name, []byte(name + `"`)[:cut], []int64{0}})
		}
	}
	for _, tt := range tests {
		kinds := kerneltest.Poisoned[kgeom.TypeKind](r, len(tt.at))
		r.OK(kjson.GeoJSONTypes(r.Set, r.Stream, kerneltest.Upload(r, tt.text), kerneltest.Upload(r, tt.at),
			`"`, kinds))
		for i, got := range kerneltest.Read(r, kinds) {
			want := kgeom.KindUnknown
			if tt.at[i] >= 0 && tt.at[i] < int64(len(tt.text)) {
				want = kerneltest.GeojsonType(tt.text[tt.at[i]:])
			}
			if got != want {
				t.Fatalf("%s: kind %d at byte %d, want %d in %.40q", tt.name, got, tt.at[i], want,
					tt.text[max(0, min(tt.at[i], int64(len(tt.text)))):])
			}
		}
	}
}

// What lies after the text ends no name, whatever ends one.
func TestGeoJSONTypesFound(t *testing.T) {
	r := kerneltest.Open(t)
	all := make([]kerneltest.RowGeometry, 700)
	for i := range all {
		all[i].Kind = kgeom.KindFeature
	}
	for _, tt := range []struct {
		name string
		odd  kgeom.TypeKind // of one row
		want uint32
	}{
		{"features", kgeom.KindFeature, 1 << 8},
		{"no type", kgeom.KindUnknown, 1<<8 | 1},
		{"a point", kgeom.KindPoint, 1<<8 | 1<<1},
		{"an escape", kgeom.KindUndecided, 1<<8 | 1<<31},
	} {
		for _, at := range []int{0, 255, 256, 699} {
			rows := slices.Clone(all)
			rows[at].Kind = tt.odd
			m, found := kerneltest.GeometryMembers(rows, false), kerneltest.Poisoned[uint32](r, 1)
			r.OK(kjson.GeoJSONTypesFound(r.Set, r.Stream, kerneltest.Upload(r, m.Text),
				kerneltest.Upload(r, m.Slots[0]), kerneltest.UploadShort(r, m.Starts),
				kerneltest.Upload(r, m.Kinds), found))
			if got := kerneltest.Read(r, found)[0]; got != tt.want {
				t.Errorf("%s in row %d: found %b, want %b", tt.name, at, got, tt.want)
			}
		}
	}
	m, found := kerneltest.GeometryMembers(all, false), kerneltest.Poisoned[uint32](r, 1)
	for name, err := range map[string]error{
		"kinds": kjson.GeoJSONTypesFound(r.Set, r.Stream, kerneltest.Upload(r, m.Text),
			kerneltest.Upload(r, m.Slots[0]), kerneltest.UploadShort(r, m.Starts),
			kerneltest.Upload(r, m.Kinds[1:]), found),
		"found": kjson.GeoJSONTypesFound(r.Set, r.Stream, kerneltest.Upload(r, m.Text),
			kerneltest.Upload(r, m.Slots[0]), kerneltest.UploadShort(r, m.Starts),
			kerneltest.Upload(r, m.Kinds), found.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGeoJSONTypesCutOff(t *testing.T) {
	r := kerneltest.Open(t)
	for text, want := range map[string]kgeom.TypeKind{
		"Point": kgeom.KindUnknown, "Point\x00": kgeom.KindPoint,
		"Point;": kgeom.KindPoint,
	} {
		kinds := kerneltest.Poisoned[kgeom.TypeKind](r, 1)
		r.OK(kjson.GeoJSONTypes(r.Set, r.Stream, kerneltest.Upload(r, []byte(text)), kerneltest.Upload(r, []int64{0}),
			"\"';\x00", kinds))
		if got := kerneltest.Read(r, kinds)[0]; got != want {
			t.Errorf("%q: kind %d, want %d", text, got, want)
		}
	}
}
