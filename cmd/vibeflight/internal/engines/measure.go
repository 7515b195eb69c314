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

// The measured files have several chunks per device. Each is read several times, so that a busy
// moment does not count.
const (
	smallBytes = 24 << 20
	largeBytes = 240 << 20
	rounds     = 3
)

// sampleOf returns the kind of generated file for the measurement of a format; empty: the format is
// not measured, and Auto leaves its files to the CPU engine.
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

// Measure measures the size from which files are parsed on a device, if Auto needs it and it is
// unknown. It takes some seconds, in which the machine should do little else. With a cache folder
// it happens once per machine. It returns early when ctx ends.
func (e *Engines) Measure(ctx context.Context) { e.measure(ctx, smallBytes, largeBytes) }

func (e *Engines) measure(ctx context.Context, small, large int64) {
	if e.cfg.Engine != Auto || len(e.byFormat) == 0 {
		return
	}
	e.warming.Wait() // otherwise the compiler would be measured
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

// measureFile measures a file of about the given size. The engines take turns, and the best time of
// each counts.
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

// sample writes a file, opens it and removes its name, so that it ends with the process. It is in
// the cache folder, which has room for files. A shapefile is a folder of files while it is written.
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

// shapefile is [Engines.sample] for several files.
func (e *Engines) shapefile(ctx context.Context, f readers.Format, spec gen.Spec) (*source.File, error) {
	dir, err := os.MkdirTemp(e.cfg.CacheDir, "sample-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // cache clear removes what remains
	var files []*os.File
	defer func() {
		for _, file := range files {
			_ = file.Close() // its content was read, or is not needed
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
	for _, ext := range f.Siblings { // last use of their names
		if _, err := src.Sibling(ext); err != nil {
			return nil, errors.Join(err, src.Close())
		}
	}
	return src, nil
}
