package readers_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func TestProjectionHas(t *testing.T) {
	attribute := func(name string) geoarrow.ColumnID { return geoarrow.ColumnID{Name: name} }
	id := geoarrow.ColumnID{Role: geoarrow.RoleFeatureID, Name: "id"}
	for _, tt := range []struct {
		columns []string
		id      geoarrow.ColumnID
		want    bool
	}{
		{nil, attribute("a"), true},
		{[]string{}, attribute("a"), false},
		{[]string{"a"}, attribute("a"), true},
		{[]string{"a"}, attribute("b"), false},
		{[]string{"a_1"}, attribute("a"), true}, // it may be called so
		{[]string{"a_1"}, attribute("a_1"), true},
		{[]string{"a_b"}, attribute("a"), false},
		{[]string{"a_"}, attribute("a"), false},
		{[]string{"_1"}, attribute(""), true},
		{[]string{"id"}, id, true},
		{[]string{"feature_id"}, id, true},
		{[]string{"feature_id_2"}, id, true},
		{[]string{"a"}, id, false},
	} {
		if got := readers.Project(tt.columns).Has(tt.id); got != tt.want {
			t.Errorf("%q has %+v: got %t", tt.columns, tt.id, got)
		}
	}
}

func TestProjectionCovers(t *testing.T) {
	for _, tt := range []struct {
		have, want []string
		covers     bool
	}{
		{nil, nil, true},
		{nil, []string{"a"}, true},
		{[]string{"a"}, nil, false},
		{[]string{"a", "b"}, []string{"b"}, true},
		{[]string{"a", "b"}, []string{"b", "c"}, false},
		{[]string{"a_1"}, []string{"a"}, false}, // what it was called before does not count
		{[]string{"a"}, []string{}, true},
	} {
		if got := readers.Project(tt.have).Covers(readers.Project(tt.want)); got != tt.covers {
			t.Errorf("%q covers %q: got %t", tt.have, tt.want, got)
		}
	}
}

func TestProjectionKey(t *testing.T) {
	keys := map[string][]string{}
	for _, columns := range [][]string{nil, {}, {""}, {"a"}, {"a", "b"}, {"a,b"}, {`a","b`}, {"a\x00"}, {"a\xff"}} {
		key := readers.Project(columns).Key()
		if other, ok := keys[key]; ok {
			t.Errorf("%q and %q have one key %s", columns, other, key)
		}
		keys[key] = columns
	}
	if a, b := readers.Project([]string{"a", "b"}).Key(), readers.Project([]string{"b", "a", "a"}).Key(); a != b {
		t.Errorf("%s and %s: the order counts", a, b)
	}
}
