package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// refSource provides the batches of a Ref: while its file is parsed, then from the table. A damaged
// table is replaced by a new parse.
type refSource struct{ *Ref }

// Table implements scan.Source.
func (s *refSource) Table() *readers.Table { return s.Ref.Table }

// Batch implements scan.Source.
func (s *refSource) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if s.call != nil {
		b, err := s.call.partial.batch(ctx, i)
		if b != nil || err != nil {
			return b, err
		}
		if err := s.finish(ctx); err != nil {
			return nil, err
		}
	}
	for {
		b, err := scan.VerifiedBatch(s.Ref.Table, i)
		if err == nil {
			return b, nil
		}
		if err = s.repair(ctx, err); err != nil {
			return nil, err
		}
	}
}

// Search implements scan.Source.
func (s *refSource) Search(ctx context.Context, i int, box [4]float64) ([]int32, bool, error) {
	for {
		rows, ok, err := scan.SearchTable(s.Ref.Table, i, box)
		if err == nil {
			return rows, ok, nil
		}
		if err = s.repair(ctx, err); err != nil {
			return nil, false, err
		}
	}
}

// Close implements scan.Source. While the file is parsed it checks that the file is the one that
// the first rows came from. A packed file is checked when all of it is unpacked, so the parse has to
// end.
func (s *refSource) Close(ctx context.Context) error {
	if s.call == nil {
		return nil
	}
	if src := s.call.src.Load(); !src.Coming() {
		if err := src.Unchanged(); !errors.Is(err, fs.ErrClosed) {
			return err
		}
	}
	select { // the parse is over, and has checked the same
	case <-s.call.done:
		return s.call.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Sizes implements scan.Source.
func (s *refSource) Sizes() (columns, batches []int64) {
	return scan.ColumnBytes(s.Ref.Table), scan.BatchBytes(s.Ref.Table)
}

// finish waits for the end of the parse, and uses its table from then on.
func (s *refSource) finish(ctx context.Context) error {
	select {
	case <-s.call.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.call.err; err != nil {
		return err
	}
	s.entry, s.call = s.call.entry, nil
	s.Ref.Table = s.entry.Table
	return nil
}

// repair replaces a damaged table by a new parse. Any other error is returned as it is.
func (s *refSource) repair(ctx context.Context, why error) error {
	if !errors.Is(why, readers.ErrDamaged) || s.entry == nil || s.released.Load() {
		return why
	}
	t := s.cache
	t.mu.Lock()
	first := s.entry.cached // else another caller has found the damage
	if first {
		t.remove(s.entry)
	}
	t.mu.Unlock()
	if first {
		t.cfg.Archive.Remove(s.Entry.Name, s.entry.Data, why)
	}
	p, _, err := t.get(ctx, s.job)
	if err != nil && errors.Is(why, persist.ErrUnfetched) {
		return fmt.Errorf("%w; and its table in the shared cache: %w", err, why)
	}
	if err != nil {
		return err
	}
	t.release(s.entry)
	s.entry, s.Ref.Table = p, p.Table
	return nil
}
