package device

import "github.com/vibeflight/vibeflight/gpu"

// Scratch is device memory that is reused before the end of the chunk.
type Scratch struct {
	*Work
	free []func() error
}

// InRoom frees the memory that do allocates after all work that it queued.
func InRoom(w *Work, do func(*Scratch)) {
	r := &Scratch{Work: w}
	defer func() {
		w.Bring()
		for _, free := range r.free {
			r.Try(free())
		}
	}()
	do(r)
}

// Until frees a resource at the end of the room, whatever happens.
func (r *Scratch) Until(free func() error) { r.free = append(r.free, free) }

// RoomFor allocates memory until the end of the room.
func RoomFor[T any](r *Scratch, n int) gpu.Buffer[T] {
	if r.Stopped() {
		return gpu.Buffer[T]{}
	}
	b, err := gpu.Alloc[T](r.S, n)
	if r.Try(err); err == nil {
		r.Until(func() error { return b.Free(r.S) })
	}
	return b
}
