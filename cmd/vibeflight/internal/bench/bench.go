// Package bench measures parses: the time, CPU time and memory of a run, and its stages.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/internal/system/process"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Run is a run of bench: one engine, and one file or several that are parsed at the same time.
type Run struct {
	File         string  `json:"file"`            // of several, the first one
	Files        int     `json:"files,omitempty"` // 0: one
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

// Measure measures one run over files, FILE or FILE#LAYER each, which are parsed at the same time.
func Measure(ctx context.Context, names []string, options map[string]any, how localfile.Reader,
	engineName string, devices *engines.Engines,
) (Run, error) {
	r := Run{File: names[0], Workers: how.Limits.Workers}
	if len(names) > 1 {
		r.Files = len(names)
	}
	parses := make([]*parse, len(names))
	var counted []counter
	for i, name := range names {
		path, layer := localfile.SplitLayer(name)
		format, opts, err := localfile.Choose(ctx, path, "", options)
		if err != nil {
			return Run{}, err
		}
		p := &parse{path: path, how: how}
		p.how.Format, p.how.Options, p.how.Layer = format, opts, layer
		if engineName == engines.CUDA {
			if engine := devices.Engine(format.Name); engine != nil { // nil: the CPU engine
				p.how.Engine = engine
				counted = countOnce(counted, engine)
			}
		}
		parses[i] = p
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
	err = readAll(ctx, parses)
	r.Seconds = time.Since(start).Seconds()
	cpuAfter, cpuErr := process.CPUTime()
	peak, rssErr := rss.stop()
	if err := firstError(err, cpuErr, rssErr); err != nil {
		return Run{}, err
	}
	r.CPUSeconds, r.RSSAnonPeak, r.RSSAnonStart = (cpuAfter - cpu).Seconds(), peak, before
	r.Format, r.Engine = parses[0].how.Format.Name, parses[0].table.Engine
	for _, p := range parses {
		if err := p.table.Measure(ctx); err != nil {
			return Run{}, err
		}
		r.Bytes += p.src.AllBytes()
		r.Rows += p.table.Rows
		r.Positions += p.table.Positions
		r.TableBytes += p.table.Bytes
	}
	for _, c := range counted {
		r.EngineCounts = plus(r.EngineCounts, countsSince(c.before, c.engine.Counts()))
	}
	return r, nil
}

// parse is one file of a run.
type parse struct {
	path  string
	how   localfile.Reader
	src   *source.File
	table *readers.Table
}

// readAll parses files at the same time.
func readAll(ctx context.Context, parses []*parse) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range parses {
		g.Go(func() (err error) {
			p.src, p.table, err = localfile.Read(ctx, p.path, p.how)
			return err
		})
	}
	return g.Wait()
}

// counter is an engine with its counts before a run.
type counter struct {
	engine readers.Engine
	before readers.EngineCounts
}

// countOnce adds an engine that is not in the list.
func countOnce(list []counter, engine readers.Engine) []counter {
	if slices.ContainsFunc(list, func(c counter) bool { return c.engine == engine }) {
		return list
	}
	return append(list, counter{engine, engine.Counts()})
}

// plus returns the sum of two counts, of which the first may be nil.
func plus(a, b *readers.EngineCounts) *readers.EngineCounts {
	if a == nil {
		return b
	}
	sum := *a
	sum.Chunks += b.Chunks
	sum.Refused += b.Refused
	sum.RefusedRows += b.RefusedRows
	sum.Faults += b.Faults
	sum.Stages.ReadSeconds += b.Stages.ReadSeconds
	sum.Stages.UploadSeconds += b.Stages.UploadSeconds
	sum.Stages.WorkSeconds += b.Stages.WorkSeconds
	sum.Reason = cmp.Or(sum.Reason, b.Reason)
	return &sum
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
		name := output.OneLine(r.File)
		if r.Files > 1 {
			name = fmt.Sprintf("%d files", r.Files)
		}
		_, err := fmt.Fprintf(w, line, name, r.Engine, strconv.Itoa(r.Run), units.Bytes(r.Bytes),
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
