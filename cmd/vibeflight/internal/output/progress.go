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

// Progress draws a line on a terminal about long work: its progress, speed and remaining time. It
// shows nothing in the first half second, and nothing if stderr is not a terminal. A file may be
// parsed before its rows are counted.
type Progress struct {
	out    *os.File
	label  string
	unit   string       // follows an amount: " rows"
	total  atomic.Int64 // 0: unknown
	done   atomic.Int64
	start  time.Time
	parsed atomic.Pointer[func() float64] // fraction of the file that is parsed; nil: unknown, or rows are counted
	first  atomic.Pointer[time.Duration]  // from start to the first amount; nil: none yet

	stop chan struct{}
	wait sync.WaitGroup

	notes []string
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// NewProgress starts the clock. The caller calls Close, also after an error.
func NewProgress(out *os.File, label, unit string) *Progress {
	p := &Progress{out: out, label: OneLine(label), unit: unit, start: time.Now(), stop: make(chan struct{})}
	if p.Visible() {
		p.wait.Go(p.draw)
	}
	return p
}

// Visible reports whether the line is shown.
func (p *Progress) Visible() bool { return p.out != nil && IsTerminal(p.out) }

// Parsing shows the parse of a file by its fraction. Any goroutine may call it.
func (p *Progress) Parsing(part func() float64) { p.parsed.Store(&part) }

// Set sets the amount and the total; a total of 0 or less is unknown. Any goroutine may call it.
func (p *Progress) Set(done, total int64) {
	if p.first.Load() == nil {
		since := time.Since(p.start)
		p.first.CompareAndSwap(nil, &since)
		p.parsed.Store(nil)
	}
	p.done.Store(done)
	p.total.Store(total)
}

// Note keeps a sentence about the work for Close.
func (p *Progress) Note(text string) { p.notes = append(p.notes, text) }

// Close removes the line, and prints the notes.
func (p *Progress) Close() {
	close(p.stop)
	p.wait.Wait()
	for _, text := range p.notes {
		_, _ = fmt.Fprintf(p.out, "vibeflight: %s: %s\n", p.label, OneLine(text))
	}
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

// Parsed returns the fraction of the file that is parsed, if it is known.
func (p *Progress) Parsed() (part float64, ok bool) {
	parsed := p.parsed.Load()
	if parsed == nil {
		return 0, false
	}
	return (*parsed)(), true
}

const barCells = 24

// line returns the text after some time:
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
	// The time before the first amount, such as a parse, does not count for the rate.
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

// bar draws a fraction as blocks.
func bar(part float64) string {
	full := int(part * barCells)
	return strings.Repeat("█", full) + strings.Repeat("·", barCells-full)
}
