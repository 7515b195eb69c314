package tree

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
)

// How a name finds its entry. The first match in this order is used:
//
//	the name of an entry        world/countries.geojson
//	without its extension       world/countries
//	a file's name, anywhere     countries.geojson
//	without its extension       countries
//
// ASCII letters match in any case. A name that equals an entry's means that entry. Otherwise it means
// all that match in one of these ways, and the caller must be more specific if there are several.
//
// A name without extension that begins like one of DuckDB's own views, such as duckdb_tables, finds no
// file: DuckDB reads these to list tables, and names mean the same in SQL and elsewhere.

// Names finds entries by the names that callers use for them. It is immutable. There may be a million
// entries, so that it has hashes of their names in place of maps: about 50 bytes for each entry.
type Names struct {
	names    []string // of entries, sorted
	hashes   [nameKinds][]nameHash
	suffixes []string // what follows the names of files without extension, at most maxSuffixes
}

// nameKind is what of an entry's name a caller may write.
type nameKind int

const (
	wholeName nameKind = iota
	wholeStem
	baseName
	baseStem
	nameKinds // how many there are
)

// of returns what a caller may write of an entry's name.
func (k nameKind) of(name string) string {
	switch k {
	case wholeName:
		return name
	case wholeStem:
		return Stem(name)
	case baseName:
		return base(name)
	}
	return Stem(base(name))
}

// nameHash is the hash of a part of a name, without regard to case.
type nameHash struct{ hash, name uint32 }

// maxSuffixes bounds how often an unknown name is looked up.
const maxSuffixes = 8

// NewNames returns an index of names, which come sorted.
func NewNames(names iter.Seq[string]) *Names {
	n := &Names{names: slices.Collect(names)}
	for _, name := range n.names {
		file, _, _ := strings.Cut(name, "#")
		end := strings.TrimPrefix(file, Stem(file))
		if len(n.suffixes) < maxSuffixes && !slices.Contains(n.suffixes, end) {
			n.suffixes = append(n.suffixes, end)
		}
	}
	for kind := range nameKinds {
		hashes := make([]nameHash, len(n.names))
		for i, name := range n.names {
			hashes[i] = nameHash{hashOf(lower(kind.of(name))), uint32(i)}
		}
		slices.SortFunc(hashes, func(a, b nameHash) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.name, b.name))
		})
		n.hashes[kind] = hashes
	}
	return n
}

// Len returns the number of names.
func (n *Names) Len() int { return len(n.names) }

// Suffixes returns some of the extensions that the names have.
func (n *Names) Suffixes() []string { return n.suffixes }

// Find returns the entries that a name may mean, sorted. anywhere says that the name of a file may
// stand for one in any folder.
func (n *Names) Find(name string, anywhere bool) []string {
	own := IsReserved(base(name))
	for kind := range nameKinds {
		if own && (kind == wholeStem || kind == baseStem) || !anywhere && kind >= baseName {
			continue
		}
		if found := n.named(kind, name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// named returns the entries of which a caller may write a name: those that have it in exactly this
// case, or else in any.
func (n *Names) named(kind nameKind, name string) []string {
	var found, exact []string
	hashes, hash := n.hashes[kind], hashOf(lower(name))
	i, _ := slices.BinarySearchFunc(hashes, hash, func(h nameHash, hash uint32) int {
		return cmp.Compare(h.hash, hash)
	})
	for ; i < len(hashes) && hashes[i].hash == hash; i++ {
		entry := n.names[hashes[i].name]
		switch is := kind.of(entry); {
		case is == name:
			exact = append(exact, entry)
		case lower(is) == lower(name):
			found = append(found, entry)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return found
}

// Stem returns a file's name without its extension and that of its packing: "florida" for
// "florida.geojson.gz". A layer remains: "trips#Stops".
func Stem(name string) string {
	file, layer, layered := strings.Cut(name, "#")
	for _, packed := range []string{".gz", ".zst"} {
		if base, ok := cutSuffixFold(file, packed); ok && path.Ext(base) != "" {
			file = base
			break
		}
	}
	file = strings.TrimSuffix(file, path.Ext(file))
	if layered {
		return file + "#" + layer
	}
	return file
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
}

// base returns an entry's name without its folders.
func base(name string) string {
	file, _, _ := strings.Cut(name, "#")
	return name[strings.LastIndexByte(file, '/')+1:]
}

// IsReserved reports whether a name is like those of DuckDB's views in its main schema.
func IsReserved(name string) bool {
	name = lower(name)
	return strings.HasPrefix(name, "duckdb_") || strings.HasPrefix(name, "sqlite_") ||
		strings.HasPrefix(name, "pragma_")
}

// lower converts ASCII to lower case, as DuckDB does.
func lower(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, name)
}

// maxCandidates is how many entries an AmbiguousError lists.
const maxCandidates = 10

// AmbiguousError is the error of a name that may mean several entries.
type AmbiguousError struct {
	Name       string
	Candidates []string // names of entries, sorted, at most ten
	More       int      // how many there are in addition
}

// NewAmbiguousError returns the error of a name that may mean several entries.
func NewAmbiguousError(name string, found []string) *AmbiguousError {
	found = slices.Sorted(slices.Values(found))
	e := &AmbiguousError{Name: name, Candidates: found}
	if e.More = max(0, len(found)-maxCandidates); e.More > 0 {
		e.Candidates = found[:maxCandidates]
	}
	return e
}

// Error is `"roads" may mean "a/roads.csv" or "b/roads.csv": write the one that is meant`.
func (e *AmbiguousError) Error() string {
	quoted := make([]string, len(e.Candidates))
	for i, name := range e.Candidates {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	text := strings.Join(quoted, " or ")
	if e.More > 0 {
		text += fmt.Sprintf(", or one of %d more", e.More)
	}
	return fmt.Sprintf("%q may mean %s: write the one that is meant, in SQL with its quotes", e.Name, text)
}

// Lists reports whether the tree lists an entry of a name. It examines no file.
func (t *Tree) Lists(name string) bool {
	file, layer, ok := SplitName(name)
	if !ok {
		return false
	}
	e, ok := t.index.Load().find(file)
	if !ok || e.mount != nil && e.mount.Unlisted {
		return false
	}
	_, ok = t.ofLayer(e, layer)
	return ok
}
