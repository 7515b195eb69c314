package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/inbox"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
)

// What a caller may not see does not exist for it. All methods of a Catalog that take a name or
// list names check the scope of their context here. A name that the caller may not describe gives
// the error of a name that does not exist, and its closest names are those that the caller may
// describe. *access.DeniedError tells only callers that may describe the entry what they lack.

// scope returns the rights of a caller. In a restricted catalog, a context without a scope has none.
func (c *Catalog) scope(ctx context.Context) access.Scope {
	if s := access.Of(ctx); s != nil {
		return s
	}
	if c.cfg.Restricted {
		return access.None
	}
	return access.All
}

// ScopeKey identifies the rights of a caller: callers with equal keys have equal rights.
func (c *Catalog) ScopeKey(ctx context.Context) string { return c.scope(ctx).Key() }

// Restricted is Config.Restricted.
func (c *Catalog) Restricted() bool { return c.cfg.Restricted }

// Allow returns an error unless the caller has a privilege on the server as a whole.
func (c *Catalog) Allow(ctx context.Context, p access.Privilege) error {
	if !c.scope(ctx).Allows(p, access.Server) {
		return &access.DeniedError{Privilege: p, Name: access.Server}
	}
	return nil
}

// allow returns an error unless the caller has a privilege on an entry: *NotFoundError if the caller
// may not describe it or there is none, else *access.DeniedError.
func (c *Catalog) allow(ctx context.Context, p access.Privilege, name string) error {
	s := c.scope(ctx)
	switch {
	case s.Allows(p, name):
		return nil
	case !s.Allows(access.Describe, name):
		return c.notFound(ctx, name)
	}
	if _, err := c.tree.Lookup(ctx, name); err != nil {
		return c.knownError(ctx, name, err)
	}
	return &access.DeniedError{Privilege: p, Name: name}
}

// notFound returns the error for a name that does not exist for the caller.
func (c *Catalog) notFound(ctx context.Context, name string) error {
	s := c.scope(ctx)
	if s == access.All {
		return c.tree.NotFound(name)
	}
	return c.tree.NotFoundAmong(name, func(name string) bool { return s.Allows(access.Describe, name) })
}

// KnowsAll reports whether a caller may know all rows and columns of an entry. Others do not get the
// texts and statistics that quote single values or name single columns.
func (c *Catalog) KnowsAll(ctx context.Context, name string) bool {
	s := c.scope(ctx)
	return (s.Allows(access.Read, name) || s.Allows(access.SQL, name)) && s.Restriction(name) == nil
}

// errHidden replaces the details of an error.
var errHidden = errors.New("it can't be read; the reason is for callers that may read all of it")

// Known returns an error for an entry without what the caller may not know.
func (c *Catalog) Known(ctx context.Context, name string, err error) error {
	return c.knownError(ctx, name, err)
}

// knownError returns an error without what the caller may not know. name is that of the entry.
func (c *Catalog) knownError(ctx context.Context, name string, err error) error {
	if err == nil || c.scope(ctx) == access.All {
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
	case errors.As(err, &parse) && !c.KnowsAll(ctx, name):
		limit := new(readers.LimitError)
		if errors.As(err, &limit) { // it wraps the ParseError for its place
			return &readers.LimitError{What: name, Flag: limit.Flag, Limit: limit.Limit}
		}
		return &readers.ParseError{Name: name, Format: parse.Format, Row: -1, Err: errHidden}
	case errors.As(err, &misfit) && !c.KnowsAll(ctx, name):
		return &readers.ParseError{Name: name, Format: DatasetFormat, Row: -1, Err: errHidden}
	case errors.As(err, &differ) && !c.KnowsAll(ctx, name):
		return &NameError{Name: name, Err: errors.New("the table that is there has other columns")}
	}
	return err
}

// Layers returns the layers of an entry's file that the caller may describe, in their order.
func (c *Catalog) Layers(ctx context.Context, e Entry, layers []string) []string {
	s := c.scope(ctx)
	if s == access.All {
		return layers
	}
	return slices.DeleteFunc(slices.Clone(layers), func(layer string) bool {
		return !s.Allows(access.Describe, tree.LayerName(e.File(), layer))
	})
}
