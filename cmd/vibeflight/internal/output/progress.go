package output

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
)

// Progress draws one line on a terminal about work that lasts: how much is done, how fast, how long
// it will take. Work of less than half a second shows nothing, and so does a stderr that is no
// terminal. A file may be parsed first; then its rows come.
type Progress struct {
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

// NewProgress starts the clock. The caller calls close, also after an error.
func NewProgress(out *os.File, label, unit string) *Progress {
	p := &Progress{out: out, label: OneLine(label), unit: unit, start: time.Now(), stop: make(chan struct{})}
	if p.Visible() {
		p.wait.Go(p.draw)
	}
	return p
}

// Visible reports whether somebody may look.
func (p *Progress) Visible() bool { return p.out != nil && IsTerminal(p.out) }

// Parsing says that a file is parsed, and how to ask for the part that is, from 0 to 1. It may be
// called from any goroutine.
func (p *Progress) Parsing(part func() float64) { p.parsed.Store(&part) }

// Set says how much is done, of how much; a total of 0 or less is unknown. It may be called from
// any goroutine.
func (p *Progress) Set(done, total int64) {
	if p.first.Load() == nil {
		since := time.Since(p.start)
		p.first.CompareAndSwap(nil, &since)
		p.parsed.Store(nil)
	}
	p.done.Store(done)
	p.total.Store(total)
}

// Close takes the line away.
func (p *Progress) Close() {
	close(p.stop)
	p.wait.Wait()
}

func (p *Progress) draw() {
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
				if w := TerminalWidth(p.out); w > 1 {
					line = Clip(line, w-1)
				}
				_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", line)
				shown = true
			}
		}
	}
}

// Parsed is how much of the file is parsed, from 0 to 1, if that is known.
func (p *Progress) Parsed() (part float64, ok bool) {
	parsed := p.parsed.Load()
	if parsed == nil {
		return 0, false
	}
	return (*parsed)(), true
}

const barCells = 24

// line is the text after some time:
//
//	roads.geojson  ███████·········  46% parsed  5s left
//	roads.geojson  ███████·········  46%  120,000 of 260,871 rows  31,000/s  5s left
//	roads.geojson  3s                                              nothing is known of the amount
func (p *Progress) line(since time.Duration) string {
	done, total := p.done.Load(), p.total.Load()
	if part, ok := p.Parsed(); ok {
		if part = min(1, part); part > 0 {
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
		return fmt.Sprintf("%s  %s%s  %s/s  %s", p.label, units.Count(done), p.unit, units.Count(int64(rate)),
			since.Round(time.Second))
	}
	part := min(1, float64(done)/float64(total))
	left := time.Duration(float64(max(0, total-done)) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s %3.0f%%  %s of %s%s  %s/s  %s left", p.label, bar(part), 100*part,
		units.Count(done), units.Count(total), p.unit, units.Count(int64(rate)), left.Round(time.Second))
}

// bar is a part of 1 as blocks.
func bar(part float64) string {
	full := int(part * barCells)
	return strings.Repeat("█", full) + strings.Repeat("·", barCells-full)
}
