package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/readers/all"
)

// configurationPage is the page whose first block of TOML must be a valid configuration.
const configurationPage = "../../docs/reference/configuration.md"

func configFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The command line goes before the environment, that before the file, and that before the default.
func TestConfigGoesLast(t *testing.T) {
	path := configFile(t, `
data = ["a", "w=b"]
listen = "unix:///x.sock"
memory = "2GiB"
max-depth = 7
drain = "3s"
no-sql = true
on-error = "skip"
workers = 3
`)
	var c server.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Add(f, c.Define)
	if err := f.Parse([]string{"--max-depth", "9"}); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{
		"VIBEFLIGHT_MAX_DEPTH": "8", "VIBEFLIGHT_WORKERS": "5",
		"VIBEFLIGHT_LISTEN": "unix:///y.sock",
	}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	if err := settings.FromEnvironment(f, lookup); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.FromFile(f, path, all.Formats()); err != nil {
		t.Fatal(err)
	}
	got := []any{
		c.Data, c.Listen, c.Memory, c.Parse.Depth, c.Parse.Workers, c.Drain.String(), c.NoSQL,
		c.OnError, c.BatchRows,
	}
	want := []any{
		[]string{"a", "w=b"},
		[]string{"unix:///y.sock"},
		units.Size(2 << 30), 9, 5, "3s", true,
		"skip", 65536,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Every setting of serve has a name that a file can say.
func TestEverySettingIsInAFile(t *testing.T) {
	var c server.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Add(f, c.Define)
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "config" {
			return
		}
		value := any(flag.DefValue)
		if flag.Value.Type() == "stringArray" {
			value = []any{"x"}
		}
		if err := settings.Set(f, flag.Name, value); err != nil {
			t.Errorf("%s = %v: %v", flag.Name, value, err)
		}
	})
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"syntax", "data = [\n\"a\"\nx", "c.toml: line 3: "},
		{"unknown", `memry = "2GiB"`, "memry: serve has no such setting"},
		{"of another command", `output = "x"`, "output: serve has no such setting"},
		{"a file in a file", `config = "x"`, "config: serve has no such setting"},
		{"value", `memory = "lots"`, `memory: "lots" is no size`},
		{"list", `memory = ["1GiB"]`, "memory: want a text, a number or a boolean, got a list"},
		{"table", "[memory]\na = 1", "memory: want a text, a number or a boolean, got a table"},
		{"date", "drain = 2020-01-01", "drain: want a text, a number or a boolean, got a date"},
		{"list of lists", `data = [["a"]]`, "data: want a text, a number or a boolean, got a list"},
		{"files", `files = "x"`, "files: want tables, each after a line [[files]]"},
		{"no pattern", "[[files]]\noptions = {}", `files, number 1: match: "" is no pattern`},
		{"pattern", "[[files]]\nmatch = \"a[\"", `files, number 1: match: "a[" is no pattern of file names`},
		{
			"key", "[[files]]\nmatch = \"a\"\n[[files]]\nmatches = \"b\"",
			"files, number 2: matches: want match and options",
		},
		{
			"options", "[[files]]\nmatch = \"a\"\noptions = 7",
			"files, number 1: options: want a pattern as text, and options as a table",
		},
		{
			"no option", "[[files]]\nmatch = \"a\"\noptions = {delimeter = \";\"}",
			"options.delimeter: no format has such an option",
		},
		{
			"value of an option", "[[files]]\nmatch = \"a\"\noptions = {on_error = \"ignore\"}",
			`options.on_error: "ignore" is none of fail, skip`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c server.Config
			f := pflag.NewFlagSet("", pflag.ContinueOnError)
			settings.Add(f, c.Define)
			_, err := settings.FromFile(f, configFile(t, tt.text), all.Formats())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
			}
		})
	}
}

func TestOptionsOfFiles(t *testing.T) {
	var c server.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Add(f, c.Define)
	file, err := settings.FromFile(f, configFile(t, `
[[files]]
match = "*.csv"
options = { delimiter = ";", header = true }
[[files]]
match = "west/**/*.csv"
options = { delimiter = "|", on_error = "skip" }
`), all.Formats())
	if err != nil {
		t.Fatal(err)
	}
	options := settings.OptionsOf(file.Files, map[string]any{"on_error": "fail"})
	for name, want := range map[string]map[string]any{
		"a.geojson":     {"on_error": "fail"},
		"a.csv":         {"on_error": "fail", "delimiter": ";", "header": "true"},
		"b/c/a.csv":     {"on_error": "fail", "delimiter": ";", "header": "true"},
		"west/a.csv":    {"on_error": "skip", "delimiter": "|", "header": "true"},
		"west/b/c.csv":  {"on_error": "skip", "delimiter": "|", "header": "true"},
		"west/b/c.csvx": {"on_error": "fail"},
	} {
		if got := options(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// The page's own file is one.
func TestConfigurationPage(t *testing.T) {
	page, err := os.ReadFile(configurationPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("%s has no block of TOML", configurationPage)
	}
	var c server.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Add(f, c.Define)
	file, err := settings.FromFile(f, configFile(t, text), all.Formats())
	if err != nil || len(file.Files) != 2 || c.Memory != 8<<30 || c.CacheBytes != 200e9 {
		t.Errorf("got %v, %v, %v, %v", file.Files, c.Memory, c.CacheBytes, err)
	}
}
