package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// benchRun is one run of bench: one file, one engine.
type benchRun struct {
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

	*readers.EngineCounts // of the GPUs in this run; nil: they had no part in it
}

const benchLong = `Parse files and say what it took, a line for each run.

seconds         from before the file is opened to the complete table, nothing else
cpu_seconds     user and system time of all threads in the same time
bytes           size of the file; MB/s is bytes / seconds / 1,000,000
rss_anon_peak   highest anonymous resident memory (RssAnon of /proc/self/status), looked at every 20 ms during the run and once
                after it, the table still held; a peak shorter than that may be missed
rss_anon_start  the same before the run

With cuda, a second line says how many chunks of the file cards read, and for how long chunks were read, copied and worked on: several are at it at a
time, so that the sum is longer than the run.

chunks          with --engine cuda: runs of rows that the GPUs read
refused         those that they left to the CPU engine, last_refusal says why
refused_rows    their rows
faults          failures of GPUs

With --trace, each run is followed on stderr by its stages: how often each was begun, for how long in all, how many were under way at a time, in the mean
and at most, and for how long none was. A stage that is always under way is what the others wait for.

The first run pays for its memory as a fresh process does. Before each other one, outside of the clock, the table of the run before is collected, and its
memory serves again, as in a server. The file may be in the page cache or not: the first run shows that too.`

func newBench(std stdio) *cobra.Command {
	var (
		engineList string
		runs       int
		asJSON     bool
		options    []string
		columns    []string
		parse      limitConfig
		cards      gpuConfig
		trace      benchTrace
		profile    string
	)
	cmd := &cobra.Command{
		Use:   "bench FILE…",
		Short: "Measure how fast files are parsed",
		Long:  benchLong,
		Example: `  vibeflight bench buildings.geojson
  # what one column costs
  vibeflight bench buildings.geojson --columns height --runs 5 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUsage("want at least one file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) (err error) {
			if runs < 1 {
				return wrongUsage("--runs: %d is less than 1", runs)
			}
			opts, err := parseOptions(options)
			if err != nil {
				return err
			}
			limits, err := parse.limits()
			if err != nil {
				return err
			}
			limits = limits.WithDefaults()
			names, err := benchEngines(engineList)
			if err != nil {
				return err
			}
			if _, err := cards.ordinals(); err != nil {
				return err
			}
			onCards, err := cards.openBench(names, limits, std)
			if err != nil {
				return err
			}
			defer func() { _ = onCards.Close() }() // what was measured is measured
			stop, err := profileTo(profile)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stop()) }()
			report := benchTable(std.out)
			if asJSON {
				report = func(r benchRun) error { return writeJSON(std.out, r) }
			}
			for _, file := range files {
				for run := range runs {
					for _, name := range names {
						r, err := bench(trace.begin(cmd.Context()), file, opts,
							reading{
								formats: all.Formats(), columns: readers.Project(columns), limits: limits,
								unpack: parse.unpacking(),
							}, name, onCards)
						if err != nil {
							return err
						}
						r.Run = run + 1
						if err := report(r); err != nil {
							return err
						}
						if err := trace.sums(std.err); err != nil {
							return err
						}
					}
				}
			}
			return trace.write()
		},
	}
	f := cmd.Flags()
	f.StringVar(&engineList, "engine", "cpu", "engines to measure in turns, separated by commas: cpu, cuda")
	f.StringSliceVar(&columns, "columns", nil,
		"`COLUMNS` to read, separated by commas, as for a ticket with them where there is no cache; all if it is "+
			"left out")
	f.IntVar(&runs, "runs", 3, "runs for each file and engine")
	optionFlag(f, &options)
	settings(f, parse.flags, cards.flags)
	f.BoolVar(&asJSON, "json", false, "print a JSON object a line")
	f.StringVar(&trace.path, "trace", "", "write when each stage of the last run began and ended to this `FILE`, "+
		"for ui.perfetto.dev, and sum the stages of each run up on stderr")
	f.StringVar(&profile, "cpu-profile", "", "profile the CPU over all runs into this `FILE`, for go tool pprof")
	return cmd
}

// benchEngines are the engines of a list.
func benchEngines(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for _, name := range names {
		if err := oneOf("engine", name, engines.CPU, engines.CUDA); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// openBench opens the cards if one of the engines needs them.
func (c *gpuConfig) openBench(names []string, limits readers.Limits, std stdio) (*engines.Engines, error) {
	engine := engines.CPU
	if slices.Contains(names, engines.CUDA) {
		engine = engines.CUDA
	}
	log, err := newLog(std.err, "warn", "auto")
	if err != nil {
		return nil, err
	}
	e, err := c.openEngines(engine, defaultCacheDir(), limits, log)
	if err != nil {
		return nil, fmt.Errorf("--engine cuda: %w", err)
	}
	return e, nil
}

// bench measures one run.
func bench(ctx context.Context, path string, options map[string]any, how reading, name string,
	cards *engines.Engines,
) (benchRun, error) {
	format, opts, err := chosen(path, "", options)
	if err != nil {
		return benchRun{}, err
	}
	how.format, how.options = format, opts
	var engine readers.Engine // nil: the CPU engine
	var counted readers.EngineCounts
	if name == engines.CUDA {
		engine = cards.Engine(format.Name)
	}
	how.engine = engine
	if engine != nil {
		counted = engine.Counts()
	}
	runtime.GC()
	before, err := rssAnon()
	if err != nil {
		return benchRun{}, err
	}
	rss := followRSS()
	cpu, err := cpuTime()
	if err != nil {
		return benchRun{}, err
	}
	start := time.Now()
	src, table, err := read(ctx, path, how)
	seconds := time.Since(start).Seconds()
	cpuAfter, cpuErr := cpuTime()
	peak, rssErr := rss.stop()
	if err := firstError(err, cpuErr, rssErr); err != nil {
		return benchRun{}, err
	}
	if err := table.Measure(ctx); err != nil {
		return benchRun{}, err
	}
	r := benchRun{
		File: path, Format: format.Name, Engine: table.Engine, Workers: how.limits.Workers,
		Bytes: src.Size, Rows: table.Rows, Positions: table.Positions, TableBytes: table.Bytes,
		Seconds: seconds, CPUSeconds: (cpuAfter - cpu).Seconds(), RSSAnonPeak: peak, RSSAnonStart: before,
	}
	if engine != nil {
		r.EngineCounts = since(counted, engine.Counts())
	}
	return r, nil
}

// since are the counts of what happened between two looks.
func since(before, after readers.EngineCounts) *readers.EngineCounts {
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

// reading is how read is to read a file.
type reading struct {
	formats readers.Registry
	format  readers.Format
	options readers.Options
	layer   string // "": the first one
	columns readers.Projection
	limits  readers.Limits
	unpack  source.Unpacking
	engine  readers.Engine             // nil: the CPU engine
	opened  func(content *source.File) // is told what is parsed; may be nil
}

// read parses the file at path from its opening to the complete table. The source it gives is
// closed: its size remains.
func read(ctx context.Context, path string, how reading) (*source.File, *readers.Table, error) {
	src, err := source.Open(path, path, how.format.Siblings...)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	table, err := how.read(ctx, src)
	// Asked after an error too: half of one version and half of another make a malformed file.
	if changed := src.Unchanged(); changed != nil {
		return nil, nil, changed
	}
	return src, table, err
}

func (how reading) read(ctx context.Context, src *source.File) (*readers.Table, error) {
	content, err := how.formats.UnpackLayer(ctx, how.format, src, how.layer, how.unpack)
	if err != nil {
		return nil, err
	}
	if content != src {
		defer content.Close()
	}
	if how.opened != nil {
		how.opened(content)
	}
	layout, err := how.format.Open(ctx, content, how.options)
	if err != nil {
		return nil, err
	}
	layout.Layer, layout.Columns = readers.LayerIn(content, how.layer), how.columns
	parser := how.format.CPU
	if how.engine != nil {
		parser = how.engine.Parser
	}
	return readers.Read(ctx, how.format, parser(layout), content, how.limits, nil)
}

// benchTable prints runs for people, as they come.
func benchTable(w io.Writer) func(benchRun) error {
	const line = "%-32s %6s %4s %12s %14s %9s %9s %9s %10s\n"
	first := true
	return func(r benchRun) error {
		if first {
			first = false
			if _, err := fmt.Fprintf(w, line, "FILE", "ENGINE", "RUN", "SIZE", "ROWS", "SECONDS", "CPU s",
				"MB/s", "PEAK RSS"); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, line, oneLine(r.File), r.Engine, strconv.Itoa(r.Run), humanBytes(r.Bytes),
			humanCount(r.Rows),
			fmt.Sprintf("%.3f", r.Seconds), fmt.Sprintf("%.3f", r.CPUSeconds),
			fmt.Sprintf("%.1f", float64(r.Bytes)/1e6/r.Seconds),
			humanBytes(r.RSSAnonPeak))
		n := r.EngineCounts
		if err == nil && n != nil {
			_, err = fmt.Fprintf(w, "  %s chunks, summed: read %.3f s, upload %.3f s, kernels and columns %.3f s\n",
				humanCount(n.Chunks), n.Stages.ReadSeconds,
				n.Stages.UploadSeconds, n.Stages.WorkSeconds)
		}
		if err == nil && n != nil && n.Refused > 0 {
			_, err = fmt.Fprintf(w, "  %s of %s chunks, %s rows, were read by the CPU engine: %s\n",
				humanCount(n.Refused), humanCount(n.Chunks+n.Refused),
				humanCount(n.RefusedRows), oneLine(n.Reason))
		}
		return err
	}
}
