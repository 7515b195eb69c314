package lint

import (
	"fmt"
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

// words that a comment or a page does without, and what to write instead.
var words = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?i)\bsettle[sd]?\b`):  "resolve, commit, join, wait, finalize",
	regexp.MustCompile(`(?i)\bwhoever\b`):      "a caller, a client, a worker",
	regexp.MustCompile(`(?i)\bbeside\b`):       "next to, in addition to",
	regexp.MustCompile(`(?i)\bcards?\b`):       "device, or GPU for users",
	regexp.MustCompile(`(?i)\bis none of\b`):   "is not a",
	regexp.MustCompile(`(?i)\bso many\b`):      "n, the given number",
	regexp.MustCompile(`(?i)\bare none of\b`):  "are not",
	regexp.MustCompile(`(?i)\bnobody asked\b`): "is not requested",
}

// phrases are words that folders in pending still have.
var phrases = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?i)\bthat (?:is|are) none\b`): "invalid, that is not a",
	regexp.MustCompile(`(?i)\bat hand\b`):              "current",
	regexp.MustCompile(`(?i)\bone behind the other\b`): "one after the other, in order",
	regexp.MustCompile(`(?i)\bbehind the back\b`):      "in the background",
	regexp.MustCompile(`(?i)\bnobody asks\b`):          "is not requested",
}

// pending are folders whose comments are still to be rewritten.
var pending = []string{"kernels/", "gpu/", "readers/source/", "catalog/tree/", "clients/python/"}

// keptPages are folders of pages that keep the words of their time, and those of formats.
var keptPages = []string{"docs/adr/", "docs/changes/", "docs/notebook/", "docs/formats/"}

// isIn reports whether a file is in one of some folders.
func isIn(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(path, folder) })
}

// plain reports the words of a text that have a plainer one. place is the position of the text.
func plain(t *testing.T, lists []map[*regexp.Regexp]string, place, text string) {
	t.Helper()
	for _, list := range lists {
		for pattern, instead := range list {
			if at := pattern.FindString(text); at != "" {
				t.Errorf("%s: %q: write %s", place, at, instead)
			}
		}
	}
}

// allWords are the lists for files outside of pending.
var allWords = []map[*regexp.Regexp]string{words, phrases}

func TestCommentsUsePlainWords(t *testing.T) {
	for _, f := range goFiles(t) {
		lists := allWords
		if isIn(pending, f.path) {
			lists = allWords[:1]
		}
		for _, group := range f.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ") // words may be on two lines
			plain(t, lists, f.set.Position(group.Pos()).String(), text)
		}
	}
	for _, path := range files(t, ".cu", ".cuh") {
		lists := allWords
		if isIn(pending, path) {
			lists = allWords[:1]
		}
		lines(t, path, func(n int, text string) {
			for _, comment := range cudaComment.FindAllString(text, -1) {
				plain(t, lists, fmt.Sprintf("%s:%d", path, n), comment)
			}
		})
	}
}

// TestScriptsUsePlainWords reads whole lines: names and messages of a script count too.
func TestScriptsUsePlainWords(t *testing.T) {
	for _, path := range append(files(t, ".py"), "Makefile", "Dockerfile", "docker-compose.yml") {
		if !isIn(pending, path) {
			lines(t, path, func(n int, text string) { plain(t, allWords, fmt.Sprintf("%s:%d", path, n), text) })
		}
	}
}

func TestPagesUsePlainWords(t *testing.T) {
	for _, path := range files(t, ".md") {
		if !isIn(keptPages, path) && !isIn(pending, path) {
			lines(t, path, func(n int, text string) { plain(t, allWords, fmt.Sprintf("%s:%d", path, n), text) })
		}
	}
}

// endsWithNoun reports whether a name ends with one of nouns.
func endsWithNoun(name string) bool {
	return slices.ContainsFunc(nouns, func(n string) bool { return strings.HasSuffix(name, n) })
}
