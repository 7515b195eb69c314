package grants

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// mustParse returns the policy of a text.
func mustParse(t *testing.T, text string) *policy {
	t.Helper()
	p, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const example = `
[[rules]]
user = "root"
privileges = ["describe", "read", "sql", "write", "admin"]

[[rules]]
name = "secret/**"
privileges = []

[[rules]]
user = "/svc-[0-9]+/"
name = "drop/*.arrow"
privileges = ["write"]

[[rules]]
group = "survey*"
name = "parcels/**"
privileges = ["sql"]
columns = [{ name = "tax", allow = false }, { name = "owner", mask = "'***'" }]
filter = "county = 'Wake'"

[[rules]]
name = "trips.kml#Stops"
privileges = ["describe"]

[[rules]]
name = "**/*.kml"
privileges = ["read"]

[[rules]]
name = "a?.csv"
privileges = ["describe"]
`

func TestFirstMatchDecides(t *testing.T) {
	p := mustParse(t, example)
	const all = "describe read sql write admin"
	for _, c := range []struct {
		name, user string
		groups     string
		entry      string
		want       string
	}{
		{"every privilege", "root", "", "secret/a.csv", all},
		{"the server", "root", "", access.Server, all},
		{"no rule for the server", "ann", "", access.Server, ""},
		{"a rule that grants none", "ann", "", "secret/x/a.kml", ""},
		{"a regular expression", "svc-12", "", "drop/x.arrow", "write"},
		{"a regular expression matches whole names", "svc-12x", "", "drop/x.arrow", ""},
		{"* stops at a folder", "svc-12", "", "drop/x/y.arrow", ""},
		{"sql brings describe", "ann", "surveyors", "parcels/2024/w.csv", "describe sql"},
		{"one of several groups", "ann", "a surveyors", "parcels/w.csv", "describe sql"},
		{"no group", "ann", "", "parcels/w.csv", ""},
		{"a layer by the file's name", "ann", "", "tours.kml#Stops", "describe read"},
		{"a layer by its own name", "ann", "", "trips.kml#Stops", "describe"},
		{"the other layer", "ann", "", "trips.kml#Tracks", "describe read"},
		{"a file whose layers have a rule", "ann", "", "trips.kml", "describe"},
		{"? is one character", "ann", "", "ab.csv", "describe"},
		{"? is not two", "ann", "", "abc.csv", ""},
		{"case matters", "ann", "", "AB.csv", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := p.scope(&auth.Principal{Name: c.user, Groups: strings.Fields(c.groups)})
			if text := privilegesOn(s, c.entry); text != c.want {
				t.Errorf("%s on %q: %q, want %q", c.user, c.entry, text, c.want)
			}
		})
	}
}

func TestRestriction(t *testing.T) {
	p := mustParse(t, example)
	s := p.scope(&auth.Principal{Name: "ann", Groups: []string{"surveyors"}})
	r := s.Restriction("parcels/w.csv")
	if r == nil || len(r.Hidden) != 1 || r.Hidden[0] != "tax" || r.Masks["owner"] != "'***'" ||
		r.Filter != "county = 'Wake'" {
		t.Errorf("restriction %+v", r)
	}
	if r := s.Restriction("tours.kml"); r != nil {
		t.Errorf("restriction %+v, want none", r)
	}
}

// A file whose name stands for a layer with another restriction has no privilege under that name.
func TestLayersOfOtherRestrictions(t *testing.T) {
	s := mustParse(t, `
[[rules]]
name = "a.kml#S"
privileges = ["read"]
filter = "x > 1"
[[rules]]
name = "a.kml"
privileges = ["read"]`).scope(&auth.Principal{})
	if s.Allows(access.Read, "a.kml") || !s.Allows(access.Read, "a.kml#S") || !s.Allows(access.Read, "a.kml#T") {
		t.Error("a.kml", s.Allows(access.Read, "a.kml"), "S", s.Allows(access.Read, "a.kml#S"))
	}
}

func TestTokensBoundPrivileges(t *testing.T) {
	p := mustParse(t, example)
	for _, c := range []struct {
		name   string
		scopes []string
		want   string
	}{
		{"no bound", nil, "describe read sql write admin"},
		{"none", []string{}, ""},
		{"read", []string{"read"}, "describe read"},
		{"unknown", []string{"everything"}, ""},
	} {
		for _, grants := range []interface {
			Scope(p *auth.Principal) access.Scope
		}{TokenBounds{}, policyGrants{p}} {
			s := grants.Scope(&auth.Principal{Name: "root", Scopes: c.scopes})
			if text := privilegesOn(s, "a.csv"); text != c.want {
				t.Errorf("%T, scopes %q: %q, want %q", grants, c.scopes, text, c.want)
			}
		}
	}
}

type policyGrants struct{ *policy }

func (f policyGrants) Scope(p *auth.Principal) access.Scope { return f.scope(p) }

func TestKeysOfEqualRights(t *testing.T) {
	p := mustParse(t, example)
	key := func(user string, scopes []string, groups ...string) string {
		return p.scope(&auth.Principal{Name: user, Groups: groups, Scopes: scopes}).Key()
	}
	if key("ann", nil) != key("bob", nil, "others") {
		t.Error("equal rights have two keys")
	}
	keys := map[string]bool{
		key("ann", nil): true, key("root", nil): true, key("ann", nil, "surveyors"): true,
		key("ann", []string{"read"}): true, key("svc-1", nil): true,
	}
	if len(keys) != 5 {
		t.Errorf("%d keys of 5 rights", len(keys))
	}
}

func TestInvalidPolicies(t *testing.T) {
	const rule = "[[rules]]\nprivileges = []\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "there is no [[rules]]"},
		{"another key", "rule = 1\n" + rule, `unknown key "rule"`},
		{"no TOML", "[[rules]\n", "line 2: "},
		{"an unknown key", rule + rule + "users = 'a'", "rule 2: users: unknown key"},
		{"no privileges", "[[rules]]\nuser = 'a'", "rule 1: privileges: is missing"},
		{"an unknown privilege", "[[rules]]\nprivileges = ['select']", "rule 1: privileges: unknown privilege select"},
		{"privileges as text", "[[rules]]\nprivileges = 'read'", "rule 1: privileges: want a list"},
		{"a bad glob", rule + "name = 'a[b'", `rule 1: name: "a[b" is not a pattern`},
		{"a bad expression", rule + "user = '/a(/'", `rule 1: user: "/a(/" is not a regular expression`},
		{"an empty user", rule + "user = ''", "rule 1: user: want a text"},
		{"a column without a name", rule + "columns = [{ mask = '1' }]", "columns: column 1: name: want a text"},
		{"a column twice", rule + "columns = [{ name = 'a', allow = false }, { name = 'A', mask = '1' }]", `"A" is there twice`},
		{"both", rule + "columns = [{ name = 'a', allow = false, mask = '1' }]", `column "a": want one of`},
		{"neither", rule + "columns = [{ name = 'a' }]", `column "a": want one of`},
		{"allow = true", rule + "columns = [{ name = 'a', allow = true }]", `column "a": allow: want false`},
		{"an unknown key of a column", rule + "columns = [{ name = 'a', hide = true }]", `unknown key "hide"`},
		{"columns as text", rule + "columns = 'a'", "rule 1: columns: want a list"},
		{"an empty filter", rule + "filter = ' '", "rule 1: filter: want a text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %q", c.text, err, c.want)
			}
		})
	}
}

func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(path, nil, zerolog.Nop()); err == nil {
		t.Fatal("a file that does not exist is no error")
	}
	write("[[rules]]\nprivileges = ['select']\n")
	if _, err := Open(path, nil, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), path+": rule 1: ") {
		t.Fatalf("%v, want the file and the rule", err)
	}
	write("[[rules]]\nprivileges = ['read']\n")
	var log strings.Builder
	f, err := Open(path, nil, zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	ann := &auth.Principal{Name: "ann"}
	within := func(what string, want bool) {
		t.Helper()
		begin := time.Now()
		for f.Scope(ann).Allows(access.Read, "a.csv") != want {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("%s: no effect", what)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	write("[[rules]]\nprivileges = ['describe']\n")
	within("a change", false)
	for _, text := range []string{"", "[[rules]]\nprivileges = ['read'"} {
		write(text)
		if err := f.Reload(); err == nil {
			t.Errorf("%q is no error", text)
		}
		within("an invalid file", false)
	}
	if n := strings.Count(log.String(), "the former ones stay in force"); n != 2 {
		t.Errorf("%d lines of the log say that a file is invalid, want 2: %s", n, log.String())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(); err == nil {
		t.Error("a file that was removed is no error")
	}
	within("a missing file", false)
	write("[[rules]]\nprivileges = ['read']\n")
	within("a file that is there again", true)
	if f.Scope(nil).Allows(access.Describe, "a.csv") {
		t.Error("a caller without a name has privileges")
	}
}

// TestExpressionsAreChecked has a check that refuses "bad". New expressions alone are checked.
func TestExpressionsAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.toml")
	write := func(filter, mask string) {
		t.Helper()
		text := fmt.Sprintf("[[rules]]\nprivileges = ['read']\nfilter = %q\ncolumns = [{ name = 'c', mask = %q }]\n", filter, mask)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var checked []string
	check := func(expression string) error {
		checked = append(checked, expression)
		if expression == "bad" {
			return errors.New("no expression")
		}
		return nil
	}
	for _, c := range []struct{ filter, mask, want string }{
		{"bad", "m", "rule 1: filter: no expression"}, {"f", "bad", `rule 1: columns: column "c": mask: no expression`},
	} {
		write(c.filter, c.mask)
		if _, err := Open(path, check, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), path+": "+c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	write("f", "m")
	f, err := Open(path, check, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	filter := func() string { return f.Scope(&auth.Principal{Name: "ann"}).Restriction("a.csv").Filter }
	checked = nil
	write("longer", "m")
	if err := f.Reload(); err != nil || filter() != "longer" {
		t.Errorf("%v, filter %q", err, filter())
	}
	write("bad", "m")
	if err := f.Reload(); err == nil || filter() != "longer" {
		t.Errorf("%v, filter %q", err, filter())
	}
	if want := []string{"longer", "bad"}; !slices.Equal(checked, want) {
		t.Errorf("checked %q, want %q", checked, want)
	}
}

func BenchmarkScope(b *testing.B) {
	path := filepath.Join(b.TempDir(), "grants.toml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := Open(path, nil, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	ann := &auth.Principal{Name: "ann", Groups: []string{"surveyors", "staff"}}
	for b.Loop() {
		f.Scope(ann).Allows(access.Read, "roads/2024/wake.geojson")
	}
}

// The example of the documentation grants what the page says.
func TestExampleOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/grants.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	p := mustParse(t, text)
	for _, c := range []struct {
		user, group, entry, want string
	}{
		{"eve", "admins", "drafts/a.csv", "describe read sql write admin"},
		{"eve", "admins", access.Server, "describe read sql write admin"},
		{"ann", "surveyors", "drafts/a.csv", ""},
		{"ann", "surveyors", "parcels/wake.parquet", "describe read sql"},
		{"bob", "", "parcels/wake.parquet", ""},
		{"bob", "", "public/a/b.csv", "describe read sql"},
		{"bob", "", access.Server, ""},
		{"sensor-12", "", "sensors/monday.arrow", "write"},
		{"sensor-x", "", "sensors/monday.arrow", ""},
	} {
		s := p.scope(&auth.Principal{Name: c.user, Groups: strings.Fields(c.group)})
		if got := privilegesOn(s, c.entry); got != c.want {
			t.Errorf("%s on %q: %q, want %q", c.user, c.entry, got, c.want)
		}
		if r := s.Restriction(c.entry); (r != nil) != strings.HasPrefix(c.entry, "parcels") && c.want != "" {
			t.Errorf("%s on %q: %+v", c.user, c.entry, r)
		}
	}
}

// privilegesOn returns the names of the privileges that a caller has.
func privilegesOn(s access.Scope, entry string) string {
	var got []string
	for q := access.Describe; q <= access.Admin; q++ {
		if s.Allows(q, entry) {
			got = append(got, q.String())
		}
	}
	return strings.Join(got, " ")
}
