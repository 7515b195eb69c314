package queue

// heap is a heap by time, the earliest value first. Each node has four children, which need fewer
// levels than two. container/heap would allocate for each value.
type heap[T interface{ time() float64 }] []T

func (h *heap[T]) push(v T) {
	all := append(*h, v)
	*h = all
	i := len(all) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if all[parent].time() <= v.time() {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = v
}

// pop removes the earliest value of a heap that is not empty.
func (h *heap[T]) pop() T {
	all := *h
	first, last := all[0], len(all)-1
	v := all[last]
	all = all[:last]
	*h = all
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
			if all[c].time() < all[child].time() {
				child = c
			}
		}
		if all[child].time() >= v.time() {
			break
		}
		all[i] = all[child]
		i = child
	}
	all[i] = v
	return first
}
