package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/inbox"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
)

// What a caller may not see does not exist for it. All methods of a Catalog that take a name or
// list names check the scope of their context here. A name that the caller may not describe gives
// the error of a name that does not exist, and its closest names are those that the caller may
// describe. *access.DeniedError tells only callers that may describe the entry what they lack.

// Scope returns the rights of a caller: those of the context, or without any, access.None in a
// restricted catalog and access.All in another one.
func (c *Catalog) Scope(ctx context.Context) access.Scope {
	if s := access.Of(ctx); s != nil {
		return s
	}
	if c.cfg.Restricted {
		return access.None
	}
	return access.All
}

// allow returns an error unless the caller has a privilege on an entry: *NotFoundError if it does
// not exist or the caller may not describe it, else *access.DeniedError.
func (c *Catalog) allow(ctx context.Context, p access.Privilege, name string) error {
	s := c.Scope(ctx)
	switch {
	case s.Allows(p, name):
		return nil
	case !s.Allows(access.Describe, name):
		return c.notFound(ctx, name)
	}
	if _, err := c.tree.Lookup(ctx, name); err != nil {
		return c.Known(ctx, name, err)
	}
	return &access.DeniedError{Privilege: p, Name: name}
}

// notFound returns the error for a name that does not exist for the caller.
func (c *Catalog) notFound(ctx context.Context, name string) error {
	s := c.Scope(ctx)
	if s == access.All {
		return c.tree.NotFound(name)
	}
	return c.tree.NotFoundAmong(name, func(name string) bool { return s.Allows(access.Describe, name) })
}

// errHidden replaces the details of an error.
var errHidden = errors.New("it can't be read; the reason is for callers that may read all of it")

// Known returns an error for an entry without what the caller may not know.
func (c *Catalog) Known(ctx context.Context, name string, err error) error {
	s := c.Scope(ctx)
	if err == nil || s == access.All {
		return err
	}
	var (
		notFound *NotFoundError
		parse    *readers.ParseError
		misfit   *MisfitError
		differ   *inbox.DifferenceError
	)
	switch {
	case errors.As(err, &notFound):
		return c.notFound(ctx, notFound.Name)
	case errors.As(err, &parse) && !access.KnowsAll(s, name):
		limit := new(readers.LimitError)
		if errors.As(err, &limit) { // it wraps the ParseError for its place
			return &readers.LimitError{What: name, Flag: limit.Flag, Limit: limit.Limit}
		}
		return &readers.ParseError{Name: name, Format: parse.Format, Row: -1, Err: errHidden}
	case errors.As(err, &misfit) && !access.KnowsAll(s, name):
		return &readers.ParseError{Name: name, Format: DatasetFormat, Row: -1, Err: errHidden}
	case errors.As(err, &differ) && !access.KnowsAll(s, name):
		return &NameError{Name: name, Err: errors.New("the table that is there has other columns")}
	}
	return err
}

// WithoutPaths returns a text without the folders of the roots in the server's file system. The names
// of the files of a dataset that are below no listed root begin with these.
func (c *Catalog) WithoutPaths(text string) string {
	for _, m := range c.tree.Mounts() {
		if dir := m.Root.Dir; m.Root.URL == "" && len(dir) > 1 {
			text = strings.ReplaceAll(text, strings.TrimSuffix(dir, "/")+"/", "")
			if m.Root.Unlisted { // the alias may have other characters
				text = strings.ReplaceAll(text, strings.TrimSuffix(m.Root.Alias, "/")+"/", "")
			}
		}
	}
	return text
}

// LayersOf returns the layers of an entry's file that a caller may describe, in their order.
func LayersOf(s access.Scope, e Entry, layers []string) []string {
	if s == access.All {
		return layers
	}
	return slices.DeleteFunc(slices.Clone(layers), func(layer string) bool {
		return !s.Allows(access.Describe, tree.LayerName(e.File(), layer))
	})
}
