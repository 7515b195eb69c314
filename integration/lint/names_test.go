package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned are names of types that say nothing to a reader who does not know the history of this
// repository. A type is named by a noun of the field.
var banned = []string{
	"known", "recorded", "recent", "learned", "loaded", "parsed", "flight", "board", "held", "sent", "stored",
	"live", "growing", "beside", "taken", "scale", "derived", "cpu", "narrow", "spare", "polled", "crew", "lane",
	"lead", "lent", "card", "settled", "turns", "asked",
	"kept", "written", "shown", "found", "seen", "told", "given", "lost", "gone", "made", "odd", "room",
	"manager", "helper", "impl", "util", "misc",
}

// participles that are nouns too.
var nouns = []string{
	"seed", "feed", "encoding", "packing", "mapping", "ring", "string", "binding", "setting", "listing",
	"finding", "reading", "nesting", "sibling",
}

var participle = regexp.MustCompile(`^[a-z]+(ed|ing)$`)

func TestTypesHaveNounsForNames(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				name := strings.ToLower(spec.Name.Name)
				if slices.Contains(banned, name) || participle.MatchString(name) && !endsWithNoun(name) {
					t.Errorf("%s: type %s: want a noun of the field", f.set.Position(spec.Pos()), spec.Name.Name)
				}
			}
		}
	}
}

// words that a sentence of a comment does without, and what to write instead.
var words = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?i)\bsettle[sd]?\b`): "resolve, commit, join, wait, finalize",
	regexp.MustCompile(`(?i)\bwhoever\b`):     "a caller, a client, a worker",
	regexp.MustCompile(`(?i)\bbeside\b`):      "next to, in addition to",
	regexp.MustCompile(`(?i)\bcards?\b`):      "device",
	regexp.MustCompile(`(?i)\bis none of\b`):  "is not a",
	regexp.MustCompile(`(?i)\bso many\b`):     "n, the given number",
}

func TestCommentsUsePlainWords(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, group := range f.Comments {
			for _, c := range group.List {
				for pattern, instead := range words {
					if at := pattern.FindString(c.Text); at != "" {
						t.Errorf("%s: %q: write %s", f.set.Position(c.Pos()), at, instead)
					}
				}
			}
		}
	}
}

// endsWithNoun reports whether a name ends with one of nouns.
func endsWithNoun(name string) bool {
	return slices.ContainsFunc(nouns, func(n string) bool { return strings.HasSuffix(name, n) })
}
