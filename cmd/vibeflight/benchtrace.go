package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vibeflight/vibeflight/readers/timeline"
)

// benchTrace has the runs of bench note when their stages begin and end, and keeps the last one.
type benchTrace struct {
	path string // of what Write gives; "": nobody asks
	line *timeline.Timeline
}

// begin begins a run.
func (t *benchTrace) begin(ctx context.Context) context.Context {
	if t.path == "" {
		return ctx
	}
	t.line = timeline.New()
	return t.line.With(ctx)
}

// sums prints what the stages of the run add up to.
func (t *benchTrace) sums(w io.Writer) error {
	if t.line == nil {
		return nil
	}
	stages, whole := t.line.Stages()
	if _, err := fmt.Fprintf(w, "  %-30s %7s %9s %10s %8s %9s\n", "STAGE", "TIMES", "SUMMED s", "AT A TIME",
		"AT MOST", "NOBODY s"); err != nil {
		return err
	}
	for _, s := range stages {
		_, err := fmt.Fprintf(w, "  %-30s %7s %9.4f %10.2f %8d %9.4f\n",
			s.Name, humanCount(int64(s.Times)), s.Sum.Seconds(), float64(s.Sum)/float64(max(1, whole)),
			s.Most, s.Idle.Seconds())
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes the last run.
func (t *benchTrace) write() error {
	if t.line == nil {
		return nil
	}
	f, err := os.Create(t.path)
	if err != nil {
		return err
	}
	return errors.Join(t.line.Write(f), f.Close())
}
