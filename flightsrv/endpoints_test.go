package flightsrv

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int64
		n     int
		want  []int
	}{
		{"one batch", []int64{9}, 4, []int{0, 1}},
		{"even", []int64{1, 1, 1, 1}, 2, []int{0, 2, 4}},
		{"one each", []int64{1, 1, 1}, 3, []int{0, 1, 2, 3}},
		{"fewer batches than runs", []int64{1, 1, 1}, 16, []int{0, 1, 2, 3}},
		{"short tail", []int64{4, 4, 4, 4, 1}, 2, []int{0, 2, 5}},
		{"heavy head", []int64{100, 1, 1, 1, 1, 1}, 3, []int{0, 1, 2, 6}},
		{"heavy tail", []int64{1, 1, 1, 1, 100}, 3, []int{0, 3, 4, 5}},
		{"no bytes", []int64{0, 0, 0, 0}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := splitBatches(c.sizes, c.n)
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("split(%v, %d) = %v, want %v", c.sizes, c.n, got, c.want)
			}
			if len(got) != min(c.n, len(c.sizes))+1 || got[0] != 0 || got[len(got)-1] != len(c.sizes) ||
				!slices.IsSorted(got) {
				t.Errorf("split(%v, %d) = %v", c.sizes, c.n, got)
			}
		})
	}
}

func TestEndpointCount(t *testing.T) {
	for _, c := range []struct {
		rows, bytes int64
		want        int
	}{
		{0, 0, 1},
		{262_144, 64 << 20, 1},
		{262_145, 0, 2},
		{1, 64<<20 + 1, 2},
		{1 << 40, 1 << 50, 16},
	} {
		if got := endpointCount(c.rows, c.bytes); got != c.want {
			t.Errorf("endpointCount(%d, %d) = %d, want %d", c.rows, c.bytes, got, c.want)
		}
	}
}

func TestLocations(t *testing.T) {
	for _, c := range []struct {
		advertise string
		encrypted bool
		want      string // "": refused
	}{
		{"h:1", false, "grpc+tcp://h:1"},
		{"h:1", true, "grpc+tls://h:1"},
		{"[::1]:8815", false, "grpc+tcp://[::1]:8815"},
		{"grpc://h:1", true, "grpc://h:1"},
		{"grpc+tls://h:1", false, "grpc+tls://h:1"},
		{"unix:///run/v.sock", false, "grpc+unix:///run/v.sock"},
		{"grpc+unix:///run/v.sock", true, "grpc+unix:///run/v.sock"},
		{"arrow-flight-reuse-connection://?", false, "arrow-flight-reuse-connection://?"},
		{"arrow-flight-reuse-connection://h:1", false, ""},
		{"", false, ""},
		{"h", false, ""},
		{":1", false, ""},
		{"grpc://h", false, ""},
		{"grpc://h:1/path", false, ""},
		{"unix://v.sock", false, ""},
		{"unix://", false, ""},
		{"http://h:1", false, ""},
		{"grpc://h:port", false, ""},
	} {
		got, err := parseLocations([]string{c.advertise}, c.encrypted)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("--advertise %q gives %v", c.advertise, got)
		case c.want != "" && (err != nil || got[0].GetUri() != c.want):
			t.Errorf("--advertise %q gives %v, %v; want %s", c.advertise, got, err, c.want)
		}
	}
}
