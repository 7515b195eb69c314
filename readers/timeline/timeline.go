// Package timeline records when the stages of a parse begin and end, to show what a parse waits
// for. When it is not in use, it costs almost nothing.
//
// A parse gets the Timeline of its context and begins stages of it; methods of a nil Timeline do
// nothing.
package timeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Timeline is the stages so far. Its methods may be called from any goroutine, and on nil.
type Timeline struct {
	start time.Time
	mu    sync.Mutex
	spans []span
}

// span is a stage of what is at an offset of the file.
type span struct {
	stage    string
	at       int64
	from, to time.Duration // since the start
}

// New returns a new timeline.
func New() *Timeline { return &Timeline{start: time.Now()} }

type key struct{}

// With returns a context under which parses record their stages.
func (t *Timeline) With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the timeline of a context, or nil.
func Of(ctx context.Context) *Timeline {
	t, _ := ctx.Value(key{}).(*Timeline)
	return t
}

// Begin begins a stage of the item at an offset of the file. It returns the function that ends the
// stage, once, on any goroutine.
func (t *Timeline) Begin(stage string, at int64) (end func()) {
	if t == nil {
		return nothing
	}
	from := time.Since(t.start)
	return func() {
		to := time.Since(t.start)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.spans = append(t.spans, span{stage, at, from, to})
	}
}

func nothing() {}

// Stage is the sum of all spans of one stage.
type Stage struct {
	Name  string
	Times int
	Sum   time.Duration
	Most  int           // maximum number in progress at a time
	Idle  time.Duration // from the first span of the timeline to the last end, while this stage had nothing under way
}

// Stages returns the sums of the stages, in the order in which they first began, and the time from
// the first beginning to the last end.
func (t *Timeline) Stages() (stages []Stage, whole time.Duration) {
	began, ended, of := t.byStage()
	for _, spans := range of {
		s := Stage{Name: spans[0].stage, Times: len(spans), Most: slices.Max(rows(spans)) + 1, Idle: ended - began}
		until := began
		for _, p := range spans {
			s.Sum += p.to - p.from
			s.Idle -= max(0, p.to-max(until, p.from))
			until = max(until, p.to)
		}
		stages = append(stages, s)
	}
	return stages, ended - began
}

// byStage returns the spans of each stage, in the order in which they began.
func (t *Timeline) byStage() (began, ended time.Duration, of [][]span) {
	t.mu.Lock()
	all := slices.Clone(t.spans)
	t.mu.Unlock()
	if len(all) == 0 {
		return 0, 0, nil
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	number := map[string]int{}
	for _, s := range all {
		i, ok := number[s.stage]
		if !ok {
			i = len(of)
			number[s.stage], of = i, append(of, nil)
		}
		of[i] = append(of[i], s)
		ended = max(ended, s.to)
	}
	return all[0].from, ended, of
}

// rows puts spans, in the order of their beginnings, in as few rows as there are of them at a time.
func rows(spans []span) []int {
	in := make([]int, len(spans))
	var until []time.Duration // of each row
	for i, s := range spans {
		row := slices.IndexFunc(until, func(to time.Duration) bool { return to <= s.from })
		if row < 0 {
			row, until = len(until), append(until, 0)
		}
		in[i], until[row] = row, s.to
	}
	return in
}

// event is one of the Trace Event Format, which chrome://tracing and ui.perfetto.dev show.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Begin float64        `json:"ts"` // in microseconds
	Took  float64        `json:"dur,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Write writes the timeline as JSON of the Trace Event Format: a group of rows for each stage, as
// many as there were at a time. A span is called as what it is about, so that a chunk has one
// colour in all stages.
func (t *Timeline) Write(w io.Writer) error {
	_, _, of := t.byStage()
	events := []event{}
	for pid, spans := range of {
		events = append(events,
			event{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": spans[0].stage}},
			event{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": pid}})
		for i, row := range rows(spans) {
			s := spans[i]
			events = append(events, event{
				Name: fmt.Sprintf("byte %d", s.at), Phase: "X", PID: pid, TID: row, Begin: micros(s.from),
				Took: micros(s.to - s.from),
			})
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"})
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
