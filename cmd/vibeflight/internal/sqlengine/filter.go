package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// Filter is an engine that computes the filter of a ticket over a file of this machine.
type Filter struct {
	dir    string // empty
	files  *catalog.Catalog
	engine *Engine
}

// DefineFilter adds the flags of a Filter to f.
func (c *Flags) DefineFilter(f *pflag.FlagSet) { extensionsFlag(f, &c.Extensions) }

// OpenFilter opens an engine without files. In a build without SQL, the error is engine.ErrNoSQL.
func OpenFilter(ctx context.Context, c *Flags) (_ *Filter, err error) {
	l := &Filter{}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.dir, err = os.MkdirTemp("", "vibeflight-filter-"); err != nil {
		return nil, err
	}
	l.files, err = catalog.Open(ctx, catalog.Config{
		Roots: []catalog.Root{{Dir: l.dir}}, Formats: all.Formats(), Log: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	if l.engine, err = c.Open(l.files, "", false, zerolog.Nop()); err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	return l, nil
}

// Rows returns the rows of a table for which a predicate is true, as a table.
func (l *Filter) Rows(ctx context.Context, t *readers.Table, where string, limits readers.Limits) (
	*catalog.TableRef, error,
) {
	ref, err := restrict.Filtered(ctx, t, where, l.engine.Filters(), limits)
	var wrong *restrict.FilterError
	if errors.As(err, &wrong) { // the flag has the same name
		return nil, fmt.Errorf("--%w", wrong)
	}
	return ref, err
}

// Close closes the engine, and removes its folder.
func (l *Filter) Close() {
	if l.engine != nil {
		_ = l.engine.Close()
	}
	if l.files != nil {
		_ = l.files.Close()
	}
	_ = os.Remove(l.dir)
}
