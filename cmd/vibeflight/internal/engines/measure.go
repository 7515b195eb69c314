package engines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// What is measured: files that have several chunks of a device each, and so often that a busy moment
// does not count.
const (
	smallBytes = 24 << 20
	largeBytes = 240 << 20
	rounds     = 3
)

// sampleOf is the kind of generated file that a format is measured with; empty: it is not measured,
// and Auto leaves its files to the CPU engine.
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
	case "shapefile":
		return gen.Shapefile
	case "kml":
		return gen.KML
	case "gml":
		return gen.GML
	}
	return ""
}

// Measure finds out from which size on files are worth a device, if Auto wants to know and does not:
// some seconds in which the machine should have little else to do. It is for once in the life of a
// machine, if there is a cache folder. It returns early when ctx ends.
func (e *Engines) Measure(ctx context.Context) { e.measure(ctx, smallBytes, largeBytes) }

func (e *Engines) measure(ctx context.Context, small, large int64) {
	if e.cfg.Engine != Auto || len(e.byFormat) == 0 {
		return
	}
	e.warming.Wait() // else the compiler is measured
	stored, learned := e.storedRecord(), false
	for _, f := range e.cfg.Formats {
		engine, kind := e.byFormat[f.Name], sampleOf(f.Name)
		if engine == nil || kind == "" || stored.crossover(f).never != notMeasured {
			continue
		}
		m, err := e.measureFormat(ctx, f, engine, kind, small, large)
		if ctx.Err() != nil {
			return
		}
		w := crossover{}
		if err != nil {
			w.never = "its crossover can't be measured: " + oneLine(err)
			e.cfg.Log.Warn().Err(err).Str("format",
				f.Name).Msg("the crossover can't be measured: the CPU engine parses all files")
		} else {
			w = m.crossover()
			stored.Formats[f.Name], learned = formatTime{f.Version, m}, true
		}
		e.mu.Lock()
		e.crossovers[f.Name] = w
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
func (e *Engines) measureFormat(ctx context.Context, f readers.Format, engine readers.Engine, kind string,
	small, large int64,
) (m measurement, err error) {
	if m.Small, err = e.measureFile(ctx, f, engine, kind, small); err == nil {
		m.Large, err = e.measureFile(ctx, f, engine, kind, large)
	}
	if err == nil {
		err = m.check()
	}
	return m, err
}

// measureFile measures a file of about so many bytes. The engines take turns; the best time of each
// counts.
func (e *Engines) measureFile(ctx context.Context, f readers.Format, engine readers.Engine, kind string,
	bytes int64,
) (fileTimes, error) {
	src, err := e.sample(ctx, f, kind, bytes)
	if err != nil {
		return fileTimes{}, err
	}
	defer src.Close()
	before := engine.Counts()
	t := fileTimes{CPUSeconds: math.Inf(1), CUDASeconds: math.Inf(1)}
	for range rounds {
		for _, run := range []struct {
			parser func(readers.Layout) readers.Parser
			best   *float64
		}{{f.CPU, &t.CPUSeconds}, {engine.Parser, &t.CUDASeconds}} {
			took, err := e.parse(ctx, f, src, run.parser)
			if err != nil {
				return fileTimes{}, err
			}
			t.Bytes, *run.best = src.Size, min(*run.best, took.Seconds())
		}
	}
	switch after := engine.Counts(); {
	case after.Faults > before.Faults:
		return fileTimes{}, errors.New("a GPU failed meanwhile")
	case after.Chunks == before.Chunks && after.Reason != "":
		return fileTimes{}, fmt.Errorf("the GPU read nothing: %s", after.Reason)
	case after.Chunks == before.Chunks:
		return fileTimes{}, errors.New("the GPU read nothing")
	}
	return t, nil
}

// parse reads a file, from its header to the complete table.
func (e *Engines) parse(ctx context.Context, f readers.Format, src *source.File,
	parser func(readers.Layout) readers.Parser,
) (took time.Duration, err error) {
	began := time.Now()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		return 0, err
	}
	layout, err := f.Open(ctx, src, opts)
	if err != nil {
		return 0, err
	}
	_, err = readers.Read(ctx, f, parser(layout), src, e.cfg.Limits, nil)
	return time.Since(began), err
}

// sample writes a file and opens it; then it has no name any more, and goes with the process. It
// lies beside the tables, where there is room for files. A shapefile is a folder of files while it
// is written.
func (e *Engines) sample(ctx context.Context, f readers.Format, kind string, bytes int64) (*source.File, error) {
	if e.cfg.CacheDir != "" {
		if err := os.MkdirAll(e.cfg.CacheDir, 0o700); err != nil {
			return nil, err
		}
	}
	spec := gen.Spec{Kind: kind, Features: gen.FeaturesFor(kind, bytes), Seed: 1}
	if kind == gen.Shapefile {
		return e.shapefile(ctx, f, spec)
	}
	file, err := os.CreateTemp(e.cfg.CacheDir, "sample-*")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if err := errors.Join(gen.Write(ctx, w, spec), w.Flush()); err != nil {
		return nil, err
	}
	return source.Open("sample", fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
}

// shapefile is sample of several files.
func (e *Engines) shapefile(ctx context.Context, f readers.Format, spec gen.Spec) (*source.File, error) {
	dir, err := os.MkdirTemp(e.cfg.CacheDir, "sample-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // whoever clears the cache folder removes what may be left
	var files []*os.File
	defer func() {
		for _, file := range files {
			_ = file.Close() // what it has is read, or not needed
		}
	}()
	stem := filepath.Join(dir, "sample")
	for _, ext := range []string{".shp", ".shx", ".dbf", ".prj", ".cpg"} {
		file, err := os.Create(stem + ext)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	to := gen.ShapefileFiles{
		SHP: files[0], SHX: files[1], DBF: bufio.NewWriterSize(files[2], 1<<20),
		PRJ: files[3], CPG: files[4],
	}
	if err := errors.Join(gen.WriteShapefile(ctx, to, spec), to.DBF.(*bufio.Writer).Flush()); err != nil {
		return nil, err
	}
	src, err := source.Open("sample.shp", stem+".shp", f.Siblings...)
	if err != nil {
		return nil, err
	}
	for _, ext := range f.Siblings { // the last moment at which they have names
		if _, err := src.Sibling(ext); err != nil {
			return nil, errors.Join(err, src.Close())
		}
	}
	return src, nil
}
