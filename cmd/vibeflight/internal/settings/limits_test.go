package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
)

func TestLimitsOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []admission.Rule
		err        string
	}{
		{name: "none", text: `memory = "8GiB"`},
		{
			name: "all keys",
			text: `[[limits]]
group = "batch"
calls = 4
queries = 2
parses = 1
bytes-per-second = "50MB"
result-rows = 1000000
query-timeout = "5m"
[[limits]]
user = "ann"
calls = 64`,
			want: []admission.Rule{
				{Group: "batch", Limits: admission.Limits{
					Calls: 4, Queries: 2, Parses: 1, BytesPerSecond: 50_000_000, ResultRows: 1_000_000,
					QueryTime: 5 * time.Minute,
				}},
				{User: "ann", Limits: admission.Limits{Calls: 64}},
			},
		},
		{name: "no user", text: "[[limits]]\ncalls = 4", err: "number 1: want one of user and group"},
		{name: "both", text: "[[limits]]\nuser = \"a\"\ngroup = \"b\"\ncalls = 4", err: "want one of user and group"},
		{name: "no limit", text: "[[limits]]\nuser = \"a\"", err: "no limit greater than 0"},
		{name: "negative", text: "[[limits]]\nuser = \"a\"\ncalls = -1", err: "less than 0"},
		{name: "no number", text: "[[limits]]\nuser = \"a\"\ncalls = \"many\"", err: "calls: "},
		{name: "no duration", text: "[[limits]]\nuser = \"a\"\nquery-timeout = 5", err: "query-timeout: "},
		{name: "unknown key", text: "[[limits]]\nuser = \"a\"\nstreams = 5", err: "streams: want user or group"},
		{name: "no table", text: "limits = 5", err: "[[limits]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "vibeflight.toml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := LimitsOf(file)
			if c.err == "" && (err != nil || !slices.Equal(got, c.want)) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want an error with %q", err, c.err)
			}
		})
	}
}
