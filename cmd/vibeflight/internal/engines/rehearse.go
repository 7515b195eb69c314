package engines

import (
	"context"
	"errors"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
)

// Rehearse parses a short file of each format on each device, about the length of a first batch. So
// the first parse for a client finds warm threads, memory and driver, which saves 4 ms of 20. It
// waits for the kernels, and returns early when ctx ends. It logs errors, which later parses report
// again.
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
				f.Name).Msg("a small file can't be read on trial: the first requested one takes " +
				"a little longer")
		}
	}
}

// rehearse parses a file as many times at once as there are devices: each parse gets a slot of
// another device.
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
