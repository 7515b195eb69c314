package geojson

import (
	"iter"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// taskSchedule interleaves tasks on one chunk: while one waits for the device, the others queue
// more work, so that one wait serves all of them.
//
//	one     launch, ask ·      look, launch, ask ·      look
//	other   ·       launch, ask ·                launch, ask ·   look
//	host                      wait                         wait
//
// Tasks take turns: only one runs at a time, so that shared state needs no lock.
type taskSchedule struct {
	rest func() // lets the other tasks run until the device was waited for; nil without others
}

// Await waits for all work of the device, including that of other tasks.
func (d *deviceRows) Await() {
	if d.turns.rest == nil {
		d.Work.Await()
	} else {
		d.turns.rest()
	}
}

// together interleaves tasks. A task may interleave others in turn.
func (d *deviceRows) together(tasks ...func()) {
	around := d.turns.rest
	defer func() { d.turns.rest = around }()
	var waiting []func() (struct{}, bool)
	for _, task := range tasks {
		next, stop := iter.Pull(d.paused(task))
		defer stop()
		waiting = append(waiting, next)
	}
	for len(waiting) > 0 {
		waiting = slices.DeleteFunc(waiting, func(next func() (struct{}, bool)) bool {
			_, waits := next()
			return !waits
		})
		d.turns.rest = around
		if len(waiting) > 0 {
			d.Await()
		}
	}
}

// paused returns a task that stops wherever it waits for the device.
func (d *deviceRows) paused(task func()) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		var rest func()
		rest = func() {
			d.Accept(yield(struct{}{}), "another task did not end")
			d.turns.rest = rest
		}
		d.turns.rest = rest
		task()
	}
}

// ask waits for the device and returns the elements of b.
func ask[T any](d *deviceRows, b gpu.Buffer[T]) []T {
	out := device.Result(d.Work, b)
	d.Await()
	return out
}
