package grants

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// userPattern matches names of users or groups. It is a glob, in which * is any text and ? one
// character, or a regular expression between slashes, which matches whole names: "/svc-[0-9]+/".
type userPattern struct{ *regexp.Regexp }

// anyUser is the pattern of a rule without one.
var anyUser = userPattern{}

func (p userPattern) matches(name string) bool { return p.Regexp == nil || p.MatchString(name) }

func newUserPattern(v any) (userPattern, error) {
	text, err := nonEmpty(v)
	if err != nil {
		return userPattern{}, err
	}
	expression := ""
	if n := len(text); n > 2 && text[0] == '/' && text[n-1] == '/' {
		expression = text[1 : n-1]
	} else {
		expression = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
	}
	compiled, err := regexp.Compile(`(?s)^(?:` + expression + `)$`)
	if err != nil {
		return userPattern{}, fmt.Errorf("%q is not a regular expression: %w", text, err)
	}
	return userPattern{compiled}, nil
}

// namePattern matches names of entries: a glob in which * and ? stop at "/", and ** does not.
type namePattern struct {
	text   string
	kind   patternKind
	prefix string // of subtree
	file   string // the part that precedes '#'; "": the pattern has no '#'
}

type patternKind uint8

// The kinds of patterns, by how names are compared.
const (
	every   patternKind = iota // **
	literal                    // no wildcard
	subtree                    // folder/**
	glob
)

// everyName is the pattern of a rule without one. Like "**", it matches the server too.
var everyName = namePattern{text: "**"}

func newNamePattern(v any) (namePattern, error) {
	text, ok := v.(string)
	if !ok {
		return namePattern{}, errors.New("want a text")
	}
	if !doublestar.ValidatePattern(text) {
		return namePattern{}, fmt.Errorf("%q is not a pattern of names, as roads/**/*.geojson", text)
	}
	p := namePattern{text: text, kind: glob}
	p.file, _, _ = strings.Cut(text, "#")
	if p.file == text {
		p.file = ""
	}
	folder, isSubtree := strings.CutSuffix(text, "/**")
	switch wild := `*?[{\`; {
	case text == "**":
		p.kind = every
	case !strings.ContainsAny(text, wild):
		p.kind = literal
	case isSubtree && !strings.ContainsAny(folder, wild):
		p.kind, p.prefix = subtree, folder+"/"
	}
	return p, nil
}

// matches reports whether the pattern matches the name of an entry, or that of its file. Only "" and
// "**" match the server.
func (p *namePattern) matches(name string) bool {
	if p.kind == every || name == access.Server {
		return p.kind == every || p.text == access.Server
	}
	if p.matchesName(name) {
		return true
	}
	file, _, layered := strings.Cut(name, "#")
	return layered && p.matchesName(file)
}

func (p *namePattern) matchesName(name string) bool {
	switch p.kind {
	case literal:
		return p.text == name
	case subtree:
		return strings.HasPrefix(name, p.prefix)
	}
	return doublestar.MatchUnvalidated(p.text, name)
}

// mayMatchLayer reports whether the pattern names layers of a file.
func (p *namePattern) mayMatchLayer(file string) bool {
	return p.file != "" && doublestar.MatchUnvalidated(p.file, file)
}
