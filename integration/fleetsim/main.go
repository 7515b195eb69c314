// Command fleetsim simulates a fleet of servers with a shared catalog and a shared cache:
//
//	go run ./integration/fleetsim -replicas 1,2,4 -placement random,rendezvous [FILE.json ...]
//
// Its parameters are those of figures.json, most of which were measured. Each file on the command line
// replaces the values that it has. The same seed gives the same result. With -compare it simulates
// the fleets that integration/bench/fleets.py has measured, and fails if a prediction is wrong.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/integration/fleetsim/model"
)

//go:embed figures.json
var figures []byte

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleetsim:", err)
		os.Exit(1)
	}
}

func run(args []string, out, diagnostics io.Writer) error {
	flags := flag.NewFlagSet("fleetsim", flag.ContinueOnError)
	flags.SetOutput(diagnostics)
	replicas := flags.String("replicas", "", "numbers of replicas, separated by commas")
	placements := flags.String("placement", "", "random, rendezvous or both, separated by a comma")
	seed := flags.Uint64("seed", 0, "of the random numbers; 0 is that of the parameters")
	each := flags.Bool("per-replica", false, "count, warmup, rate and clients of the reads are those of each replica")
	asJSON := flags.Bool("json", false, "print JSON, not a table")
	measured := flags.String("compare", "", "results of integration/bench/fleets.py that are predicted")
	within := flags.Float64("within", 0.15, "the largest difference of a prediction")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *measured != "" {
		return compare(out, *measured, *within, *asJSON)
	}
	base, err := parameters(flags.Args())
	if err != nil {
		return err
	}
	if *seed != 0 {
		base.Seed = *seed
	}
	fleets := []int{base.Replicas}
	if *replicas != "" {
		if fleets, err = numbers(*replicas); err != nil {
			return err
		}
	}
	kinds := []string{base.Placement.Kind}
	if *placements != "" {
		kinds = strings.Split(*placements, ",")
	}
	results, err := simulate(base, fleets, kinds, *each)
	if err != nil {
		return err
	}
	if *asJSON {
		return encode(out, map[string]any{"parameters": base, "per_replica": *each, "runs": results})
	}
	return writeResults(out, results)
}

// simulate runs fleets of several sizes with several kinds of placement. With each, the numbers of reads
// and clients are those of each replica.
func simulate(base model.Config, fleets []int, kinds []string, each bool) (results []model.Result, err error) {
	for _, n := range fleets {
		for _, kind := range kinds {
			c := base
			c.Replicas, c.Placement.Kind = n, kind
			if each {
				r := &c.Reads
				r.Count, r.Warmup, r.Rate, r.Clients = n*r.Count, n*r.Warmup, float64(n)*r.Rate, n*r.Clients
			}
			s, err := model.New(c)
			if err != nil {
				return nil, err
			}
			results = append(results, s.Run())
		}
	}
	return results, nil
}

// parameters returns those of figures.json, with the values of files in place of theirs.
func parameters(files []string) (c model.Config, err error) {
	if err := decode(figures, &c); err != nil {
		return c, fmt.Errorf("figures.json: %w", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return c, err
		}
		if err := decode(text, &c); err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// decode refuses names that the parameters do not have.
func decode(text []byte, c *model.Config) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	return d.Decode(c)
}

func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", " ")
	return e.Encode(v)
}

func numbers(list string) (n []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		i, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("-replicas: %w", err)
		}
		n = append(n, i)
	}
	return n, nil
}
