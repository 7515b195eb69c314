package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress draws one line on a terminal about work that lasts: how much is done, how fast, how long
// it will take. Work of less than half a second shows nothing, and so does a stderr that is no
// terminal. A file may be parsed first; then its rows come.
type progress struct {
	out    *os.File
	label  string
	unit   string       // what stands behind an amount: " rows"
	total  atomic.Int64 // 0: unknown
	done   atomic.Int64
	start  time.Time
	parsed atomic.Pointer[func() float64] // how much of the file is parsed, from 0 to 1; nil: not known, or rows come
	first  atomic.Pointer[time.Duration]  // from start to the first amount; nil: there was none

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
	if p.seen() {
		p.wait.Go(p.draw)
	}
	return p
}

// seen reports whether somebody may look.
func (p *progress) seen() bool { return p.out != nil && isTerminal(p.out) }

// parsing says that a file is parsed, and how to ask for the part that is, from 0 to 1. It may be
// called from any goroutine.
func (p *progress) parsing(part func() float64) { p.parsed.Store(&part) }

// set says how much is done, of how much; a total of 0 or less is unknown. It may be called from
// any goroutine.
func (p *progress) set(done, total int64) {
	if p.first.Load() == nil {
		since := time.Since(p.start)
		p.first.CompareAndSwap(nil, &since)
		p.parsed.Store(nil)
	}
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
//	roads.geojson  ███████·········  46% parsed  5s left
//	roads.geojson  ███████·········  46%  120,000 of 260,871 rows  31,000/s  5s left
//	roads.geojson  3s                                              nothing is known of the amount
func (p *progress) line(since time.Duration) string {
	done, total := p.done.Load(), p.total.Load()
	if parsed := p.parsed.Load(); parsed != nil {
		if part := min(1, (*parsed)()); part > 0 {
			left := time.Duration(float64(since) * (1 - part) / part)
			return fmt.Sprintf("%s  %s %3.0f%% parsed  %s left", p.label, bar(part), 100*part, left.Round(time.Second))
		}
	}
	if done <= 0 {
		return fmt.Sprintf("%s  %s", p.label, since.Round(time.Second))
	}
	// What came before the first amount, as a parse, is no part of the rate.
	work := since
	if first := p.first.Load(); first != nil && since-*first >= time.Second {
		work -= *first
	}
	rate := float64(done) / work.Seconds()
	if total <= 0 {
		return fmt.Sprintf("%s  %s%s  %s/s  %s", p.label, humanCount(done), p.unit, humanCount(int64(rate)),
			since.Round(time.Second))
	}
	part := min(1, float64(done)/float64(total))
	left := time.Duration(float64(max(0, total-done)) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s %3.0f%%  %s of %s%s  %s/s  %s left", p.label, bar(part), 100*part,
		humanCount(done), humanCount(total), p.unit, humanCount(int64(rate)), left.Round(time.Second))
}

// bar is a part of 1 as blocks.
func bar(part float64) string {
	full := int(part * barCells)
	return strings.Repeat("█", full) + strings.Repeat("·", barCells-full)
}
