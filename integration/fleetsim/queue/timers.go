// Package queue has the two queues of a simulation with discrete events: timers, and stations whose
// jobs share a capacity. Times are seconds since the start of the simulation.
package queue

// Timer is an event at a time. What the kind and the numbers mean is up to the caller.
type Timer struct {
	At   float64
	Kind int32
	ID   int32
}

// Timers is a queue of events, the earliest first: a heap of which each node has four children. The
// zero value is empty. The order of events at the same time is the same in each run.
type Timers struct {
	heap []Timer
}

// Add puts an event into the queue.
func (q *Timers) Add(t Timer) {
	q.heap = append(q.heap, t)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if q.heap[parent].At <= t.At {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = t
}

// Next returns the time of the earliest event, or false if there is none.
func (q *Timers) Next() (at float64, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].At, true
}

// Pop removes the earliest event of a queue that is not empty.
func (q *Timers) Pop() Timer {
	first, last := q.heap[0], len(q.heap)-1
	t := q.heap[last]
	q.heap = q.heap[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= last {
			break
		}
		for c := child + 1; c < min(child+4, last); c++ {
			if q.heap[c].At < q.heap[child].At {
				child = c
			}
		}
		if q.heap[child].At >= t.At {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = t
	return first
}
