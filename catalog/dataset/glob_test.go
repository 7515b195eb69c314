package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/tree"
)

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

func TestResolveURL(t *testing.T) {
	served := tree.Root{Alias: "west", URL: "s3://bucket/a/?region=x"}
	for _, c := range []struct {
		name  string
		files []string // of one dataset each
		roots []string // URLs of the roots that are added
		label string   // of key "k" below the last pattern's folder
		err   string
	}{
		{"new root", []string{"s3://other/p/*.csv?region=y"}, []string{"s3://other/p/?region=y"}, "s3://other/p/k", ""},
		{"root of --data", []string{"s3://bucket/a/b/*.csv"}, nil, "s3://bucket/a/b/k", ""},
		{"its options", []string{"s3://bucket/a/*.csv?region=x"}, nil, "s3://bucket/a/k", ""},
		{
			"other options",
			[]string{"s3://bucket/a/*.csv?region=y"},
			[]string{"s3://bucket/a/?region=y"},
			"s3://bucket/a/k", "",
		},
		{"shared", []string{"gs://b/p/*.csv", "gs://b/p/q/*.kml"}, []string{"gs://b/p/"}, "gs://b/p/q/k", ""},
		{
			"two options",
			[]string{"gs://b/p/*.csv?anonymous=true", "gs://b/p/*.csv?endpoint=e"},
			nil, "", "other options",
		},
		{"password", []string{"https://me:pw@host/f/*.csv"}, []string{"https://me:pw@host/f/"}, "https://host/f/k", ""},
		{
			"one file twice",
			[]string{"https://host/f/a.csv", "https://host/f/a.csv"},
			[]string{"https://host/f/a.csv"},
			"https://host/f/k", "",
		},
		{"not a pattern", []string{"s3://b/[.csv"}, nil, "", "pattern"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var specs []Spec
			for i, f := range c.files {
				specs = append(specs, Spec{Name: fmt.Sprint("d", i), Files: []string{f}})
			}
			r, err := Resolve(specs, []tree.Root{served})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "pw") {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var added []string
			for _, root := range r.Roots[1:] {
				added = append(added, root.URL)
			}
			last := r.globs[len(r.globs)-1][0]
			if !slices.Equal(added, c.roots) || last.written+"/k" != c.label {
				t.Errorf("roots %q, label %q, want %q, %q", added, last.written+"/k", c.roots, c.label)
			}
		})
	}
}
