package source

import (
	"context"
	"time"
)

// clockTick is longer than the steps in which file systems count time.
const clockTick = 20 * time.Millisecond

// AwaitClockTick waits until a write to the file or to one of its siblings would change its times.
// A file that is written twice within one step of the file system's clock looks unchanged. It
// returns false if ctx has ended.
func AwaitClockTick(ctx context.Context, f *File) bool {
	// One of the times may have been set by a program, even into the future.
	times := []int64{f.Identity.Mtime, f.Identity.Ctime}
	for _, s := range f.Siblings() {
		times = append(times, s.Identity.Mtime, s.Identity.Ctime)
	}
	for _, at := range times {
		age := time.Since(time.Unix(0, at))
		if age < 0 || age >= clockTick {
			continue
		}
		timer := time.NewTimer(clockTick - age)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
	return ctx.Err() == nil
}
