package engines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// What is measured: files that have several chunks of a card each, and so often that a busy moment does not count.
const (
	smallBytes = 24 << 20
	largeBytes = 240 << 20
	rounds     = 3
)

// sampleOf is the kind of generated file that a format is measured with; empty: it is not measured, and Auto leaves its files to the CPU engine.
func sampleOf(format string) string {
	switch format {
	case "geojson":
		return gen.Buildings
	case "csv":
		return gen.PointsCSV
	case "wkt":
		return gen.WKT
	case "dbf":
		return gen.DBF
	case "kml":
		return gen.KML
	case "gml":
		return gen.GML
	}
	return ""
}

// Measure finds out from which size on files are worth a card, if Auto wants to know and does not: some seconds in which the machine should have little
// else to do. It is for once in the life of a machine, if there is a cache folder. It returns early when ctx ends.
func (e *Engines) Measure(ctx context.Context) { e.measure(ctx, smallBytes, largeBytes) }

func (e *Engines) measure(ctx context.Context, small, large int64) {
	if e.cfg.Engine != Auto || len(e.byFormat) == 0 {
		return
	}
	e.warming.Wait() // else the compiler is measured
	stored, learned := e.stored(), false
	for _, f := range e.cfg.Formats {
		engine, kind := e.byFormat[f.Name], sampleOf(f.Name)
		if engine == nil || kind == "" || stored.worth(f).never != notMeasured {
			continue
		}
		m, err := e.measureFormat(ctx, f, engine, kind, small, large)
		if ctx.Err() != nil {
			return
		}
		w := worth{}
		if err != nil {
			w.never = "its crossover can't be measured: " + oneLine(err)
			e.cfg.Log.Warn().Err(err).Str("format", f.Name).Msg("the crossover can't be measured: the CPU engine parses all files")
		} else {
			w = m.worth()
			stored.Formats[f.Name], learned = formatTime{f.Version, m}, true
		}
		e.mu.Lock()
		e.worth[f.Name] = w
		e.mu.Unlock()
		if err == nil {
			e.cfg.Log.Info().Str("format", f.Name).Str("engine", e.Choice()).Msg("the crossover is measured")
		}
	}
	if learned && e.cfg.CacheDir != "" {
		if err := stored.write(e.cfg.CacheDir); err != nil {
			e.cfg.Log.Warn().Err(err).Msg("the crossover can't be kept: it is measured again after the next start")
		}
	}
}

// measureFormat measures a format with two generated files of a kind.
func (e *Engines) measureFormat(ctx context.Context, f readers.Format, engine readers.Engine, kind string, small, large int64) (m measured, err error) {
	if m.Small, err = e.measureFile(ctx, f, engine, kind, small); err == nil {
		m.Large, err = e.measureFile(ctx, f, engine, kind, large)
	}
	if err == nil {
		err = m.check()
	}
	return m, err
}

// measureFile measures a file of about so many bytes. The engines take turns; the best time of each counts.
func (e *Engines) measureFile(ctx context.Context, f readers.Format, engine readers.Engine, kind string, bytes int64) (times, error) {
	file, err := e.sample(ctx, kind, bytes)
	if err != nil {
		return times{}, err
	}
	defer file.Close()
	before := engine.Counts()
	t := times{CPUSeconds: math.Inf(1), CUDASeconds: math.Inf(1)}
	for range rounds {
		for _, run := range []struct {
			parser func(readers.Layout) readers.Parser
			best   *float64
		}{{f.CPU, &t.CPUSeconds}, {engine.Parser, &t.CUDASeconds}} {
			bytes, took, err := e.parse(ctx, f, file, run.parser)
			if err != nil {
				return times{}, err
			}
			t.Bytes, *run.best = bytes, min(*run.best, took.Seconds())
		}
	}
	switch after := engine.Counts(); {
	case after.Faults > before.Faults:
		return times{}, errors.New("a GPU failed meanwhile")
	case after.Chunks == before.Chunks && after.Reason != "":
		return times{}, fmt.Errorf("the GPU read nothing: %s", after.Reason)
	case after.Chunks == before.Chunks:
		return times{}, errors.New("the GPU read nothing")
	}
	return t, nil
}

// parse reads a file from its opening to the complete table.
func (e *Engines) parse(ctx context.Context, f readers.Format, file *os.File, parser func(readers.Layout) readers.Parser) (bytes int64, took time.Duration, err error) {
	began := time.Now()
	src, err := source.Open("sample", fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return 0, 0, err
	}
	defer src.Close()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		return 0, 0, err
	}
	layout, err := f.Open(ctx, src, opts)
	if err != nil {
		return 0, 0, err
	}
	_, err = readers.Read(ctx, f, parser(layout), src, e.cfg.Limits, nil)
	return src.Size, time.Since(began), err
}

// sample writes a file without a name: nothing of it stays, however the process ends. It lies beside the tables, where there is room for files.
func (e *Engines) sample(ctx context.Context, kind string, bytes int64) (*os.File, error) {
	if e.cfg.CacheDir != "" {
		if err := os.MkdirAll(e.cfg.CacheDir, 0o700); err != nil {
			return nil, err
		}
	}
	file, err := os.CreateTemp(e.cfg.CacheDir, "sample-*")
	if err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	if err == nil {
		w := bufio.NewWriterSize(file, 1<<20)
		err = gen.Write(ctx, w, gen.Spec{Kind: kind, Features: gen.FeaturesFor(kind, bytes), Seed: 1})
		err = errors.Join(err, w.Flush())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
