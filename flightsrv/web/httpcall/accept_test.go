package httpcall

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestElements(t *testing.T) {
	h := http.Header{"Accept": {
		`text/csv; q=0.5 , application/vnd.apache.arrow.stream; codecs="zstd, lz4";q=0.25`, `a/b;c="\",d", TEXT/*;q=0`,
		`bad;q=2, worse;q=x, ;, ok`,
	}}
	want := []struct {
		value  string
		weight float64
		name   string
		text   string
	}{
		{"text/csv", 0.5, "", ""},
		{"application/vnd.apache.arrow.stream", 0.25, "codecs", "zstd, lz4"},
		{"a/b", 1, "c", `",d`},
		{"text/*", 0, "", ""},
		{"ok", 1, "", ""},
	}
	got := Elements(h, "Accept")
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if g := got[i]; g.Value != w.value || g.Weight != w.weight || g.Parameters[w.name] != w.text {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
}

func TestWeightOf(t *testing.T) {
	accepted := Elements(http.Header{"Accept": {"text/*;q=0.3, text/html;q=0.7, */*;q=0.5, text/plain;q=0"}}, "Accept")
	for mediaType, want := range map[string]float64{
		"text/html": 0.7, "text/csv": 0.3, "text/plain": 0, "image/png": 0.5,
	} {
		if got := WeightOf(accepted, mediaType); got.Weight != want {
			t.Errorf("%s: %v, want %v", mediaType, got.Weight, want)
		}
	}
}

// TestEncodersAreBounded checks that answers above maxEncoders have no coding.
func TestEncodersAreBounded(t *testing.T) {
	w := &Writer{ResponseWriter: httptest.NewRecorder()}
	var open []*Body
	for i := range maxEncoders + 3 {
		b := w.Body(Gzip)
		if got := b.Coding(); (got == Gzip) != (i < maxEncoders) {
			t.Errorf("body %d has the coding %s", i, got)
		}
		open = append(open, b)
	}
	for _, b := range open {
		b.Release()
		b.Release()
	}
	b := w.Body(Gzip)
	defer b.Release()
	if b.Coding() != Gzip {
		t.Error("encoders are not released")
	}
}
