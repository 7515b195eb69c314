package geojson

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
)

// Device is the GPU engine: what cards need to parse chunks of features, kept from file to file. Files of several readers share it.
//
// The engine is the CPU engine with cards among its workers. A chunk of features is guessed at, as any part of a file is; a card reads it
// whole or refuses it, and what it refuses, the CPU engine reads from the byte on where the chunk before ended. So a card never decides what a
// file says: it only accepts what it is sure of, and every error is worded by the CPU engine.
//
// Whoever has a chunk waits for a lane, first come first served, on whichever card there is one: files share cards by chunks, and so do cards a file.
type Device struct {
	chunk int64 // text of a chunk
	cards []*card
	lanes queue[*lane] // of all cards
	alive atomic.Int64 // lanes that are not lost
	fault func(card string, err error)

	accepted, refused, refusedRows, faults atomic.Int64
	reading, copying, working              atomic.Int64 // nanoseconds, summed over chunks
	last                                   atomic.Pointer[string]
}

// NewDevice takes the memory for chunks that cfg allows, and for each card some 450 MiB of page-locked memory. Close gives it back.
func NewDevice(cards []*kernels.Set, cfg readers.EngineConfig) (*Device, error) {
	least := cfg.MemoryOf(cards[0])
	for _, k := range cards[1:] {
		least = min(least, cfg.MemoryOf(k))
	}
	p, err := planFor(least)
	if err != nil {
		return nil, err
	}
	return newDevice(cards, p, cfg.Fault)
}

// plan is what each card takes.
type plan struct {
	chunk int64 // bytes of a chunk's text
	lanes int   // chunks whose text comes or is there
	work  int   // those among them that kernels work on
	arena int64 // bytes of device memory for each of those
}

const (
	deviceChunkBytes = 32 << 20 // smaller ones take more launches, larger ones more memory, and neither is faster
	leastChunkBytes  = 1 << 20
	deviceSlackBytes = 1 << 20 // behind a chunk, for the rest of its last feature
	deviceWork       = 3       // chunks that kernels work on at the same time: one waits for the host, one for a copy
	lanesAhead       = 5       // beside them, whose text comes
	workFactor       = 7       // bytes that kernels take for each byte of text, in files of points; polygons take 5
)

// text is the device memory of a lane.
func (p plan) text() int64 { return p.chunk + deviceSlackBytes }

// planFor shares memory out.
func planFor(memory int64) (plan, error) {
	p := plan{chunk: deviceChunkBytes}
	for ; memory < 2*p.text()+workFactor*p.chunk; p.chunk /= 2 {
		if p.chunk == leastChunkBytes {
			return p, fmt.Errorf("geojson: %d bytes of device memory are too few; %d would do", memory, 2*p.text()+workFactor*p.chunk)
		}
	}
	p.arena = workFactor * p.chunk
	p.work = int(min(deviceWork, (memory-p.text())/(p.arena+p.text())))
	p.lanes = p.work + int(min(lanesAhead, (memory-int64(p.work)*(p.arena+p.text()))/p.text()))
	return p, nil
}

func newDevice(cards []*kernels.Set, p plan, fault func(string, error)) (*Device, error) {
	d := &Device{chunk: p.chunk, fault: fault}
	for _, k := range cards {
		c, err := openCard(k, p)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("geojson: memory for chunks of %d bytes: %w", p.chunk, err), d.Close())
		}
		d.cards = append(d.cards, c)
	}
	for i := range p.lanes { // cards in turns
		for _, c := range d.cards {
			d.lanes.give(c.lanes[i])
		}
	}
	d.alive.Store(int64(len(cards) * p.lanes))
	return d, nil
}

// Close gives everything back. No file may be under way.
func (d *Device) Close() error {
	var err error
	for _, c := range d.cards {
		err = errors.Join(err, c.close())
	}
	d.cards = nil
	return err
}

// Parser is the GPU engine for a file.
func (d *Device) Parser(l readers.Layout) readers.Parser { return cpu{layout: l, device: d} }

// Counts says what the cards did.
func (d *Device) Counts() readers.EngineCounts {
	c := readers.EngineCounts{Chunks: d.accepted.Load(), Refused: d.refused.Load(), RefusedRows: d.refusedRows.Load(), Faults: d.faults.Load()}
	c.Stages = readers.Stages{ReadSeconds: seconds(&d.reading), UploadSeconds: seconds(&d.copying), WorkSeconds: seconds(&d.working)}
	if p := d.last.Load(); p != nil {
		c.Reason = *p
	}
	return c
}

func seconds(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }

// clock adds the time from one call to the next to what the call names.
type clock struct{ last time.Time }

func (c *clock) stop(sum *atomic.Int64) {
	now := time.Now()
	sum.Add(int64(now.Sub(c.last)))
	c.last = now
}

// give takes a lane back. After an error that the card does not recover from nobody gets it any more, and with the last one everybody is sent away.
func (d *Device) give(l *lane, err error) {
	if !errors.Is(err, gpu.ErrLost) {
		d.lanes.give(l)
		return
	}
	if d.alive.Add(-1) == 0 {
		d.lanes.shutDown()
	}
}

// workers is how many chunks of a file are on their way at most: one for each lane, and two that wait for one.
func (d *Device) workers() int { return int(d.alive.Load()) + 2 }

// failed counts a fault of a card, and tells of it.
func (d *Device) failed(c *card, err error) {
	d.faults.Add(1)
	if d.fault != nil {
		d.fault(readers.CardName(c.k), err)
	}
}

// Engine is the name of who parses.
func (c cpu) Engine() string {
	if c.device != nil {
		return "cuda"
	}
	return "cpu"
}
