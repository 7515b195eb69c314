package catalog

import (
	"context"
	"errors"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/dataset"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
)

// SetEvaluator sets what computes the filters and masks of restricted tables, and what computes the
// filters of requests; nil: nothing does, and a table that needs one is not available.
func (c *Catalog) SetEvaluator(rules, filters restrict.Evaluator) {
	c.parts.SetEvaluator(rules)
	c.filtered.SetEvaluator(filters)
}

// restriction is what a call gets of a table.
type restriction struct {
	catalog      *Catalog
	scope        access.Scope
	rules        *access.Restriction // nil: none, or those of the first layer alone
	layered      bool                // the request names no layer, and the layers are not known
	otherOptions bool                // they are not the operator's
	where        string              // of the request
}

// restriction returns what a request gets of a table: what the caller may know of it, and of that
// the rows that the filter of the request keeps; nil: all.
func (c *Catalog) restriction(ctx context.Context, req Request) (*restriction, error) {
	r, err := c.granted(ctx, req)
	where := strings.TrimSpace(req.Where)
	if err != nil || where == "" {
		return r, err
	}
	if r == nil {
		r = &restriction{catalog: c, scope: access.All}
	}
	r.where = where
	return r, nil
}

// granted returns what the caller may know of the table of a request; nil: all. The rules are for the
// operator's options: others may give columns other names.
func (c *Catalog) granted(ctx context.Context, req Request) (*restriction, error) {
	scope := c.Scope(ctx)
	if scope == access.All {
		return nil, nil
	}
	e, err := c.tree.Lookup(ctx, req.Name)
	if err != nil {
		return nil, err
	}
	r := &restriction{catalog: c, scope: scope, rules: scope.Restriction(e.Name)}
	r.layered = c.tree.Layered(e) && !strings.Contains(req.Name, "#")
	if layers, known := c.tree.Layers(e); r.layered && known {
		r.rules, r.layered = r.with(e, layers), false
	}
	if r.rules == nil && !r.layered {
		return nil, nil
	}
	if len(req.Options) > 0 {
		own, err := c.jobOf(e, nil)
		r.otherOptions = e.IsDataset() || err != nil
		if !r.otherOptions {
			same, err := c.job(ctx, Request{Name: req.Name, Options: req.Options})
			r.otherOptions = err != nil || same.Version != own.Version
		}
	}
	if r.rules != nil && r.otherOptions {
		return nil, &restrict.OptionsError{Name: e.Name}
	}
	return r, nil
}

// request returns the request of the whole table.
func (r *restriction) request(req Request) Request {
	if r != nil {
		req.Columns, req.streamed = nil, false
	}
	return req
}

// apply returns the part of a table that a request gets. It takes the use of the table. A nil
// restriction returns the table. The filter of the request sees only what the caller may know.
func (r *restriction) apply(ctx context.Context, h *TableRef, err error) (*TableRef, error) {
	if r == nil || h == nil && err == nil {
		return h, err
	}
	if err != nil {
		return nil, r.hide(err)
	}
	another := anotherOf(h)
	if h, err = r.applyRules(ctx, h, another); err != nil || r.where == "" {
		return h, err
	}
	return r.catalog.filtered.Restrict(ctx, h, &access.Restriction{Filter: r.where}, restrict.Another(h, another))
}

// applyRules returns the part of a table that the caller may know.
func (r *restriction) applyRules(ctx context.Context, h *TableRef, another func() *TableRef) (*TableRef, error) {
	rules := r.rulesOf(h.Entry, h.Table)
	switch {
	case rules == nil:
		return h, nil
	case r.otherOptions:
		h.Release()
		return nil, &restrict.OptionsError{Name: h.Entry.Name}
	}
	return r.catalog.parts.Restrict(ctx, h, rules, another)
}

// rulesOf returns the rules of a table. Those of its first layer apply also if the request names the
// file alone.
func (r *restriction) rulesOf(e Entry, t *readers.Table) *access.Restriction {
	if r == nil {
		return nil
	}
	if r.layered {
		return r.with(e, t.Summary.Layers)
	}
	return r.rules
}

// with returns the rules of a file together with those of its first layer.
func (r *restriction) with(e Entry, layers []string) *access.Restriction {
	if len(layers) < 2 {
		return r.rules
	}
	return restrict.Both(r.rules, r.scope.Restriction(tree.LayerName(e.File(), layers[0])))
}

// hide returns an error of a table without what it tells about rows.
func (r *restriction) hide(err error) error {
	var parse *readers.ParseError
	var limit *readers.LimitError
	var shape *readers.ShapeError
	var misfit *MisfitError
	if r.rules == nil || !errors.As(err, &parse) && !errors.As(err, &limit) && !errors.As(err, &shape) &&
		!errors.As(err, &misfit) {
		return err
	}
	r.catalog.cfg.Log.Error().Err(err).Msg("a table that is restricted can't be read")
	return restrict.ErrUnreadable
}

// whole returns the whole table of a request. A dataset is for one goroutine unless shared is set.
func (c *Catalog) whole(ctx context.Context, req Request, shared bool) (*TableRef, error) {
	if _, ok := c.dataset(ctx, req); !ok {
		return c.twice(ctx, req, c.tables.Get)
	}
	v, err := c.view(ctx, req)
	if err != nil {
		return nil, err
	}
	return v.Ref(shared), nil
}

// anotherOf returns further uses of a dataset for several goroutines; nil for a file.
func anotherOf(h *TableRef) func() *TableRef {
	if v := dataset.ViewOf(h); v != nil {
		return func() *tables.Ref { return v.Ref(true) }
	}
	return nil
}

// IsPart reports whether a table is the part that its caller may know, or requests.
func IsPart(h *TableRef) bool { return restrict.Is(h) }
