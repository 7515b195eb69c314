package tiles

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls f with the numbers below n, in runs, on goroutines 0 to workers-1.
func parallel(ctx context.Context, workers, n, run int, f func(worker, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, workers)
	work := func(k int) {
		for errs[k] == nil {
			to := int(next.Add(int64(run)))
			if to-run >= n {
				return
			}
			if errs[k] = ctx.Err(); errs[k] != nil {
				return
			}
			for i := to - run; i < min(to, n) && errs[k] == nil; i++ {
				errs[k] = f(k, i)
			}
		}
	}
	for k := 1; k < workers && k*run < n; k++ {
		wait.Go(func() { work(k) })
	}
	work(0)
	wait.Wait()
	return cmp.Or(errs...)
}
