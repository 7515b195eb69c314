package catalog

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// grantsOf is the privileges of a scope by the names of entries.
type grantsOf map[string][]access.Privilege

func (g grantsOf) Key() string                            { return "test" }
func (g grantsOf) Restriction(string) *access.Restriction { return nil }
func (g grantsOf) Allows(p access.Privilege, name string) bool {
	return slices.Contains(g[name], p)
}

// A restricted catalog shows nothing to a context without a scope. Another one shows everything.
func TestContextsWithoutAScope(t *testing.T) {
	for _, restricted := range []bool{false, true} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.fake"), "FAKE")
		c := newLab(t, dir, sized, func(cfg *Config) { cfg.Restricted = restricted })
		ctx := context.Background()
		var notFound *NotFoundError
		_, err := c.Lookup(ctx, "a.fake")
		if got := errors.As(err, &notFound); got != restricted || len(c.List(ctx, "", "")) == 0 != restricted {
			t.Errorf("restricted %v: %v, %d entries", restricted, err, len(c.List(ctx, "", "")))
		}
		h, err := c.Table(ctx, Request{Name: "a.fake"})
		if got := errors.As(err, &notFound); got != restricted {
			t.Errorf("restricted %v: %v", restricted, err)
		}
		h.Release()
		if _, err := c.Evict(ctx, "a.fake"); errors.As(err, &notFound) != restricted {
			t.Errorf("restricted %v: %v", restricted, err)
		}
	}
}

func TestScopesOfCallers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.fake"), "FAKE")
	write(t, filepath.Join(dir, "deep/er/c.FAKE"), "FAKE")
	c := newLab(t, dir, sized, func(cfg *Config) { cfg.Restricted = true })
	ctx := access.With(t.Context(), grantsOf{"a.fake": {access.Describe}, "deep/er/c.FAKE": {access.Read}})
	if list := c.List(ctx, "", ""); len(list) != 1 || list[0].Name != "a.fake" {
		t.Errorf("listed %v", list)
	}
	if list := c.List(ctx, "deep/", ""); len(list) != 0 {
		t.Errorf("listed %v", list)
	}
	var denied *access.DeniedError
	if _, err := c.Table(ctx, Request{Name: "a.fake"}); !errors.As(err, &denied) || denied.Privilege != access.Read {
		t.Errorf("%v, want a missing privilege", err)
	}
	h, err := c.Table(ctx, Request{Name: "deep/er/c.FAKE"})
	if err != nil {
		t.Error(err)
	}
	h.Release()
	_, err = c.Lookup(ctx, "deep/er/c.FAKE")
	_, other := c.Lookup(ctx, "deep/er/d.FAKE")
	if err == nil || other == nil || err.Error() != `no entry "deep/er/c.FAKE"` ||
		other.Error() != `no entry "deep/er/d.FAKE"` {
		t.Errorf("%v, and for a name that does not exist %v", err, other)
	}
	if err := c.Refresh(ctx); !errors.As(err, &denied) || denied.Name != access.Server {
		t.Errorf("%v, want a missing privilege", err)
	}
	if _, err := c.Draft(ctx, "x", Create, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v, want that nothing can be stored", err)
	}
}
