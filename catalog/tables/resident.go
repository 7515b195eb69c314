package tables

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// OnGPU returns the table in the memory of a GPU, where it stays until release is called. What a GPU
// has parsed is there; other rows and columns are copied to it, once for all callers. Errors are those
// of Batch and of the device, and resident.ErrFull.
func (h *Ref) OnGPU(ctx context.Context, s *resident.Store) (c *resident.Contents, release func(), err error) {
	key := h.Entry.Name + "\x00" + h.Version
	t := s.Find(key)
	if t == nil {
		t = h.Table.Summary.Resident.Use()
	}
	if t == nil {
		t = s.New(h.Table.Bytes)
	}
	if t == nil {
		return nil, nil, resident.ErrFull // the store is closed
	}
	c, err = t.Complete(h.Table.OnHost(func(i int) (*geoarrow.Columns, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return h.Batch(ctx, i)
	}))
	if err != nil {
		return nil, nil, errors.Join(err, t.Drop())
	}
	s.Keep(key, t)
	return c, t.Release, nil
}
