package engines

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// slow is a parser that takes its time: so much for a file and so much for a byte of it.
type slow struct {
	start time.Duration
	byte  float64 // nanoseconds
	after func() error
}

func (s slow) Parse(ctx context.Context, src *source.File, _ readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	select {
	case <-time.After(s.start + time.Duration(s.byte*float64(src.Size))):
	case <-ctx.Done():
		return readers.Summary{}, ctx.Err()
	}
	if err := s.after(); err != nil {
		return readers.Summary{}, err
	}
	none := &geoarrow.Columns{Geometry: geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)}
	return readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}, emit(readers.Chunk{Columns: none})
}

// fakeEngine is an engine on devices.
type fakeEngine struct {
	slow
	chunks, faults atomic.Int64
	reason         string // why it reads nothing; empty: it does
}

func (e *fakeEngine) Parser(readers.Layout) readers.Parser {
	s := e.slow
	s.after = func() error {
		if e.reason == "" {
			e.chunks.Add(1)
		}
		if e.slow.after != nil {
			return e.slow.after()
		}
		return nil
	}
	return s
}

func (e *fakeEngine) Counts() readers.EngineCounts {
	return readers.EngineCounts{Chunks: e.chunks.Load(), Faults: e.faults.Load(), Reason: e.reason}
}

// world is engines without devices, whose formats are fakes.
type world struct {
	*Engines
	out    *lines
	dir    string // the cache folder
	engine *fakeEngine
	parses atomic.Int64 // of the CPU engine
}

const cpuByte = 10 // nanoseconds of the CPU engine of a world

func newWorld(t *testing.T, dir string, engine *fakeEngine) *world {
	t.Helper()
	w := &world{out: &lines{}, dir: dir, engine: engine}
	format := readers.Format{
		Name: "geojson", Version: 3,
		Open: func(context.Context, *source.File, readers.Options) (readers.Layout, error) {
			return readers.Layout{}, nil
		},
		CPU: func(readers.Layout) readers.Parser {
			return slow{byte: cpuByte, after: func() error {
				w.parses.Add(1)
				return nil
			}}
		},
		GPU: func(*slots.Pool) readers.Engine { return engine },
	}
	w.Engines = &Engines{
		cfg: Config{
			Formats: readers.Registry{format, {Name: "plain"}}, Engine: Auto, CacheDir: dir,
			Limits: readers.Limits{Workers: 4}, Log: w.out.log(),
		},
		byFormat: map[string]readers.Engine{}, crossovers: map[string]crossover{},
	}
	none := func([]*kernels.Set, slots.Config) (*slots.Pool, error) { return &slots.Pool{}, nil }
	if err := w.openEngines(opener{slots: none}); err != nil {
		t.Fatal(err)
	}
	return w
}

// learn measures with small files.
func (w *world) learn(t *testing.T) { w.measure(t.Context(), 64<<10, 256<<10) }

func (w *world) wantChoice(t *testing.T, want string) {
	t.Helper()
	if got := w.Choice(); got != want {
		t.Errorf("the choice is %q, want %q; logged: %s", got, want, w.out.text.String())
	}
}

const untilMeasured = "auto: cpu, because the crossover is not measured yet"

// TestAutoUsesDevicesFromTheCrossoverOn measures engines whose lines meet at 50 ms / 7.5 ns = 6.4
// MiB.
func TestAutoUsesDevicesFromTheCrossoverOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), &fakeEngine{slow: slow{start: 50 * time.Millisecond, byte: 2.5}})
		w.wantChoice(t, untilMeasured)
		if w.For("geojson", 1<<40) != nil {
			t.Error("a device has a file before anything is known")
		}
		w.learn(t)
		w.wantChoice(t, "auto: cuda from 7 MiB on")
		for _, tt := range []struct {
			format string
			bytes  int64
			device bool
		}{
			{"geojson", 0, false},
			{"geojson", 7<<20 - 1, false},
			{"geojson", 7 << 20, true},
			{"geojson", 1 << 40, true},
			{"plain", 1 << 40, false},
			{"none", 1 << 40, false},
		} {
			if got := w.For(tt.format, tt.bytes); (got != nil) != tt.device {
				t.Errorf("%s of %d bytes: %v, want a device: %v", tt.format, tt.bytes, got, tt.device)
			}
		}
		if n := w.parses.Load(); n != 2*rounds {
			t.Errorf("%d parses by the CPU engine, want %d", n, 2*rounds)
		}
		next := newWorld(t, w.dir, w.engine)
		next.wantChoice(t, "auto: cuda from 7 MiB on")
		next.learn(t)
		if n := next.parses.Load(); n != 0 {
			t.Errorf("%d parses after the next start, want none", n)
		}
		files, err := filepath.Glob(filepath.Join(w.dir, "*"))
		if err != nil || len(files) != 1 {
			t.Errorf("left in the cache folder: %v, %v", files, err)
		}
	})
}

func TestAutoStaysWithTheProcessor(t *testing.T) {
	faulty := &fakeEngine{}
	faulty.after = func() error {
		faulty.faults.Add(1)
		return nil
	}
	tests := []struct {
		name, want string
		engine     *fakeEngine
		kept       bool
	}{
		{"a device that is slower", "the GPU is not faster here", &fakeEngine{slow: slow{byte: 2 * cpuByte}}, true},
		{
			"a device that refuses all", "its crossover can't be measured: the GPU read nothing: no kernel",
			&fakeEngine{reason: "no kernel"}, false,
		},
		{"a device that fails", "its crossover can't be measured: a GPU failed meanwhile", faulty, false},
		{
			"a parse that fails", "its crossover can't be measured: the disk; failed",
			&fakeEngine{slow: slow{after: func() error { return errors.New("the disk\nfailed") }}}, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, t.TempDir(), tt.engine)
				w.learn(t)
				w.wantChoice(t, "auto: cpu, because "+tt.want)
				if w.For("geojson", 1<<40) != nil {
					t.Error("a device has a file")
				}
				if _, err := os.Stat(filepath.Join(w.dir, recordName)); (err == nil) != tt.kept ||
					err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v, want it to be kept: %v", recordName, err, tt.kept)
				}
			})
		})
	}
}

// TestDamagedCrossoverIsMeasuredAgain changes the file that a server left.
func TestDamagedCrossoverIsMeasuredAgain(t *testing.T) {
	replace := func(old, new string) func(text []byte) []byte {
		return func(text []byte) []byte {
			if !bytes.Contains(text, []byte(old)) {
				t.Fatalf("no %s in %s", old, text)
			}
			return bytes.Replace(text, []byte(old), []byte(new), 1)
		}
	}
	tests := []struct {
		name   string
		change func(text []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"cut off", func(text []byte) []byte { return text[:len(text)/2] }},
		{"no JSON", func([]byte) []byte { return []byte("\x00\x01") }},
		{"null", func([]byte) []byte { return []byte("null") }},
		{"no formats", replace(`"formats"`, `"others"`)},
		{"no time", replace(`"cpu_seconds": 0`, `"cpu_seconds": -0`)},
		{"sizes that are equal", replace(`"large": {`, `"large": {}, "gross": {`)},
		{"another version of the parser", replace(`"version": 3`, `"version": 2`)},
		{"another device", replace(`"cards": null`, `"cards": ["NVIDIA H200"]`)},
		{"another driver", replace(`"driver": ""`, `"driver": "CUDA 13.0"`)},
		{"another number of workers", replace(`"workers": 4`, `"workers": 8`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &fakeEngine{slow: slow{start: 50 * time.Millisecond, byte: 2.5}}
				w := newWorld(t, t.TempDir(), engine)
				w.learn(t)
				path := filepath.Join(w.dir, recordName)
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, tt.change(bytes.Clone(text)), 0o600); err != nil {
					t.Fatal(err)
				}
				w = newWorld(t, w.dir, engine)
				w.wantChoice(t, untilMeasured)
				w.learn(t)
				w.wantChoice(t, "auto: cuda from 7 MiB on")
				if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, text) {
					t.Errorf("afterwards %v:\n%s\nwant\n%s", err, again, text)
				}
			})
		})
	}
}

// TestMeasureEndsWithItsContext: a server that is told to stop waits for nothing.
func TestMeasureEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "", &fakeEngine{slow: slow{start: time.Hour}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		w.measure(ctx, 64<<10, 256<<10)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v", took)
		}
		w.wantChoice(t, untilMeasured)
		if got := w.out.entries(t); len(got) != 0 {
			t.Errorf("logged %+v, want nothing", got)
		}
	})
}

// TestCrossoverThatCannotBeKept is used all the same.
func TestCrossoverThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, recordName), 0o700); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, dir, &fakeEngine{slow: slow{start: 50 * time.Millisecond, byte: 2.5}})
		w.learn(t)
		w.wantChoice(t, "auto: cuda from 7 MiB on")
		got := w.out.entries(t)
		if len(got) != 2 || got[1].Level != "warn" ||
			got[1].Message != "the crossover can't be kept: it is measured again after the next start" {
			t.Errorf("logged %+v", got)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
			t.Errorf("left in the cache folder: %v, %v", files, err)
		}
	})
}

// TestAutoLeavesFormatsWithoutFilesToMeasureWith has a second format with an engine on devices:
// nothing is measured of it, and its files are the CPU engine's.
func TestAutoLeavesFormatsWithoutFilesToMeasureWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, other := newWorld(t, t.TempDir(), &fakeEngine{slow: slow{start: 50 * time.Millisecond, byte: 2.5}}),
			&fakeEngine{}
		w.cfg.Formats = append(w.cfg.Formats, readers.Format{Name: "other"})
		w.byFormat["other"], w.crossovers["other"] = other, crossover{never: notMeasured}
		w.learn(t)
		w.wantChoice(t, "auto: geojson: cuda from 7 MiB on; other: cpu, because the crossover is not measured yet")
		if w.For("other", 1<<40) != nil || other.chunks.Load() > 0 || strings.Contains(w.out.text.String(),
			"can't be measured") {
			t.Errorf("a device has the file, or was tried with %d chunks; logged: %s", other.chunks.Load(),
				w.out.text.String())
		}
	})
}

// TestSamples has formats read what they are measured with, by the CPU engine and on the device of
// this test run: a file without a name, of which each chunk is for a device.
func TestSamples(t *testing.T) {
	k := readertest.Kernels(t)
	for _, name := range []string{"geojson", "csv", "wkt", "dbf", "shapefile", "kml", "gml"} {
		t.Run(name, func(t *testing.T) {
			f, ok := all.Formats().ByName(name)
			if !ok {
				t.Fatal("no such format")
			}
			e := &Engines{cfg: Config{CacheDir: t.TempDir()}}
			engine := readertest.NewDeviceOn(t, f,
				slots.Config{Plan: slots.Plan{ChunkBytes: 8 << 10, Slots: 2, Work: 2}}, k)
			m, err := e.measureFormat(t.Context(), f, engine, sampleOf(name), 24<<10, 48<<10)
			if n := engine.Counts(); err != nil || n.Chunks == 0 || n.Refused > 0 {
				t.Fatalf("%v; %d chunks accepted, %d refused: %s", err, n.Chunks, n.Refused, n.Reason)
			}
			for want, got := range map[int64]int64{24 << 10: m.Small.Bytes, 48 << 10: m.Large.Bytes} {
				if name == "shapefile" { // the bytes are those of all its files, the size that of the .shp
					want = want * 200 / 358
				}
				if got < want*3/4 || got > want*5/4 {
					t.Errorf("a file of %d bytes, want some %d", got, want)
				}
			}
		})
	}
}
