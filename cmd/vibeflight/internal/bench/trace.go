package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Trace has the runs of bench note when their stages begin and end, and keeps the last one.
type Trace struct {
	Path string // of what Write gives; "": nobody asks
	line *timeline.Timeline
}

// Begin begins a run.
func (t *Trace) Begin(ctx context.Context) context.Context {
	if t.Path == "" {
		return ctx
	}
	t.line = timeline.New()
	return t.line.With(ctx)
}

// Sums prints what the stages of the run add up to.
func (t *Trace) Sums(w io.Writer) error {
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
			s.Name, units.Count(int64(s.Times)), s.Sum.Seconds(), float64(s.Sum)/float64(max(1, whole)),
			s.Most, s.Idle.Seconds())
		if err != nil {
			return err
		}
	}
	return nil
}

// Write writes the last run.
func (t *Trace) Write() error {
	if t.line == nil {
		return nil
	}
	f, err := os.Create(t.Path)
	if err != nil {
		return err
	}
	return errors.Join(t.line.Write(f), f.Close())
}
