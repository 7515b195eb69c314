package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/bench"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

const benchLong = `Parse files and print the time and memory of each run, one line per run.

seconds         from before the file is opened to the complete table
cpu_seconds     user and system time of all threads in that time
bytes           size of the file; MB/s is bytes / seconds / 1,000,000
rss_anon_peak   highest anonymous resident memory (RssAnon of /proc/self/status), measured every
                20 ms during the run and once after it, with the table; a shorter peak may be missed
rss_anon_start  the same before the run

With cuda, a second line has the number of chunks that GPUs read, and the time in which chunks were
read, copied and processed. Several chunks are processed at a time, so the sum exceeds the time of
the run.

chunks          with --engine cuda: runs of rows that the GPUs read
refused         those that they left to the CPU engine, for the reason in last_refusal
refused_rows    their rows
faults          failures of GPUs

With --at-a-time, a run parses several files at the same time, and its line has the sums over them,
the time until the last one is complete, and as file the first one.

With --trace, each run is followed by its stages on stderr: how often each was entered, its total
time, how many were active at a time, on average and at most, and for how long none was active. The
others wait for a stage that is always active.

The first run allocates its memory as a new process does. Before each other run, and outside of its
time, the previous table is collected, and its memory is used again, as in a server. The file may be
in the page cache or not, which the first run shows as well.`

func newBench(std output.Stdio) *cobra.Command {
	var (
		engineList string
		runs       int
		asJSON     bool
		options    []string
		columns    []string
		parse      localfile.LimitFlags
		devices    engines.Flags
		trace      bench.Trace
		profile    string
		atATime    int
	)
	cmd := &cobra.Command{
		Use:   "bench FILE[#LAYER]…",
		Short: "Measure how fast files are parsed",
		Long:  benchLong,
		Example: `  vibeflight bench buildings.geojson
  # what one column costs
  vibeflight bench buildings.geojson --columns height --runs 5 --json
  # sixteen files at the same time
  vibeflight bench data/*.geojson --at-a-time 16`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Errorf("want at least one file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) (err error) {
			if runs < 1 {
				return usage.Errorf("--runs: %d is less than 1", runs)
			}
			if atATime < 1 {
				return usage.Errorf("--at-a-time: %d is less than 1", atATime)
			}
			opts, err := localfile.ParseOptions(options)
			if err != nil {
				return err
			}
			limits, err := parse.Limits()
			if err != nil {
				return err
			}
			limits = limits.WithDefaults()
			names, err := benchEngines(engineList)
			if err != nil {
				return err
			}
			if _, err := devices.Ordinals(); err != nil {
				return err
			}
			engineSet, err := openBenchEngines(&devices, names, limits, std)
			if err != nil {
				return err
			}
			defer func() { _ = engineSet.Close() }() // the measurements are complete
			stop, err := bench.Profile(profile)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stop()) }()
			report := bench.Table(std.Out)
			if asJSON {
				report = func(r bench.Run) error { return output.WriteJSON(std.Out, r) }
			}
			for group := range slices.Chunk(files, atATime) {
				for run := range runs {
					for _, name := range names {
						r, err := bench.Measure(trace.Begin(cmd.Context()), group, opts,
							localfile.Reader{
								Formats: all.Formats(), Columns: readers.Project(columns), Limits: limits,
								Unpack: parse.Unpacking(),
							}, name, engineSet)
						if err != nil {
							return err
						}
						r.Run = run + 1
						if err := report(r); err != nil {
							return err
						}
						if err := trace.Sums(std.Err); err != nil {
							return err
						}
					}
				}
			}
			return trace.Write()
		},
	}
	f := cmd.Flags()
	f.StringVar(&engineList, "engine", "cpu", "engines to measure in turns, separated by commas: cpu, cuda")
	f.StringSliceVar(&columns, "columns", nil,
		"`COLUMNS` to read, separated by commas, as for a ticket with them where there is no cache; all if it is "+
			"left out")
	f.IntVar(&runs, "runs", 3, "runs for each file and engine")
	f.IntVar(&atATime, "at-a-time", 1, "how many files a run parses at the same time")
	localfile.OptionFlag(f, &options)
	settings.Add(f, parse.Define, devices.Define)
	f.BoolVar(&asJSON, "json", false, "print a JSON object per line")
	f.StringVar(&trace.Path, "trace", "", "write when each stage of the last run began and ended to this `FILE`, "+
		"for ui.perfetto.dev, and sum the stages of each run up on stderr")
	f.StringVar(&profile, "cpu-profile", "", "profile the CPU over all runs into this `FILE`, for go tool pprof")
	return cmd
}

// benchEngines reads a list of engines.
func benchEngines(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for _, name := range names {
		if err := usage.OneOf("engine", name, engines.CPU, engines.CUDA); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// openBenchEngines opens the devices if one of the engines needs them.
func openBenchEngines(
	c *engines.Flags, names []string, limits readers.Limits, std output.Stdio,
) (*engines.Engines, error) {
	engine := engines.CPU
	if slices.Contains(names, engines.CUDA) {
		engine = engines.CUDA
	}
	log, err := output.NewLog(std.Err, "warn", "auto")
	if err != nil {
		return nil, err
	}
	e, err := c.Open(engine, settings.DefaultCacheDir(), limits, log)
	if err != nil {
		return nil, fmt.Errorf("--engine cuda: %w", err)
	}
	return e, nil
}
