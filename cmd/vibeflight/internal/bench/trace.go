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

// Trace records when the stages of a run begin and end. It keeps the last run.
type Trace struct {
	Path string // of the file that Write writes; "": no trace
	line *timeline.Timeline
}

// Begin starts a run.
func (t *Trace) Begin(ctx context.Context) context.Context {
	if t.Path == "" {
		return ctx
	}
	t.line = timeline.New()
	return t.line.With(ctx)
}

// Sums prints the totals of the run's stages.
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

// Write writes the last run to its file.
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
