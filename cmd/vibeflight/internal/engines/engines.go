// Package engines opens the devices of this machine and the formats' engines on them, and decides
// which files they parse.
//
// It knows the file size from which a device is faster here. It measures that once and keeps it in
// the cache folder. It counts and logs the faults of devices. It parses only what it measures with;
// the catalog runs the other parses.
package engines

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/resident"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Values of Config.Engine.
const (
	CPU  = "cpu"  // the CPU engines parse everything
	CUDA = "cuda" // devices parse all files of a format that they can; no device is an error
	Auto = "auto" // devices parse files from the size at which they are faster; no device is not an error
)

// Config is which engines to open. Formats and Engine are required.
type Config struct {
	Formats  readers.Registry
	Engine   string         // CPU, CUDA or Auto
	Devices  []int          // ordinals, from 0, in the driver's order; nil: all (--gpus)
	Memory   int64          // of each device, for all formats; 0: the default of slots.Config (--gpu-memory)
	Tables   int64          // of each device, for tables that clients read there; 0: none (--gpu-tables)
	CacheDir string         // where compiled kernels and the crossover are kept; "": nowhere (--cache-dir)
	Limits   readers.Limits // of the parses that are measured
	Log      zerolog.Logger
}

// Engines are the engines of formats on devices. Any goroutine may call the methods.
type Engines struct {
	cfg      Config
	devices  []openDevice
	slots    *slots.Pool // of the devices, for all formats; nil: no format has an engine
	byFormat map[string]readers.Engine
	faults   faults
	missing  error // why there is no device; nil with devices, and if none was wanted

	warming    sync.WaitGroup
	mu         sync.Mutex
	crossovers map[string]crossover // of the formats in byFormat
}

// openDevice is a device in use.
type openDevice struct {
	device *gpu.Device
	set    *kernels.Set
	name   string
}

// opener finds and opens devices.
type opener struct {
	count func() (int, error)
	open  func(gpu.Options) (*gpu.Device, error)
	slots func([]*kernels.Set, slots.Config) (*slots.Pool, error)
	warm  func(*kernels.Set) error
}

// Open opens the devices. It compiles kernels in the background, or finds them in the cache folder.
// A device that can't be opened is logged and skipped. If none is left, Auto uses the CPU engines,
// and CUDA returns an error, which wraps gpu.ErrNoDevice if there is no device at all. The caller
// closes the engines.
func Open(cfg Config) (*Engines, error) {
	return open(cfg, opener{count: gpu.Count, open: gpu.Open, slots: slots.Open, warm: (*kernels.Set).Warm})
}

func open(cfg Config, m opener) (*Engines, error) {
	e := &Engines{cfg: cfg, byFormat: map[string]readers.Engine{}, crossovers: map[string]crossover{}}
	e.faults.log = cfg.Log
	if cfg.Engine == CPU {
		return e, nil
	}
	e.missing = e.openDevices(m)
	if e.missing == nil {
		e.missing = e.openEngines(m)
	}
	if e.missing != nil {
		err := errors.Join(e.missing, e.Close())
		if cfg.Engine == CUDA {
			return nil, err
		}
		if !errors.Is(err, gpu.ErrNoDevice) { // most machines have none
			cfg.Log.Warn().Err(err).Msg("no GPU can be used")
		}
		return e, nil
	}
	for _, c := range e.devices {
		e.warming.Go(func() {
			if err := m.warm(c.set); err != nil {
				cfg.Log.Warn().Err(err).Str("device",
					c.name).Msg("a kernel can't be had: files that need it are parsed on the CPU")
			}
		})
	}
	return e, nil
}

// openDevices opens the wanted devices, and returns an error if none can be used.
func (e *Engines) openDevices(m opener) error {
	ordinals := e.cfg.Devices
	if ordinals == nil {
		n, err := m.count()
		if err != nil {
			return err
		}
		for i := range n {
			ordinals = append(ordinals, i)
		}
	}
	missing := gpu.ErrNoDevice
	for i, ordinal := range ordinals {
		c, err := e.openOne(m, ordinal)
		if err == nil {
			e.devices = append(e.devices, c)
			continue
		}
		if len(ordinals) > 1 { // otherwise the caller reports it
			e.cfg.Log.Warn().Err(err).Int("gpu", ordinal).Msg("a GPU can't be used and is left out")
		}
		if i == 0 {
			missing = err
		}
	}
	if len(e.devices) > 0 {
		return nil
	}
	return missing
}

func (e *Engines) openOne(m opener, ordinal int) (openDevice, error) {
	// The budget holds whatever an engine does. It is that of all engines together.
	budget := e.cfg.Memory
	if budget == 0 {
		budget = slots.DefaultMemory
	}
	d, err := m.open(gpu.Options{
		Ordinal: ordinal, MemoryBytes: budget, CacheDir: KernelCache(e.cfg.CacheDir),
		Images: kernels.CompiledIn(),
	})
	if err != nil {
		return openDevice{}, err
	}
	k, err := kernels.Load(d)
	if err != nil {
		return openDevice{}, errors.Join(err, d.Close())
	}
	return openDevice{device: d, set: k, name: slots.DeviceName(k)}, nil
}

// Open opens the engine of each format that has one.
func (e *Engines) openEngines(m opener) error {
	if !slices.ContainsFunc(e.cfg.Formats, func(f readers.Format) bool { return f.GPU != nil }) {
		return nil
	}
	sets := make([]*kernels.Set, len(e.devices))
	for i, c := range e.devices {
		sets[i] = c.set
	}
	var err error
	if e.slots, err = m.slots(sets, slots.Config{
		Memory: e.cfg.Memory, Tables: e.cfg.Tables, Fault: e.faults.add,
	}); err != nil {
		return err
	}
	stored := e.storedRecord()
	for _, f := range e.cfg.Formats {
		if f.GPU == nil {
			continue
		}
		e.byFormat[f.Name] = f.GPU(e.slots)
		e.crossovers[f.Name] = crossover{}
		if e.cfg.Engine == Auto {
			e.crossovers[f.Name] = stored.crossover(f)
		}
	}
	return nil
}

// Close closes the devices. No parse may be in progress, and Rehearse and Measure must have
// returned.
func (e *Engines) Close() error {
	e.warming.Wait()
	var err error
	if e.slots != nil {
		err = e.slots.Close()
	}
	for _, c := range e.devices {
		err = errors.Join(err, c.device.Close())
	}
	e.byFormat, e.slots, e.devices = nil, nil, nil
	return err
}

// Tables returns the tables that stay on the devices, or nil.
func (e *Engines) Tables() *resident.Store {
	if e.slots == nil {
		return nil
	}
	return e.slots.Tables()
}

// Engine returns the engine of a format on the devices, or nil.
func (e *Engines) Engine(format string) readers.Engine { return e.byFormat[format] }

// For returns the engine for a file of a format and size; nil means the CPU engine.
func (e *Engines) For(format string, bytes int64) readers.Engine {
	e.mu.Lock()
	w := e.crossovers[format]
	e.mu.Unlock()
	if w.never != "" || bytes < w.from {
		return nil
	}
	return e.byFormat[format]
}

// crossover is which files of a format are parsed on a device.
type crossover struct {
	from  int64  // bytes
	never string // why none is; empty: from applies
}

func (w crossover) String() string {
	switch {
	case w.never != "":
		return "cpu, because " + w.never
	case w.from == 0:
		return "cuda"
	}
	return "cuda from " + mebibytes(w.from) + " on"
}

// mebibytes formats a size, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%.0f MiB", math.Ceil(float64(n)/(1<<20))) }

// Choice describes which engines parse: "cpu", "cuda", "auto: cuda from 112 MiB on".
func (e *Engines) Choice() string {
	if e.cfg.Engine != Auto {
		return e.cfg.Engine
	}
	if e.missing != nil {
		return "auto: " + crossover{never: oneLine(e.missing)}.String()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return "auto: " + choiceOf(e.cfg.Formats, e.crossovers)
}

// choiceOf describes the crossovers. If several formats have an engine, it names each.
func choiceOf(formats readers.Registry, of map[string]crossover) string {
	var parts []string
	for _, f := range formats {
		w, ok := of[f.Name]
		switch {
		case ok && len(of) > 1:
			parts = append(parts, f.Name+": "+w.String())
		case ok:
			parts = append(parts, w.String())
		}
	}
	if len(parts) == 0 {
		return CPU
	}
	return strings.Join(parts, "; ")
}

// OneLine is an error's text without line ends.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Stats returns the current numbers.
func (e *Engines) Stats() catalog.EngineStats {
	s := catalog.EngineStats{
		Choice: e.Choice(), Devices: []catalog.DeviceStats{},
		Formats: map[string]readers.EngineCounts{},
	}
	for _, c := range e.devices {
		d := catalog.DeviceStats{Name: c.name, Arch: c.device.Info().Arch, MemoryBytes: c.device.Info().MemoryBytes}
		d.UsedBytes, d.PeakBytes, _ = c.device.MemoryBytes()
		d.TableBytes, _ = e.Tables().Bytes(c.device)
		d.Faults, d.LastFault = e.faults.count(c.name)
		s.Devices = append(s.Devices, d)
	}
	for name, engine := range e.byFormat {
		s.Formats[name] = engine.Counts()
	}
	return s
}

// Devices returns the names of the devices in use.
func (e *Engines) Devices() []string {
	names := make([]string, len(e.devices))
	for i, c := range e.devices {
		names[i] = c.name
	}
	return names
}

// KernelCache returns the folder for compiled kernels in a cache folder; "" without one.
func KernelCache(cacheDir string) string {
	if cacheDir == "" {
		return ""
	}
	return filepath.Join(cacheDir, "kernels")
}
