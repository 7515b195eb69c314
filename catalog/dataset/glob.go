package dataset

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// glob is a pattern of files below a root. "*" and "?" stop at "/", "**" does not.
type glob struct {
	written string    // folder in front of the first wildcard, as it was written
	root    tree.Root // whose files it matches
	below   string    // the same folder, below the root; "": the root itself
	pattern string    // of paths below that folder
}

// isOf reports whether the pattern is of files below a root.
func (g *glob) isOf(root tree.Root) bool {
	return root.Alias == g.root.Alias && root.Dir == g.root.Dir && root.URL == g.root.URL &&
		root.Unlisted == g.root.Unlisted && !isPart(root)
}

// isPart reports whether a root has one file, or no list: patterns do not match its files.
func isPart(root tree.Root) bool { return root.Only != "" || root.NamedOnly }

// enters reports whether a folder below the pattern's root may have files that match, or folders
// with such files.
func (g *glob) enters(rel string) bool {
	if g.below != "" {
		if rel == g.below || strings.HasPrefix(g.below, rel+"/") {
			return true
		}
		rest, ok := strings.CutPrefix(rel, g.below+"/")
		if !ok {
			return false
		}
		rel = rest
	}
	if strings.ContainsAny(g.pattern, "{\\") { // one part of the pattern may match several folders
		return true
	}
	parts := strings.Split(g.pattern, "/")
	for i, folder := range strings.Split(rel, "/") {
		if i >= len(parts)-1 {
			return parts[len(parts)-1] == "**"
		}
		if parts[i] == "**" {
			return true
		}
		if ok, err := doublestar.Match(parts[i], folder); !ok || err != nil {
			return false
		}
	}
	return true
}

// label returns the path of an entry as the pattern writes it, if the pattern matches it.
func (g *glob) label(e *tree.Entry) (string, bool) {
	if !g.isOf(e.Root()) {
		return "", false
	}
	rel := e.Rel()
	if g.below != "" {
		rest, ok := strings.CutPrefix(rel, g.below+"/")
		if !ok {
			return "", false
		}
		rel = rest
	}
	if ok, err := doublestar.Match(g.pattern, rel); !ok || err != nil {
		return "", false
	}
	if remote.IsURL(g.written) {
		return g.written + "/" + rel, true
	}
	return path.Join(g.written, rel), true
}

// labelOf returns the path of an entry as the first pattern that matches it writes it.
func labelOf(globs []glob, e *tree.Entry) (string, bool) {
	for i := range globs {
		if label, ok := globs[i].label(e); ok {
			return label, true
		}
	}
	return "", false
}

// Resolution is the result of Resolve.
type Resolution struct {
	// Roots are the given ones, and those that only datasets read.
	Roots    []tree.Root
	Datasets []tree.Dataset

	specs []Spec
	globs [][]glob // of each
}

// Resolve checks the specifications and finds the root of each pattern: one of the given roots if
// it has the files, else a new one that is not listed.
func Resolve(specs []Spec, roots []tree.Root) (*Resolution, error) {
	r := &Resolution{Roots: roots}
	names := map[string]bool{}
	for _, spec := range specs {
		if err := checkName(spec.Name); err != nil {
			return nil, fmt.Errorf("dataset %q: %w", spec.Name, err)
		}
		if names[spec.Name] {
			return nil, fmt.Errorf("dataset %q is configured twice", spec.Name)
		}
		names[spec.Name] = true
		if len(spec.Files) == 0 {
			return nil, fmt.Errorf("dataset %q: say which files it has", spec.Name)
		}
		var globs []glob
		for _, text := range spec.Files {
			g, err := r.resolve(text)
			if err != nil {
				return nil, fmt.Errorf("dataset %q: %q: %w", spec.Name, text, err)
			}
			globs = append(globs, g)
		}
		r.specs, r.globs = append(r.specs, spec), append(r.globs, globs)
		r.Datasets = append(r.Datasets, tree.Dataset{
			Name: spec.Name,
			Match: func(e *tree.Entry) bool {
				_, ok := labelOf(globs, e)
				return ok
			},
			Enter: func(root tree.Root, rel string) bool {
				return slices.ContainsFunc(globs, func(g glob) bool { return g.isOf(root) && g.enters(rel) })
			},
		})
	}
	return r, nil
}

// checkName returns an error for a name that an entry of a dataset cannot have.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' {
			return errors.New("a name has no empty part, and no part that begins with '.'")
		}
	}
	if strings.ContainsAny(name, "#%*?[]{}\\\x00") {
		return errors.New("a name has none of # % * ? [ ] { } \\")
	}
	return nil
}

// resolveURL is resolve for files of a store. What follows a '?' are the options of the URL.
func (r *Resolution) resolveURL(text string) (glob, error) {
	address, options, _ := strings.Cut(text, "?")
	if !doublestar.ValidatePattern(address) {
		return glob{}, errors.New("it is not a pattern of file names, as s3://bucket/roads/**/*.geojson")
	}
	fixed, pattern := Split(address)
	folder := fixed + "/"
	if strings.HasPrefix(text, "http") && !strings.ContainsAny(pattern, "*?[{") {
		folder = address // one file: its server need not list the others
	}
	if options != "" {
		folder += "?" + options
	}
	// Without user and password: it becomes part of names.
	written := strings.TrimSuffix(remote.Address(fixed+"/"), "/")
	for _, root := range r.Roots {
		if root.URL == "" || isPart(root) {
			continue
		}
		below, ok := inside(strings.TrimSuffix(remote.Address(root.URL), "/"), written)
		switch {
		case root.URL == folder, ok && (options == "" || options == optionsOf(root.URL)):
			return glob{written: written, root: root, below: below, pattern: pattern}, nil
		case root.Unlisted && remote.Address(root.URL) == remote.Address(folder):
			return glob{}, errors.New("another pattern reads the same folder with other options")
		}
	}
	root := tree.UnlistedRoot(folder)
	r.Roots = append(r.Roots, root)
	return glob{written: written, root: root, pattern: pattern}, nil
}

// optionsOf returns what follows the '?' of a URL.
func optionsOf(url string) string {
	_, options, _ := strings.Cut(url, "?")
	return options
}

// resolve finds the root of a pattern.
func (r *Resolution) resolve(text string) (glob, error) {
	if remote.IsURL(text) {
		return r.resolveURL(text)
	}
	if !doublestar.ValidatePattern(text) {
		return glob{}, errors.New("it is not a pattern of file names, as roads/**/*.geojson")
	}
	fixed, pattern := Split(text)
	alias, rest, _ := strings.Cut(fixed, "/")
	for _, root := range r.Roots {
		if root.Alias == alias && alias != "" && !root.Unlisted && !isPart(root) {
			return glob{written: fixed, root: root, below: rest, pattern: pattern}, nil
		}
	}
	dir, err := filepath.Abs(fixed)
	if err != nil {
		return glob{}, err
	}
	for _, root := range r.Roots {
		if below, ok := inside(root.Dir, dir); ok && root.URL == "" && !isPart(root) {
			return glob{written: fixed, root: root, below: below, pattern: pattern}, nil
		}
	}
	root := tree.UnlistedRoot(dir)
	r.Roots = append(r.Roots, root)
	return glob{written: fixed, root: root, pattern: pattern}, nil
}

// inside returns the path of a folder below another one.
func inside(root, dir string) (below string, ok bool) {
	if dir == root {
		return "", true
	}
	return strings.CutPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}

// Split returns the folder in front of the first part with a wildcard, "." if there is none, and
// the pattern of what follows it. The last part is always of the pattern.
//
//	data/roads/**/*.geojson    data/roads    **/*.geojson
//	s3://bucket/a/year=*/b     s3://bucket/a    year=*/b
func Split(text string) (fixed, pattern string) {
	at := strings.IndexAny(text, "*?[{\\")
	if at < 0 {
		at = len(text)
	}
	at = strings.LastIndexByte(text[:at], '/')
	switch {
	case at < 0:
		return ".", text
	case at == 0:
		return "/", text[1:]
	}
	return text[:at], text[at+1:]
}
