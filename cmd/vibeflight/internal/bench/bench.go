// Package bench measures parses: the time, CPU time and memory of a run, and its stages.
package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/internal/system/process"
	"github.com/vibeflight/vibeflight/readers"
)

// Run is a run of bench: one file, one engine.
type Run struct {
	File         string  `json:"file"`
	Format       string  `json:"format"`
	Engine       string  `json:"engine"`
	Workers      int     `json:"workers"`
	Run          int     `json:"run"` // from 1
	Bytes        int64   `json:"bytes"`
	Rows         int64   `json:"rows"`
	Positions    int64   `json:"positions"`
	TableBytes   int64   `json:"table_bytes"`
	Seconds      float64 `json:"seconds"`
	CPUSeconds   float64 `json:"cpu_seconds"` // user and system, of all threads
	RSSAnonPeak  int64   `json:"rss_anon_peak"`
	RSSAnonStart int64   `json:"rss_anon_start"` // before the run

	*readers.EngineCounts // of the GPUs in this run; nil: not used
}

// Measure measures one run over FILE or FILE#LAYER.
func Measure(ctx context.Context, name string, options map[string]any, how localfile.Reader, engineName string,
	devices *engines.Engines,
) (Run, error) {
	path, layer := localfile.SplitLayer(name)
	format, opts, err := localfile.Choose(ctx, path, "", options)
	if err != nil {
		return Run{}, err
	}
	how.Format, how.Options, how.Layer = format, opts, layer
	var engine readers.Engine // nil: the CPU engine
	var counted readers.EngineCounts
	if engineName == engines.CUDA {
		engine = devices.Engine(format.Name)
	}
	how.Engine = engine
	if engine != nil {
		counted = engine.Counts()
	}
	runtime.GC()
	before, err := rssAnon()
	if err != nil {
		return Run{}, err
	}
	rss := followRSS()
	cpu, err := process.CPUTime()
	if err != nil {
		return Run{}, err
	}
	start := time.Now()
	src, table, err := localfile.Read(ctx, path, how)
	seconds := time.Since(start).Seconds()
	cpuAfter, cpuErr := process.CPUTime()
	peak, rssErr := rss.stop()
	if err := firstError(err, cpuErr, rssErr); err != nil {
		return Run{}, err
	}
	if err := table.Measure(ctx); err != nil {
		return Run{}, err
	}
	r := Run{
		File: name, Format: format.Name, Engine: table.Engine, Workers: how.Limits.Workers,
		Bytes: src.AllBytes(), Rows: table.Rows, Positions: table.Positions, TableBytes: table.Bytes,
		Seconds: seconds, CPUSeconds: (cpuAfter - cpu).Seconds(), RSSAnonPeak: peak, RSSAnonStart: before,
	}
	if engine != nil {
		r.EngineCounts = countsSince(counted, engine.Counts())
	}
	return r, nil
}

// countsSince returns the difference of two counts.
func countsSince(before, after readers.EngineCounts) *readers.EngineCounts {
	n := readers.EngineCounts{
		Chunks: after.Chunks - before.Chunks, Refused: after.Refused - before.Refused,
		RefusedRows: after.RefusedRows - before.RefusedRows,
		Faults:      after.Faults - before.Faults,
		Stages: readers.Stages{
			ReadSeconds:   after.Stages.ReadSeconds - before.Stages.ReadSeconds,
			UploadSeconds: after.Stages.UploadSeconds - before.Stages.UploadSeconds,
			WorkSeconds:   after.Stages.WorkSeconds - before.Stages.WorkSeconds,
		},
	}
	if n.Refused > 0 {
		n.Reason = after.Reason
	}
	return &n
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Table prints runs as a table, as they come.
func Table(w io.Writer) func(Run) error {
	const line = "%-32s %6s %4s %12s %14s %9s %9s %9s %10s\n"
	first := true
	return func(r Run) error {
		if first {
			first = false
			if _, err := fmt.Fprintf(w, line, "FILE", "ENGINE", "RUN", "SIZE", "ROWS", "SECONDS", "CPU s",
				"MB/s", "PEAK RSS"); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, line, output.OneLine(r.File), r.Engine, strconv.Itoa(r.Run), units.Bytes(r.Bytes),
			units.Count(r.Rows),
			fmt.Sprintf("%.3f", r.Seconds), fmt.Sprintf("%.3f", r.CPUSeconds),
			fmt.Sprintf("%.1f", float64(r.Bytes)/1e6/r.Seconds),
			units.Bytes(r.RSSAnonPeak))
		n := r.EngineCounts
		if err == nil && n != nil {
			_, err = fmt.Fprintf(w, "  %s chunks, summed: read %.3f s, upload %.3f s, kernels and columns %.3f s\n",
				units.Count(n.Chunks), n.Stages.ReadSeconds,
				n.Stages.UploadSeconds, n.Stages.WorkSeconds)
		}
		if err == nil && n != nil && n.Refused > 0 {
			_, err = fmt.Fprintf(w, "  %s of %s chunks, %s rows, were read by the CPU engine: %s\n",
				units.Count(n.Refused), units.Count(n.Chunks+n.Refused),
				units.Count(n.RefusedRows), output.OneLine(n.Reason))
		}
		return err
	}
}
