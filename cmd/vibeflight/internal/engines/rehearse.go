package engines

import (
	"context"
	"errors"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
)

// Rehearse has each device read a file of each format that is about as long as the text of a first
// batch, so that the first one that somebody waits for finds threads, memory and a driver that have
// done so before: 4 ms of 20. It waits until the kernels are there, and returns early when ctx
// ends. What goes wrong is logged, and found again when it matters.
func (e *Engines) Rehearse(ctx context.Context) {
	e.warming.Wait()
	for _, f := range e.cfg.Formats {
		engine, kind := e.byFormat[f.Name], sampleOf(f.Name)
		if engine == nil || kind == "" {
			continue
		}
		err := e.rehearse(ctx, f, engine, kind)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.cfg.Log.Warn().Err(err).Str("format",
				f.Name).Msg("a small file can't be read on trial: the first one that is asked for takes a little longer")
		}
	}
}

// rehearse has a file read by as many parses at a time as there are devices: each gets a lane of
// another one.
func (e *Engines) rehearse(ctx context.Context, f readers.Format, engine readers.Engine, kind string) error {
	src, err := e.sample(ctx, f, kind, smallBytes)
	if err != nil {
		return err
	}
	defer src.Close()
	errs := make([]error, max(1, len(e.devices)))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = e.parse(ctx, f, src, engine.Parser) })
	}
	all.Wait()
	return errors.Join(errs...)
}
