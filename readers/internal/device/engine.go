// Package device is the frame of every GPU engine: it runs a format's GPU parser on the slots of
// devices.
//
// A GPU engine is the CPU engine with devices among its workers (ADR 18). The start of a chunk is
// guessed like that of any part of a file. A device reads the whole chunk or refuses it, and the
// CPU engine reads refused rows from the byte where the previous chunk ended. So a device accepts
// only what it has checked completely, and every error comes from the CPU engine.
//
// A format implements Chunks, which finds the bounds of a chunk and parses its text. Everything
// else is here and in package slots.
package device

import (
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Engine is the GPU engine of a format, on slots that it shares with the engines of other formats.
// It implements readers.Engine.
type Engine struct {
	pool   *slots.Pool
	parser func(readers.Layout, *Engine) readers.Parser

	accepted, refused, refusedRows, faults atomic.Int64
	reading, copying, working              atomic.Int64 // nanoseconds, summed over chunks
	last                                   atomic.Pointer[string]
}

// New returns the engine of a format, whose parser reads files with the help of the engine.
func New(pool *slots.Pool, parser func(readers.Layout, *Engine) readers.Parser) *Engine {
	return &Engine{pool: pool, parser: parser}
}

// Parser returns the engine for a file.
func (e *Engine) Parser(l readers.Layout) readers.Parser { return parser{e.parser(l, e)} }

// Counts returns what the devices did for the format.
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

// Chunks of a short span are smaller than a slot, so that reading, copying and kernels overlap. If
// other files are parsed at the same time, their chunks do that as well: of n files, each has an nth
// as many chunks, but not fewer than fewChunks. The kernels of a chunk of 9 MB and the waits for them
// take half as long as those of one of 35 MB. Below minChunk, launches take longer than the work.
const (
	chunksOfSpan = 24
	fewChunks    = 6
	minChunk     = 8 << 20
)

// For returns the engine if a span has more than two chunks. It then sets limits to parts of one
// chunk each, with one worker for each slot and two that wait for one. Otherwise it returns nil and
// changes nothing, and the CPU engine parses the span. e may be nil.
func (e *Engine) For(span readers.Span, limits *readers.Limits) *Engine {
	if e == nil || span.Inside {
		return nil
	}
	bytes := span.To - span.From
	if bytes <= 2*e.chunk(bytes, chunksOfSpan) {
		return nil
	}
	n := max(fewChunks, chunksOfSpan/max(1, collector.running()))
	limits.PartBytes, limits.Workers = e.chunk(bytes, n), e.pool.Alive()+2
	return e
}

// chunk returns the length of the chunks of a span, all of the same length: n or as many as slots
// have room for.
func (e *Engine) chunk(bytes, n int64) int64 {
	room := e.pool.ChunkBytes()
	n = max(n, (bytes+room-1)/room)
	return min(max(minChunk, (bytes+n-1)/n), room)
}

// refuse counts a chunk that is left to the CPU engine.
func (e *Engine) refuse(why string) {
	e.refused.Add(1)
	e.last.Store(&why)
}
