package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// rssAnon returns the anonymous resident memory of this process in bytes: heaps and stacks, without
// pages of files (proc(5), RssAnon). Other systems than Linux have no such number: there it is what
// Go has of the system and did not give back.
func rssAnon() (int64, error) {
	const path = "/proc/self/status"
	status, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.Sys - m.HeapReleased), nil
	}
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
