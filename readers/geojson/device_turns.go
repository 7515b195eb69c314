package geojson

import (
	"iter"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// taskSchedule has tasks on one chunk go side by side: while one waits for the device the others
// give it more to do, so that one wait serves them all.
//
//	one     launch, ask ·      look, launch, ask ·      look
//	other   ·       launch, ask ·                launch, ask ·   look
//	host                      wait                         wait
//
// They take taskSchedule: none runs while another does, and what they share needs no lock.
type taskSchedule struct {
	rest func() // lets the others have their turns, until the device was waited for; nil without others
}

// Await waits for all that the device was given, by the tasks next to this one, too.
func (d *deviceRows) Await() {
	if d.turns.rest == nil {
		d.Work.Await()
	} else {
		d.turns.rest()
	}
}

// together has tasks go side by side. A task may have others do so.
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
			d.Accept(yield(struct{}{}), "a task beside it did not end")
			d.turns.rest = rest
		}
		d.turns.rest = rest
		task()
	}
}

// ask waits for the elements of b.
func ask[T any](d *deviceRows, b gpu.Buffer[T]) []T {
	out := device.Result(d.Work, b)
	d.Await()
	return out
}
