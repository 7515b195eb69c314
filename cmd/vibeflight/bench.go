package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
}

const benchLong = `Parse files and say what it took, a line for each run.

seconds         from before the file is opened to the complete table, nothing else
cpu_seconds     user and system time of all threads in the same time
bytes           size of the file; MB/s is bytes / seconds / 1,000,000
rss_anon_peak   highest anonymous resident memory (RssAnon of /proc/self/status), looked at every 20 ms during the run and once
                after it, the table still held; a peak shorter than that may be missed
rss_anon_start  the same before the run

The first run pays for its memory as a fresh process does. Before each other one, outside of the clock, the table of the run before is collected, and its
memory serves again, as in a server. The file may be in the page cache or not: the first run shows that too.`

func newBench(std stdio) *cobra.Command {
	var (
		engines string
		runs    int
		asJSON  bool
		options []string
		parse   limitConfig
	)
	cmd := &cobra.Command{
		Use:   "bench FILE…",
		Short: "Measure how fast files are parsed",
		Long:  benchLong,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUsage("want at least one file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
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
			names, card, err := benchEngines(engines, std.err)
			if err != nil {
				return err
			}
			defer func() { _ = card.close() }() // what was measured is measured
			report := benchTable(std.out)
			if asJSON {
				report = func(r benchRun) error { return writeJSON(std.out, r) }
			}
			for _, file := range files {
				for run := range runs {
					for _, name := range names {
						r, err := bench(cmd.Context(), file, opts, limits, card.only(name))
						if err != nil {
							return err
						}
						r.Run = run + 1
						if err := report(r); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&engines, "engine", "cpu", "engines to measure in turns, separated by commas: cpu, cuda")
	f.IntVar(&runs, "runs", 3, "runs for each file and engine")
	optionFlag(f, &options)
	parse.flags(f)
	f.BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// benchEngines are the engines of a list, and the card if one of them needs it.
func benchEngines(list string, warnings io.Writer) (names []string, card *engines, err error) {
	names = strings.Split(list, ",")
	for _, name := range names {
		if err := oneOf("engine", name, "cpu", "cuda"); err != nil {
			return nil, nil, err
		}
	}
	if slices.Contains(names, "cuda") {
		if card, err = openEngines(all.Formats(), defaultCacheDir(), func(err error) {
			_, _ = fmt.Fprintf(warnings, "vibeflight: a kernel can't be had, so that cuda is measured with cpu's help: %s\n", oneLine(err.Error()))
		}); err != nil {
			return nil, nil, fmt.Errorf("--engine cuda: %w", err)
		}
	}
	return names, card, nil
}

// bench measures one run.
func bench(ctx context.Context, path string, options map[string]any, limits readers.Limits, card *engines) (benchRun, error) {
	format, err := detect(path)
	if err != nil {
		return benchRun{}, err
	}
	opts, err := format.ParseOptions(options)
	if err != nil {
		return benchRun{}, err
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
	src, table, err := read(ctx, format, path, opts, limits, card)
	seconds := time.Since(start).Seconds()
	cpuAfter, cpuErr := cpuTime()
	peak, rssErr := rss.stop()
	if err := firstError(err, cpuErr, rssErr); err != nil {
		return benchRun{}, err
	}
	table.Measure()
	return benchRun{
		File: path, Format: format.Name, Engine: table.Engine, Workers: limits.Workers,
		Bytes: src.Size, Rows: table.Rows, Positions: table.Positions, TableBytes: table.Bytes,
		Seconds: seconds, CPUSeconds: (cpuAfter - cpu).Seconds(), RSSAnonPeak: peak, RSSAnonStart: before,
	}, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// read parses the file at path from its opening to the complete table. The source it gives is closed: its size remains.
func read(ctx context.Context, format readers.Format, path string, opts readers.Options, limits readers.Limits, card *engines) (*source.File, *readers.Table, error) {
	src, err := source.Open(path, path)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	layout, err := format.Open(ctx, src, opts)
	if err != nil {
		return nil, nil, err
	}
	table, err := readers.Read(ctx, format, card.parser(format, layout), src, limits, nil)
	// Asked after an error too: half of one version and half of another make a malformed file.
	if changed := src.Unchanged(); changed != nil {
		return nil, nil, changed
	}
	return src, table, err
}

// benchTable prints runs for people, as they come.
func benchTable(w io.Writer) func(benchRun) error {
	const line = "%-32s %6s %4s %12s %14s %9s %9s %9s %10s\n"
	first := true
	return func(r benchRun) error {
		if first {
			first = false
			if _, err := fmt.Fprintf(w, line, "FILE", "ENGINE", "RUN", "SIZE", "ROWS", "SECONDS", "CPU s", "MB/s", "PEAK RSS"); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, line, oneLine(r.File), r.Engine, strconv.Itoa(r.Run), humanBytes(r.Bytes), humanCount(r.Rows),
			fmt.Sprintf("%.3f", r.Seconds), fmt.Sprintf("%.3f", r.CPUSeconds), fmt.Sprintf("%.1f", float64(r.Bytes)/1e6/r.Seconds),
			humanBytes(r.RSSAnonPeak))
		return err
	}
}
