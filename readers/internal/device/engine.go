// Package device is the frame of every GPU engine: it puts the parser of a format on the slots of
// devices.
//
// A GPU engine is the CPU engine with devices among its workers (ADR 18). A chunk of rows is
// guessed at, as any part of a file is; a device reads it whole or refuses it, and what it refuses,
// the CPU engine reads from the byte on where the chunk before ended. So a device never decides
// what a file says: it only accepts what it is sure of, and every error is worded by the CPU
// engine.
//
// A format gives Chunks: where a chunk begins and ends, and what its text says. Everything else is
// here and in package slots.
package device

import (
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Engine is the GPU engine of a format, on slots that it shares with those of other formats. It is
// a readers.Engine.
type Engine struct {
	pool   *slots.Pool
	parser func(readers.Layout, *Engine) readers.Parser

	accepted, refused, refusedRows, faults atomic.Int64
	reading, copying, working              atomic.Int64 // nanoseconds, summed over chunks
	last                                   atomic.Pointer[string]
}

// New makes the engine of a format whose parser reads files with the engine's help.
func New(pool *slots.Pool, parser func(readers.Layout, *Engine) readers.Parser) *Engine {
	return &Engine{pool: pool, parser: parser}
}

// Parser returns the engine for a file.
func (e *Engine) Parser(l readers.Layout) readers.Parser { return parser{e.parser(l, e)} }

// Counts says what the devices did for the format.
func (e *Engine) Counts() readers.EngineCounts {
	c := readers.EngineCounts{
		Chunks: e.accepted.Load(), Refused: e.refused.Load(), RefusedRows: e.refusedRows.Load(),
		Faults: e.faults.Load(),
	}
	c.Stages = readers.Stages{
		ReadSeconds: seconds(&e.reading), UploadSeconds: seconds(&e.copying),
		WorkSeconds: seconds(&e.working),
	}
	if p := e.last.Load(); p != nil {
		c.Reason = *p
	}
	return c
}

func seconds(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }

// Chunks of a short span are shorter than a slot has room for, so that there are some for
// everybody: to read and to copy, and for kernels. Below minChunk launches take longer than the
// work.
const (
	chunksOfSpan = 24
	minChunk     = 8 << 20
)

// For returns the engine if a span is worth a device: if it has more than two chunks. Then limits
// make parts of one chunk each, with one worker for each slot and two that wait for one. Otherwise
// it returns nil and changes nothing: all workers of the CPU engine parse the span. e may be nil.
func (e *Engine) For(span readers.Span, limits *readers.Limits) *Engine {
	if e == nil || span.Inside {
		return nil
	}
	bytes := span.To - span.From
	chunk := min(max(minChunk, bytes/chunksOfSpan), e.pool.ChunkBytes())
	if bytes <= 2*chunk {
		return nil
	}
	limits.PartBytes, limits.Workers = chunk, e.pool.Alive()+2
	return e
}

// refuse counts a chunk that is left to the CPU engine.
func (e *Engine) refuse(why string) {
	e.refused.Add(1)
	e.last.Store(&why)
}
