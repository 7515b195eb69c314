//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

func TestInfo(t *testing.T) {
	info := newWorld(t, nil).engine.Info()
	if info.Version != duck.LibraryVersion() || info.Spatial {
		t.Errorf("version %q, spatial %t", info.Version, info.Spatial)
	}
	for _, c := range []struct {
		name  string
		words []string
		has   string
	}{
		{"keywords", info.Keywords, "select"},
		{"numeric functions", info.Numeric, "sqrt"},
		{"string functions", info.String, "upper"},
		{"functions of dates", info.DateTime, "last_day"},
		{"system functions", info.System, "list_sort"},
	} {
		if !slices.Contains(c.words, c.has) || !slices.IsSorted(c.words) {
			t.Errorf("%s: %q, want sorted, with %q", c.name, c.words, c.has)
		}
	}
}
