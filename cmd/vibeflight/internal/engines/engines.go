// Package engines opens the cards of this machine, keeps the formats' engines on them, and says
// which files they parse.
//
// It knows how many bytes a file must have to be worth a card here, which it measures once and
// keeps in the cache folder. It counts and logs what cards do wrong. It parses nothing but what it
// measures with: whoever asks it for an engine does.
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
	"github.com/vibeflight/vibeflight/readers/slots"
)

// The values of Config.Engine.
const (
	CPU  = "cpu"  // the CPU engines parse everything
	CUDA = "cuda" // cards parse each file of a format that they can; no card is an error
	Auto = "auto" // cards parse files from a size on at which they are faster here; no card is none
)

// Config says which engines to open. Formats and Engine are needed.
type Config struct {
	Formats  readers.Registry
	Engine   string         // CPU, CUDA or Auto
	Cards    []int          // ordinals, from 0, in the driver's order; nil: all (--gpus)
	Memory   int64          // of each card, for all formats; 0: slots.Config says (--gpu-memory)
	CacheDir string         // where compiled kernels and the crossover outlive the process; "": nowhere (--cache-dir)
	Limits   readers.Limits // of the parses that are measured
	Log      zerolog.Logger
}

// Engines are the engines of formats on cards. The methods may be called from any goroutine.
type Engines struct {
	cfg      Config
	cards    []card
	lanes    *slots.Pool // of the cards, for all formats; nil: no format has an engine
	byFormat map[string]readers.Engine
	faults   faults
	missing  error // why there is no card; nil with cards and where none was wanted

	warming sync.WaitGroup
	mu      sync.Mutex
	worth   map[string]worth // of the formats in byFormat
}

// card is one that is open.
type card struct {
	device *gpu.Device
	set    *kernels.Set
	name   string
}

// machine is what cards are found and opened with.
type machine struct {
	count func() (int, error)
	open  func(gpu.Options) (*gpu.Device, error)
	lanes func([]*kernels.Set, slots.Config) (*slots.Pool, error)
	warm  func(*kernels.Set) error
}

// Open opens the cards. Kernels are compiled in the background, or found in the cache folder. A
// card that can't be opened is logged and left out; with none left Auto is for the CPU engines, and
// CUDA an error, which wraps gpu.ErrNoDevice where there is no card at all. The caller closes the
// engines.
func Open(cfg Config) (*Engines, error) {
	return open(cfg, machine{count: gpu.Count, open: gpu.Open, lanes: slots.Open, warm: (*kernels.Set).Warm})
}

func open(cfg Config, m machine) (*Engines, error) {
	e := &Engines{cfg: cfg, byFormat: map[string]readers.Engine{}, worth: map[string]worth{}}
	e.faults.log = cfg.Log
	if cfg.Engine == CPU {
		return e, nil
	}
	e.missing = e.openCards(m)
	if e.missing == nil {
		e.missing = e.openEngines(m)
	}
	if e.missing != nil {
		err := errors.Join(e.missing, e.Close())
		if cfg.Engine == CUDA {
			return nil, err
		}
		if !errors.Is(err, gpu.ErrNoDevice) { // that is how most machines are
			cfg.Log.Warn().Err(err).Msg("no GPU can be used")
		}
		return e, nil
	}
	for _, c := range e.cards {
		e.warming.Go(func() {
			if err := m.warm(c.set); err != nil {
				cfg.Log.Warn().Err(err).Str("card",
					c.name).Msg("a kernel can't be had: files that need it are parsed on the processor")
			}
		})
	}
	return e, nil
}

// openCards opens the cards that are wanted, and gives an error if none can be used.
func (e *Engines) openCards(m machine) error {
	ordinals := e.cfg.Cards
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
		c, err := e.openCard(m, ordinal)
		if err == nil {
			e.cards = append(e.cards, c)
			continue
		}
		if len(ordinals) > 1 { // else whoever gets the error says it
			e.cfg.Log.Warn().Err(err).Int("gpu", ordinal).Msg("a GPU can't be used and is left out")
		}
		if i == 0 {
			missing = err
		}
	}
	if len(e.cards) > 0 {
		return nil
	}
	return missing
}

func (e *Engines) openCard(m machine, ordinal int) (card, error) {
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
		return card{}, err
	}
	k, err := kernels.Load(d)
	if err != nil {
		return card{}, errors.Join(err, d.Close())
	}
	return card{device: d, set: k, name: slots.DeviceName(k)}, nil
}

// openEngines gives each format that has one its engine on the cards.
func (e *Engines) openEngines(m machine) error {
	if !slices.ContainsFunc(e.cfg.Formats, func(f readers.Format) bool { return f.GPU != nil }) {
		return nil
	}
	sets := make([]*kernels.Set, len(e.cards))
	for i, c := range e.cards {
		sets[i] = c.set
	}
	var err error
	if e.lanes, err = m.lanes(sets, slots.Config{Memory: e.cfg.Memory, Fault: e.faults.add}); err != nil {
		return err
	}
	stored := e.stored()
	for _, f := range e.cfg.Formats {
		if f.GPU == nil {
			continue
		}
		e.byFormat[f.Name] = f.GPU(e.lanes)
		e.worth[f.Name] = worth{}
		if e.cfg.Engine == Auto {
			e.worth[f.Name] = stored.worth(f)
		}
	}
	return nil
}

// Close gives the cards back. No file may be under way, and Rehearse and Measure must have
// returned.
func (e *Engines) Close() error {
	e.warming.Wait()
	var err error
	if e.lanes != nil {
		err = e.lanes.Close()
	}
	for _, c := range e.cards {
		err = errors.Join(err, c.device.Close())
	}
	e.byFormat, e.lanes, e.cards = nil, nil, nil
	return err
}

// Engine gives the engine of a format on the cards, or nil.
func (e *Engines) Engine(format string) readers.Engine { return e.byFormat[format] }

// For gives the engine for a file of a format, of so many bytes, or nil: it is the CPU engine's.
func (e *Engines) For(format string, bytes int64) readers.Engine {
	e.mu.Lock()
	w := e.worth[format]
	e.mu.Unlock()
	if w.never != "" || bytes < w.from {
		return nil
	}
	return e.byFormat[format]
}

// worth says which files of a format are worth a card.
type worth struct {
	from  int64  // bytes
	never string // why none is; empty: from counts
}

func (w worth) String() string {
	switch {
	case w.never != "":
		return "cpu, because " + w.never
	case w.from == 0:
		return "cuda"
	}
	return "cuda from " + mebibytes(w.from) + " on"
}

// mebibytes is a size for people, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%.0f MiB", math.Ceil(float64(n)/(1<<20))) }

// Choice says who parses, for people: "cpu", "cuda", "auto: cuda from 112 MiB on".
func (e *Engines) Choice() string {
	if e.cfg.Engine != Auto {
		return e.cfg.Engine
	}
	if e.missing != nil {
		return "auto: " + worth{never: oneLine(e.missing)}.String()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return "auto: " + choiceOf(e.cfg.Formats, e.worth)
}

// choiceOf says what is worth a card. Where several formats have an engine, each is named.
func choiceOf(formats readers.Registry, of map[string]worth) string {
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

// oneLine is an error's text without line ends.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Stats gives the numbers of this moment.
func (e *Engines) Stats() catalog.EngineStats {
	s := catalog.EngineStats{
		Choice: e.Choice(), Devices: []catalog.DeviceStats{},
		Formats: map[string]readers.EngineCounts{},
	}
	for _, c := range e.cards {
		d := catalog.DeviceStats{Name: c.name, Arch: c.device.Info().Arch, MemoryBytes: c.device.Info().MemoryBytes}
		d.UsedBytes, d.PeakBytes, _ = c.device.MemoryBytes()
		d.Faults, d.LastFault = e.faults.of(c.name)
		s.Devices = append(s.Devices, d)
	}
	for name, engine := range e.byFormat {
		s.Formats[name] = engine.Counts()
	}
	return s
}

// Cards are the names of the cards in use.
func (e *Engines) Cards() []string {
	names := make([]string, len(e.cards))
	for i, c := range e.cards {
		names[i] = c.name
	}
	return names
}

// KernelCache is the folder for compiled kernels in a cache folder, or none without one.
func KernelCache(cacheDir string) string {
	if cacheDir == "" {
		return ""
	}
	return filepath.Join(cacheDir, "kernels")
}
