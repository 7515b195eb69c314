package dataset

import "testing"

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, text, fixed, pattern string }{
		{"folders", "data/roads/**/*.geojson", "data/roads", "**/*.geojson"},
		{"in one folder", "data/*.csv", "data", "*.csv"},
		{"no folder", "*.csv", ".", "*.csv"},
		{"no wildcard", "data/a.csv", "data", "a.csv"},
		{"root", "/*.csv", "/", "*.csv"},
		{"part of a name", "/srv/year=20??/a.csv", "/srv", "year=20??/a.csv"},
		{"alternatives", "data/{a,b}/c.csv", "data", "{a,b}/c.csv"},
		{"store", "s3://bucket/a/year=*/b", "s3://bucket/a", "year=*/b"},
	} {
		if fixed, pattern := Split(c.text); fixed != c.fixed || pattern != c.pattern {
			t.Errorf("%s: %q, %q, want %q, %q", c.name, fixed, pattern, c.fixed, c.pattern)
		}
	}
}

func TestEnters(t *testing.T) {
	for _, c := range []struct {
		name, below, pattern, folder string
		want                         bool
	}{
		{"files of the root", "", "*.csv", "a", false},
		{"any folder", "", "**/*.csv", "a/b/c", true},
		{"a level", "", "*/x.csv", "a", true},
		{"below the last level", "", "*/x.csv", "a/b", false},
		{"name", "", "year=*/*.csv", "year=2024", true},
		{"another name", "", "year=*/*.csv", "month=1", false},
		{"then any", "", "a/**", "a/b/c", true},
		{"on the way", "p/q", "*.csv", "p", true},
		{"the folder itself", "p/q", "*.csv", "p/q", true},
		{"beyond it", "p/q", "*.csv", "p/q/r", false},
		{"elsewhere", "p/q", "**/*.csv", "x", false},
		{"alternatives", "", "{a,b/c}/*.csv", "b", true},
	} {
		g := glob{below: c.below, pattern: c.pattern}
		if got := g.enters(c.folder); got != c.want {
			t.Errorf("%s: %q of %q below %q: %v, want %v", c.name, c.folder, c.pattern, c.below, got, c.want)
		}
	}
}
