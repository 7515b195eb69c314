package main

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
)

// engines are what formats keep on a card.
type engines struct {
	device   *gpu.Device
	byFormat map[string]readers.Engine
}

// openEngines prepares a card for the formats that have a GPU engine. Kernels are compiled in the background, or found in the cache folder; cold gets the
// error if one of them can't be had, which leaves the files that need it to the CPU engine.
func openEngines(formats readers.Registry, cacheDir string, cold func(error)) (*engines, error) {
	d, err := gpu.Open(gpu.Options{CacheDir: kernelCache(cacheDir), Images: kernels.CompiledIn()})
	if err != nil {
		return nil, err
	}
	e := &engines{device: d, byFormat: map[string]readers.Engine{}}
	k, err := kernels.Load(d)
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	go func() {
		if err := k.Warm(); err != nil {
			cold(err)
		}
	}()
	for _, f := range formats {
		if f.GPU == nil {
			continue
		}
		if e.byFormat[f.Name], err = f.GPU(k); err != nil {
			return nil, errors.Join(err, e.close())
		}
	}
	return e, nil
}

// close gives the card back; no file may be under way.
func (e *engines) close() error {
	if e == nil {
		return nil
	}
	var err error
	for _, engine := range e.byFormat {
		if engine != nil {
			err = errors.Join(err, engine.Close())
		}
	}
	return errors.Join(err, e.device.Close())
}

// engines are those on the card, by format.
func (e *engines) engines() map[string]readers.Engine {
	if e == nil {
		return nil
	}
	return e.byFormat
}

// only is e if name is its engine, and nothing if it is the processor's.
func (e *engines) only(name string) *engines {
	if name == "cpu" {
		return nil
	}
	return e
}

// parser is the engine of a format: on the card if there is one, else on the processor.
func (e *engines) parser(f readers.Format, layout readers.Layout) readers.Parser {
	if e != nil && e.byFormat[f.Name] != nil {
		return e.byFormat[f.Name].Parser(layout)
	}
	return f.CPU(layout)
}
