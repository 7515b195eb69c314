package slots

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Slot has the resources of one chunk in flight. A caller that took it is its only user.
type Slot struct {
	device *poolDevice
	s      *gpu.Stream
	text   gpu.Buffer[byte]
	kept   []deviceState
}

// deviceState is what a format keeps on the device from chunk to chunk.
type deviceState interface{ Free(*gpu.Stream) error }

// Kernels returns the kernels of the slot's device.
func (l *Slot) Kernels() *kernels.Set { return l.device.k }

// Stream orders the work on the slot's chunk.
func (l *Slot) Stream() *gpu.Stream { return l.s }

// Text returns the slot's memory for text. After the bytes that Fill copied, its content is
// undefined.
func (l *Slot) Text() gpu.Buffer[byte] { return l.text }

// Result returns page-locked memory for the columns of a chunk. The caller returns it, possibly
// long after the slot.
func (l *Slot) Result() *Result { return &Result{from: &l.device.results} }

// Keep returns the value that a format keeps on the slot from chunk to chunk, one for each type, at
// first a zero T. It outlives the arena, so it is allocated while the stream uses none
// (gpu.Stream.Use). Pool.Close calls its Free.
func Keep[T any, P interface {
	*T
	Free(*gpu.Stream) error
}](l *Slot) *T {
	for _, k := range l.kept {
		if p, ok := k.(P); ok {
			return p
		}
	}
	p := P(new(T))
	l.kept = append(l.kept, p)
	return p
}

// close frees the slot's memory.
func (l *Slot) close() error {
	var err error
	for _, k := range l.kept {
		err = errors.Join(err, k.Free(l.s))
	}
	return errors.Join(err, l.text.Free(l.s))
}

// Work waits, as Pool.Take does, for memory for the kernels' work on the slot's chunk. While do
// runs, the stream's buffers come from that memory. do frees them, and waits for the stream unless
// nothing writes to them.
func (l *Slot) Work(file any, at int64, do func()) {
	arena, _ := l.device.work.take(file, at)
	l.s.Use(arena)
	defer func() {
		l.s.Use(nil)
		l.device.work.give(arena)
	}()
	do()
}
