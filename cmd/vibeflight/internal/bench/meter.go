package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process so far, user and system.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// rssAnon returns the anonymous resident memory of this process in bytes: heaps and stacks, without
// pages of files (proc(5), RssAnon).
func rssAnon() (int64, error) {
	const path = "/proc/self/status"
	status, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(status, []byte("\nRssAnon:"))
	text, _, ok2 := bytes.Cut(rest, []byte(" kB\n"))
	if !ok || !ok2 {
		return 0, fmt.Errorf("%s: no line RssAnon", path)
	}
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: RssAnon: %w", path, err)
	}
	return kib << 10, nil
}

// peakEvery is the interval of rssPeak, which may miss a shorter peak. One measurement takes about
// 20 µs.
const peakEvery = 20 * time.Millisecond

// rssPeak finds the maximum of rssAnon.
type rssPeak struct {
	peak int64
	err  error
	quit chan struct{}
	wait sync.WaitGroup
}

// followRSS measures now, and then periodically until stop.
func followRSS() *rssPeak {
	p := &rssPeak{quit: make(chan struct{})}
	p.look()
	p.wait.Go(func() {
		tick := time.NewTicker(peakEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-tick.C:
				p.look()
			}
		}
	})
	return p
}

func (p *rssPeak) look() {
	n, err := rssAnon()
	p.peak = max(p.peak, n)
	if err != nil {
		p.err = err
	}
}

// stop measures a last time, and returns the maximum in bytes.
func (p *rssPeak) stop() (int64, error) {
	close(p.quit)
	p.wait.Wait()
	p.look()
	return p.peak, p.err
}
