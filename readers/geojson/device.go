package geojson

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
)

// Defaults of a Device.
const (
	deviceChunkBytes = 32 << 20 // text of a chunk
	deviceSlackBytes = 1 << 20  // read behind it, for the rest of its last feature
	deviceLanes      = 4        // chunks on their way at the same time
	deviceResults    = 8        // chunks whose columns are on their way into batches
)

// Device is the GPU engine: what a device needs to parse chunks of features, kept from file to file. Files of several readers share it.
//
// The engine is the CPU engine with the device among its workers. A chunk of features is guessed at, as any part of a file is; the device reads it
// whole or refuses it, and what it refuses, the CPU engine reads from the byte on where the chunk before ended. So a device never decides what a
// file says: it only accepts what it is sure of, and every error is worded by the CPU engine.
type Device struct {
	k       *kernels.Set
	lanes   chan *lane
	results chan *gpu.Pinned // memory of columns, of chunk bytes each; who finds none takes other memory
	free    []func() error
	chunk   int64

	accepted, refused atomic.Int64 // chunks
	last              atomic.Pointer[string]
}

// lane is what one chunk on its way needs.
type lane struct {
	s  *gpu.Stream
	in *gpu.Pinned // text
}

// NewDevice takes streams and page-locked memory, about 400 MiB. Close gives them back.
func NewDevice(k *kernels.Set) (*Device, error) {
	return newDevice(k, deviceChunkBytes, deviceLanes, deviceResults)
}

func newDevice(k *kernels.Set, chunk int64, lanes, results int) (*Device, error) {
	d := &Device{k: k, chunk: chunk, lanes: make(chan *lane, lanes), results: make(chan *gpu.Pinned, results)}
	for range lanes {
		s, err := k.Device().NewStream()
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.free = append(d.free, s.Close)
		in, err := d.pinned(chunk + deviceSlackBytes)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.lanes <- &lane{s: s, in: in}
	}
	for range results {
		out, err := d.pinned(chunk)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.results <- out
	}
	return d, nil
}

// pinned takes page-locked memory until Close.
func (d *Device) pinned(bytes int64) (*gpu.Pinned, error) {
	m, err := d.k.Device().AllocPinned(int(bytes))
	if err != nil {
		return nil, fmt.Errorf("geojson: memory for chunks of %d bytes: %w", d.chunk, err)
	}
	d.free = append(d.free, m.Free)
	return m, nil
}

// Close gives everything back. No file may be under way.
func (d *Device) Close() error {
	var err error
	for _, free := range d.free {
		err = errors.Join(err, free())
	}
	d.free = nil
	return err
}

// Parser is the GPU engine for a file.
func (d *Device) Parser(l readers.Layout) readers.Parser { return cpu{layout: l, device: d} }

// Chunks says how many chunks the device read and how many it left to the CPU engine, and why it left the last one.
func (d *Device) Chunks() (accepted, refused int64, why string) {
	if p := d.last.Load(); p != nil {
		why = *p
	}
	return d.accepted.Load(), d.refused.Load(), why
}

func (d *Device) refuse(why string) {
	d.refused.Add(1)
	d.last.Store(&why)
}

// Engine is the name of who parses.
func (c cpu) Engine() string {
	if c.device != nil {
		return "cuda"
	}
	return "cpu"
}
