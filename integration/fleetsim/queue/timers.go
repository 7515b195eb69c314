// Package queue has the two queues of a simulation with discrete events: timers, and stations whose
// jobs share a capacity. Times are seconds since the start of the simulation.
package queue

// Timer is an event at a time. What the kind and the numbers mean is up to the caller.
type Timer struct {
	At   float64
	Kind int32
	ID   int32
}

func (t Timer) time() float64 { return t.At }

// Timers is a queue of events, the earliest first. The zero value is empty. The order of events at
// the same time is the same in each run.
type Timers struct{ heap heap[Timer] }

// Add puts an event into the queue.
func (q *Timers) Add(t Timer) { q.heap.push(t) }

// Next returns the time of the earliest event, or false if the queue is empty.
func (q *Timers) Next() (at float64, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].At, true
}

// Pop removes the earliest event of a queue that is not empty.
func (q *Timers) Pop() Timer { return q.heap.pop() }
