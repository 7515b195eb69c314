package lanes

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Lane is what one chunk on its way needs. Whoever took it has it alone.
type Lane struct {
	card *card
	s    *gpu.Stream
	text gpu.Buffer[byte]
	kept []kept
}

// kept is what a format leaves on the device from chunk to chunk.
type kept interface{ Free(*gpu.Stream) error }

// Kernels are those of the lane's card.
func (l *Lane) Kernels() *kernels.Set { return l.card.k }

// Stream orders the work on the lane's chunk.
func (l *Lane) Stream() *gpu.Stream { return l.s }

// Text is the lane's memory for text. Behind what Fill brought it holds whatever it held.
func (l *Lane) Text() gpu.Buffer[byte] { return l.text }

// Result gives page-locked memory for the columns of a chunk. The caller gives it back, which may
// be long after the lane.
func (l *Lane) Result() *Result { return &Result{from: &l.card.results} }

// Keep gives what a format keeps on the lane from chunk to chunk, of which there is one for each
// type: a zero T at first. It outlives the arena, so it is allocated while the stream uses none
// (gpu.Stream.Use). Pool.Close calls its Free.
func Keep[T any, P interface {
	*T
	Free(*gpu.Stream) error
}](l *Lane) *T {
	for _, k := range l.kept {
		if p, ok := k.(P); ok {
			return p
		}
	}
	p := P(new(T))
	l.kept = append(l.kept, p)
	return p
}

// close gives the lane's memory back.
func (l *Lane) close() error {
	var err error
	for _, k := range l.kept {
		err = errors.Join(err, k.Free(l.s))
	}
	return errors.Join(err, l.text.Free(l.s))
}

// Work waits for memory for the work of kernels on the lane's chunk, as Pool.Take does, and has
// buffers of the lane's stream come from it while do runs. do frees them and waits for the stream,
// or knows that nobody writes to them.
func (l *Lane) Work(file any, at int64, do func()) {
	arena, _ := l.card.work.take(file, at)
	l.s.Use(arena)
	defer func() {
		l.s.Use(nil)
		l.card.work.give(arena)
	}()
	do()
}
