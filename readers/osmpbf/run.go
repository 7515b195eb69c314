package osmpbf

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// run is one parse of a file.
type run struct {
	parser
	ctx    context.Context
	src    *source.File
	req    readers.Request
	limits readers.Limits
	layer  *layer
	out    *output

	contents sync.Pool // of *blobContents that were added

	blobs   []blob // with objects, in file order
	nodes   nodeIndex
	members []int64 // ways that the relations of the layer have, ascending
	ways    *wayStore
	dropped []int64 // closed ways that are rings of relations, ascending
}

// blob is a blob with objects.
type blob struct {
	frame
	kinds kinds
}

// memoryBytes is how much of the nodes, and of the ways, is in memory instead of on the disk.
const memoryBytes = 32 << 20

// worker is what one goroutine needs to read blobs.
type worker struct {
	*run
	inflater
	block
	objects
	dense
	places []place
	nodes  nodeReader
	lines  lineReader
	shapes shapes
}

// open reads the content of a blob, and the fields of its block.
func (w *worker) open(f frame) error {
	content, err := w.inflater.read(w.src, f)
	if err != nil {
		return err
	}
	if bad := w.block.read(content); bad != nil {
		return blockError(w.src, f, bad)
	}
	return nil
}

// frames returns an iterator over the data blobs of the file, which are found one after the other.
func (r *run) frames() func() (blob, bool, error) {
	all := frames{src: r.src, next: r.file().data}
	return func() (blob, bool, error) {
		for {
			f, ok, err := all.read()
			if err != nil || !ok {
				return blob{}, false, err
			}
			if f.kind == kindData {
				return blob{frame: f}, true, nil
			}
		}
	}
}

// known returns an iterator over the known blobs that have objects of some kinds.
func (r *run) known(k kinds) func() (blob, bool, error) {
	i := 0
	return func() (blob, bool, error) {
		for ; i < len(r.blobs); i++ {
			if r.blobs[i].kinds&k != 0 {
				i++
				return r.blobs[i-1], true, nil
			}
		}
		return blob{}, false, nil
	}
}

// task is a blob that a worker reads.
type task[T any] struct {
	blob  blob
	out   chan T
	err   error
	panic any
}

// each calls work with the blobs, with several workers, and take with what work puts, in the order
// of the blobs. So take, and the first error, are those of one worker.
func each[T any](r *run, next func() (blob, bool, error), work func(w *worker, b blob, put func(T) error) error,
	take func(b blob, v T) error,
) error {
	if r.limits.Workers == 1 {
		w := r.worker()
		defer w.close()
		for {
			b, ok, err := next()
			if err != nil || !ok {
				return err
			}
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if err := work(w, b, func(v T) error { return take(b, v) }); err != nil {
				return err
			}
		}
	}
	return inParallel(r, next, work, take)
}

func inParallel[T any](r *run, next func() (blob, bool, error),
	work func(w *worker, b blob, put func(T) error) error, take func(b blob, v T) error,
) error {
	ctx, cancel := context.WithCancel(r.ctx)
	var group sync.WaitGroup
	ahead := r.limits.Workers + 2
	tasks := make(chan *task[T], ahead)
	defer group.Wait()
	defer close(tasks)
	defer cancel()
	start := func() {
		group.Go(func() {
			w := r.worker()
			defer w.close()
			for t := range tasks {
				if ctx.Err() == nil {
					t.run(ctx, w, work)
				}
				close(t.out)
			}
		})
	}
	var open []*task[T] // in order
	started, over := 0, false
	var failed error // of next: its place is after the open tasks
	for {
		for !over && len(open) < ahead {
			b, ok, err := next()
			if over = err != nil || !ok; over {
				failed = err
				break
			}
			t := &task[T]{blob: b, out: make(chan T, 1)}
			open = append(open, t)
			tasks <- t
			if started < r.limits.Workers {
				started++
				start()
			}
		}
		if len(open) == 0 {
			return failed
		}
		t := open[0]
		open = open[1:]
		for v := range t.out {
			if err := take(t.blob, v); err != nil {
				return err
			}
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if t.panic != nil {
			panic(t.panic)
		}
		if t.err != nil {
			return t.err
		}
	}
}

// run calls work. The goroutine that takes repeats a panic, so that a caller can recover.
func (t *task[T]) run(ctx context.Context, w *worker, work func(w *worker, b blob, put func(T) error) error) {
	defer func() {
		if p := recover(); p != nil {
			t.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	t.err = work(w, t.blob, func(v T) error {
		select {
		case t.out <- v:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// worker returns a new worker.
func (r *run) worker() *worker {
	w := &worker{run: r}
	w.nodes.index = &r.nodes
	w.lines.ways.store = r.ways
	return w
}

func (w *worker) close() { w.inflater.close() }
