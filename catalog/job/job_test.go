package job

import (
	"errors"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

var formats = readers.Registry{
	{Name: "rows", Options: []readers.Option{{Name: "header", Default: "yes", Values: []string{"yes", "no"}}}},
	{Name: "points"},
}

var entry = tree.Entry{Name: "a.rows", Format: "rows", Identity: source.Identity{Size: 10, Inode: 3}}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		name            string
		operator, given map[string]any
		format          string // of the entry
		want, header    string // format and option of the job
		option          string // that the error names
	}{
		{name: "defaults", want: "rows", header: "yes"},
		{name: "a client's option", given: map[string]any{"header": "no"}, want: "rows", header: "no"},
		{name: "the operator's option", operator: map[string]any{"header": "no"}, want: "rows", header: "no"},
		{
			name: "a client overrides the operator", operator: map[string]any{"header": "no"},
			given: map[string]any{"header": "yes"}, want: "rows", header: "yes",
		},
		{name: "another format", given: map[string]any{"format": "points"}, want: "points"},
		{
			name: "an option of another format", operator: map[string]any{"format": "points"},
			given: map[string]any{"header": "no"}, option: "header",
		},
		{name: "no such option", given: map[string]any{"color": "red"}, option: "color"},
		{name: "no such value", operator: map[string]any{"header": "maybe"}, option: "header"},
		{name: "no such format", given: map[string]any{"format": "circles"}, option: "format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			operator := func(name string) map[string]any {
				if name != "a.rows" {
					t.Errorf("the operator's options of %q were read", name)
				}
				return tt.operator
			}
			j, err := New(formats, operator, entry, tt.given)
			var wrong *readers.OptionError
			if errors.As(err, &wrong) && wrong.Option == tt.option && tt.option != "" {
				return
			}
			if err != nil || tt.option != "" {
				t.Fatalf("got error %v, want option %q", err, tt.option)
			}
			if j.Format.Name != tt.want || j.Entry.Format != tt.want || j.Key.Format != tt.want ||
				j.Options.Get("header") != tt.header {
				t.Errorf("got %+v", j)
			}
		})
	}
	if _, err := New(formats, nil, tree.Entry{Name: "a", Format: "none"}, nil); err == nil {
		t.Error("an entry of an unknown format gives no error")
	}
}

// TestKey compares the keys and versions of jobs with those of the job for all of a file.
func TestKey(t *testing.T) {
	newJob := func(e tree.Entry, given map[string]any) Job {
		t.Helper()
		j, err := New(formats, nil, e, given)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	base := newJob(entry, nil)
	changed, renamed, layer := entry, entry, entry
	changed.Identity.Size++
	renamed.Name = "b.rows"
	layer.Name, layer.Layer = "a.rows#roads", "roads"
	for _, tt := range []struct {
		name                 string
		job                  Job
		sameKey, sameVersion bool
	}{
		{"the same", newJob(entry, nil), true, true},
		{"a default, given", newJob(entry, map[string]any{"header": "yes"}), true, true},
		{"another option", newJob(entry, map[string]any{"header": "no"}), false, false},
		{"a changed file", newJob(changed, nil), false, false},
		{"another name", newJob(renamed, nil), false, true},
		{"a layer by its entry", newJob(layer, nil), false, true},
		{"a layer", base.OfLayer("roads"), false, true},
		{"no layer", base.OfLayer("roads").OfLayer(""), true, true},
		{"all columns", base.OfColumns(readers.Project(nil)), true, true},
		{"a column", base.OfColumns(readers.Project([]string{"n"})), false, true},
	} {
		if got := tt.job.Key == base.Key; got != tt.sameKey {
			t.Errorf("%s: key %+v, of the file %+v", tt.name, tt.job.Key, base.Key)
		}
		if got := tt.job.Version == base.Version; got != tt.sameVersion {
			t.Errorf("%s: version %s, of the file %s", tt.name, tt.job.Version, base.Version)
		}
		if got := tt.job.Key.WholeTable().Columns; got != base.Key.Columns {
			t.Errorf("%s: the whole table has columns %q", tt.name, got)
		}
	}
	if a, b := newJob(layer, nil), base.OfLayer("roads"); a.Key != b.Key {
		t.Errorf("a layer by its entry has key %+v, by OfLayer %+v", a.Key, b.Key)
	}
	if base.OfLayer("roads").Key.Options == base.Key.Options {
		t.Error("a layer has the options of the file: a record would be that of another table")
	}
	column := base.OfColumns(readers.Project([]string{"n"}))
	if roads := column.OfLayer("roads"); roads.Key.Columns != column.Key.Columns || roads.Key == column.Key {
		t.Errorf("a column of a layer has key %+v", roads.Key)
	}
	if column.Key.WholeTable() != base.Key {
		t.Errorf("the table of a column has key %+v, want %+v", column.Key.WholeTable(), base.Key)
	}
}

func TestLayerOptions(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, options := range [][32]byte{{}, {1}} {
		for _, layer := range []string{"", "a", "b", "ab"} {
			name := string(options[:1]) + "/" + layer
			sum := LayerOptions(options, layer)
			if other, ok := seen[sum]; ok {
				t.Errorf("%q and %q have one digest", name, other)
			}
			if seen[sum] = name; layer == "" && sum != options {
				t.Errorf("without a layer the digest is %x, want %x", sum, options)
			}
		}
	}
}
