package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress draws one line on a terminal about work that lasts: how much is done, how fast, how long it will take. Work of
// less than half a second shows nothing, and so does a stderr that is no terminal.
type progress struct {
	out   *os.File
	label string
	unit  string       // what stands behind an amount: " rows"
	total atomic.Int64 // 0: unknown
	done  atomic.Int64
	start time.Time

	stop chan struct{}
	wait sync.WaitGroup
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// newProgress starts the clock. The caller calls close, also after an error.
func newProgress(out *os.File, label, unit string) *progress {
	p := &progress{out: out, label: oneLine(label), unit: unit, start: time.Now(), stop: make(chan struct{})}
	if isTerminal(out) {
		p.wait.Go(p.draw)
	}
	return p
}

// set says how much is done, of how much; a total of 0 or less is unknown. It may be called from any goroutine.
func (p *progress) set(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// close takes the line away.
func (p *progress) close() {
	close(p.stop)
	p.wait.Wait()
}

func (p *progress) draw() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	shown := false
	for {
		select {
		case <-p.stop:
			if shown {
				_, _ = fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-tick.C:
			if since := time.Since(p.start); since >= progressAfter {
				line := p.line(since)
				if w := terminalWidth(p.out); w > 1 {
					line = clip(line, w-1)
				}
				_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", line)
				shown = true
			}
		}
	}
}

const barCells = 24

// line is the text after some time:
//
//	roads.geojson  ███████·········  46%  120,000 of 260,871 rows  31,000/s  5s left
//	roads.geojson  3s                                              nothing is known of the amount
func (p *progress) line(since time.Duration) string {
	done, total := p.done.Load(), p.total.Load()
	if done <= 0 {
		return fmt.Sprintf("%s  %s", p.label, since.Round(time.Second))
	}
	rate := float64(done) / since.Seconds()
	if total <= 0 {
		return fmt.Sprintf("%s  %s%s  %s/s  %s", p.label, humanCount(done), p.unit, humanCount(int64(rate)), since.Round(time.Second))
	}
	part := min(1, float64(done)/float64(total))
	full := int(part * barCells)
	bar := strings.Repeat("█", full) + strings.Repeat("·", barCells-full)
	left := time.Duration(float64(max(0, total-done)) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s %3.0f%%  %s of %s%s  %s/s  %s left", p.label, bar, 100*part,
		humanCount(done), humanCount(total), p.unit, humanCount(int64(rate)), left.Round(time.Second))
}
