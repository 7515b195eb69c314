package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// unpacking is the content of a packed file on its way to a temporary file, where others may read
// it already.
type unpacking struct {
	f       *File
	t       *Temp
	in      *arrivals
	workers int

	promised chan int64 // gets the bytes of the content, once the file seems to say them
	stop     context.CancelFunc
	stopped  chan struct{} // closed when nothing is written any more
}

// start begins to unpack f.
func (f *File) start(ctx context.Context, t *Temp, workers int) *unpacking {
	ctx, stop := context.WithCancel(ctx)
	workers = int(min(int64(workers), 1+f.Size/copyBytes)) // more have nothing to do
	u := &unpacking{
		f: f, t: t, in: newArrivals(), workers: workers,
		promised: make(chan int64, 1), stop: stop, stopped: make(chan struct{}),
	}
	go func() {
		defer close(u.stopped)
		u.in.finish(u.guarded(ctx))
	}()
	return u
}

// guarded is run, whose panics are errors that result panics with: there somebody handles them.
func (u *unpacking) guarded(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r}
		}
	}()
	return u.run(ctx)
}

// panicError is a panic of a decoder.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

// result waits for the end, and says how many bytes the content has.
func (u *unpacking) result() (int64, error) {
	have, err := u.in.reach(-1)
	var p *panicError
	if errors.As(err, &p) {
		panic(p.value)
	}
	return have, err
}

// run unpacks with all workers. What is wrong with a file one worker alone says, from the first byte
// on: where several of them were is not always the same place.
func (u *unpacking) run(ctx context.Context) error {
	s := newSpread(u)
	err := s.run(ctx)
	var room *RoomError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, s.unread.Load(), errors.As(err, &room) && room.Disk != "":
		return err
	}
	have := u.in.count()
	if err := u.t.cut(have); err != nil {
		return err
	}
	w := &tail{u, have}
	if packing, _ := PackingOf(u.f.Name); packing == Gzip {
		return u.f.gunzip(ctx, w.write)
	}
	return u.f.unzstd(ctx, w.write)
}

// tail appends to a content what follows the bytes that it has.
type tail struct {
	*unpacking
	skip int64 // bytes that it has
}

func (w *tail) write(p []byte) error {
	n := min(w.skip, int64(len(p)))
	w.skip -= n
	p = p[n:]
	if err := w.t.write(p); err != nil {
		return err
	}
	return w.in.add(int64(len(p)))
}

// ahead is a content that is read while it is unpacked.
type ahead struct {
	*unpacking
	size   int64 // that the file promises
	closed sync.Once
}

// errSize says that a content does not have the bytes that its packed file promises.
var errSize = errors.New("the content has another length than its packed file says")

// ReadAt waits for the bytes. The last byte is there when all of the file was checked, and the
// content has as many bytes as promised: until then, no reader can take its end for the end.
func (a *ahead) ReadAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if end < a.size {
		if have, err := a.in.reach(end); have < end {
			return 0, orSize(err)
		}
		return a.t.ReadAt(p, off)
	}
	have, err := a.in.reach(-1)
	if err != nil || have != a.size {
		return 0, orSize(err)
	}
	if off >= have {
		return 0, io.EOF
	}
	n, err := a.t.ReadAt(p[:have-off], off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return n, err
}

func orSize(err error) error {
	if err == nil {
		err = errSize
	}
	return err
}

func (a *ahead) Stat() (fs.FileInfo, error) { return a.t.Stat() }

// Close ends the unpacking, and removes the temporary file.
func (a *ahead) Close() (err error) {
	a.closed.Do(func() {
		a.stop()
		<-a.stopped
		err = a.t.Close()
	})
	return err
}

// Coming reports whether f was given while it was being unpacked: what was read of it counts only
// if Whole has no error.
func (f *File) Coming() bool {
	_, ok := f.content.(*ahead)
	return ok
}

// Whole waits until all of f is unpacked and checked, and gives f; or another file in its place, if
// its content has another size than f.Size. What was read of f is a prefix of that, and its end was
// never read. Either is closed once; a file that is not being unpacked is whole.
//
// Errors: as of Unpack.
func (f *File) Whole() (*File, error) {
	a, ok := f.content.(*ahead)
	if !ok {
		return f, nil
	}
	have, err := a.result()
	if err != nil {
		return nil, err
	}
	if have == f.Size {
		return f, nil
	}
	g := f.packed.unpacked(have, nil)
	g.content = sizedRight{a}
	return g, nil
}

// sizedRight is the whole content of an ahead whose size was another one.
type sizedRight struct{ a *ahead }

func (c sizedRight) ReadAt(p []byte, off int64) (int, error) { return c.a.t.ReadAt(p, off) }
func (c sizedRight) Stat() (fs.FileInfo, error)              { return c.a.Stat() }
func (c sizedRight) Close() error                            { return c.a.Close() }
