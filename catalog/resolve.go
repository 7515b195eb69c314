package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/tree"
)

// Callers write names in several ways: that of an entry, without its extension, or without its folder.
// Resolve finds the entry that is meant; all other methods take the names of entries.

// Resolve returns the name of the entry that a name means, among those that the caller may describe.
// Entries on which the caller has the privilege p have precedence.
//
// If a folder is given, "" being the root, the name is one in it, and means no file elsewhere.
//
// Errors: *tree.AmbiguousError, *NotFoundError with the closest names, and those of Lookup.
func (c *Catalog) Resolve(ctx context.Context, p access.Privilege, name string, folder ...string) (string, error) {
	if len(folder) == 0 {
		return c.resolve(ctx, p, name, true)
	}
	if folder[0] != "" {
		name = folder[0] + "/" + name
	}
	return c.resolve(ctx, p, name, false)
}

func (c *Catalog) resolve(ctx context.Context, p access.Privilege, name string, anywhere bool) (string, error) {
	if c.tree.Lists(name) && c.Scope(ctx).Allows(access.Describe, name) {
		return name, nil
	}
	_, missing := c.Lookup(ctx, name) // it also finds a file that was added just now
	if missing == nil {
		return name, nil
	}
	found := c.names(ctx, p).Find(name, anywhere)
	if len(found) == 0 && p != access.Describe {
		found = c.names(ctx, access.Describe).Find(name, anywhere)
	}
	switch len(found) {
	case 0:
		return c.resolveLayer(ctx, p, name, anywhere, missing)
	case 1:
		return found[0], nil
	}
	return "", tree.NewAmbiguousError(name, found)
}

// resolveLayer resolves the name of a layer that is not listed: its file may not have been parsed yet.
// missing is the error for the name.
func (c *Catalog) resolveLayer(ctx context.Context, p access.Privilege, name string, anywhere bool, missing error,
) (string, error) {
	if file, layer, ok := strings.Cut(name, "#"); ok && file != "" {
		if file, err := c.resolve(ctx, p, file, anywhere); err == nil {
			if full := file + "#" + layer; full != name {
				_, missing = c.Lookup(ctx, full)
				if missing == nil {
					return full, nil
				}
			}
		}
	}
	return "", c.withClosest(ctx, name, missing)
}

// maxClosest is how many entries the error for an unknown name lists.
const maxClosest = 3

// withClosest adds to the error for an unknown name the entries that are close to it with an
// extension.
func (c *Catalog) withClosest(ctx context.Context, name string, err error) error {
	var none *NotFoundError
	if !errors.As(err, &none) || len(none.Closest) > 0 {
		return err
	}
	for _, end := range c.names(ctx, access.Describe).Suffixes() {
		var also *NotFoundError
		if !errors.As(c.notFound(ctx, name+end), &also) {
			continue
		}
		for _, name := range also.Closest {
			if len(none.Closest) < maxClosest && !slices.Contains(none.Closest, name) {
				none.Closest = append(none.Closest, name)
			}
		}
	}
	return none
}

// nameIndexes are the indexes of names by the caller's scope and the privilege.
type nameIndexes struct {
	mu      sync.Mutex
	changes uint64 // of the catalog, when the indexes were made
	kept    map[string]*tree.Names
}

// maxIndexed is how many names the indexes that are kept have together, unless there is only one.
const maxIndexed = 1 << 21

// names returns the index of the current entries on which the caller has a privilege.
func (c *Catalog) names(ctx context.Context, p access.Privilege) *tree.Names {
	_, changes := c.Count()
	scope := c.Scope(ctx)
	key := scope.Key()
	if scope != access.All {
		key += " " + p.String()
	}
	if n := c.indexes.find(key, changes); n != nil {
		return n
	}
	n := tree.NewNames(func(yield func(string) bool) {
		file := ""
		for e := range c.Entries(ctx, "", "") {
			// the name of a file stands for its first layer
			if of := e.File(); of != e.Name && of != file && scope.Allows(access.Describe, of) && scope.Allows(p, of) {
				if file = of; !yield(of) {
					return
				}
			}
			if scope.Allows(p, e.Name) && !yield(e.Name) {
				return
			}
		}
	})
	c.indexes.keep(key, changes, n)
	return n
}

// find returns an index of the current entries, or nil.
func (x *nameIndexes) find(key string, changes uint64) *tree.Names {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changes != changes {
		return nil
	}
	return x.kept[key]
}

// keep keeps an index, and removes those of former entries.
func (x *nameIndexes) keep(key string, changes uint64, n *tree.Names) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changes > changes { // another caller has newer ones
		return
	}
	names := n.Len()
	for _, other := range x.kept {
		names += other.Len()
	}
	if x.kept == nil || x.changes != changes || names > maxIndexed {
		x.kept = map[string]*tree.Names{}
	}
	x.changes = changes
	x.kept[key] = n
}
