package gpu

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// ErrNoCompiler says that a kernel was not compiled beforehand and that nothing here compiles it:
// there is no NVRTC.
var ErrNoCompiler = errors.New("no compiler for kernels")

// errClosed is for programs that are asked for too late.
var errClosed = errors.New("the device is closed")

// Source is one translation unit of CUDA C++ and the headers it includes.
type Source = driver.Source

// SourceKey identifies what src compiles to, whatever compiler and architecture: a digest of its
// text, headers and defines in hexadecimal. Its name does not count.
func SourceKey(src Source) string {
	// uncounted, a header's name and text would pass for two defines
	parts := []string{src.Text, strconv.Itoa(len(src.Headers))}
	for _, name := range slices.Sorted(maps.Keys(src.Headers)) {
		parts = append(parts, name, src.Headers[name])
	}
	key := digest(append(parts, src.Defines...)...)
	return hex.EncodeToString(key[:])
}

// digest is the SHA-256 of parts, each after its length, so that what ends one part does not begin
// another.
func digest(parts ...string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part)))) // a hash takes all that it is given
		_, _ = io.WriteString(h, part)
	}
	h.Sum(sum[:0])
	return sum
}

// Origin is where the image of a program was found. Of these the first that has one and whose
// image the driver takes is used.
type Origin string

const (
	FromImages   Origin = "binary"   // Options.Images had one for this architecture
	FromCache    Origin = "cache"    // an earlier run, or another process just now, left it in Options.CacheDir
	FromCompiler Origin = "compiler" // NVRTC made it
	FromPTX      Origin = "PTX"      // Options.Images had PTX, which the driver compiled
)

// ProgramInfo describes how a program came to be loaded.
type ProgramInfo struct {
	Name       string        // of its source
	Origin     Origin        //
	Arch       string        // what the image was made for: "sm_90", "compute_80"
	ImageBytes int           //
	Duration   time.Duration // from being asked for to being loaded, waiting for another process included
	Log        string        // what the compiler had to say, if it was asked
	// what went wrong on the way without harm: a cache that cannot be written, an image that was
	// refused
	Warning error
}

// A Program is a compiled and loaded Source. It lives as long as its device, and its methods may be
// called from any goroutine.
type Program struct {
	drv  driver.Driver
	m    driver.Module
	info ProgramInfo
}

// programs are what a device has compiled and loaded.
type programs struct {
	drv      driver.Driver
	compiler driver.Compiler // nil where there is none
	missing  error           // why not
	images   Images
	cache    *cache // nil: none
	arch     string
	working  chan struct{} // one element for each compilation under way: each takes a core

	busy   sync.WaitGroup // calls of get
	mu     sync.Mutex
	closed bool
	byKey  map[string]*request
	loaded []*Program // in the order they were loaded
}

// request is a program that was asked for. Everybody who asks calls build; the first does it, the
// others wait.
type request struct {
	build func() (*Program, error)
}

func newPrograms(drv driver.Driver, compiler driver.Compiler, o Options) *programs {
	return &programs{
		drv:      drv,
		compiler: compiler,
		images:   o.Images,
		cache:    newCache(o.CacheDir, o.CacheBytes),
		arch:     drv.Info().Arch,
		working:  make(chan struct{}, runtime.NumCPU()),
		byKey:    map[string]*request{},
	}
}

// Program returns src compiled for the device and loaded. A caller that asks for the same source
// again gets the same program, and waits if it is still being made. It is looked for in the images
// that were compiled in, then in the cache, then it is compiled, then PTX that was compiled in is
// tried. Where none of these has it the error wraps ErrNoCompiler, or holds what the compiler said.
// What failed may be asked for again.
func (d *Device) Program(src Source) (*Program, error) { return d.programs.get(src) }

// Programs reports how each program came to be loaded, in that order.
func (d *Device) Programs() []ProgramInfo {
	d.programs.mu.Lock()
	defer d.programs.mu.Unlock()
	infos := make([]ProgramInfo, len(d.programs.loaded))
	for i, p := range d.programs.loaded {
		infos[i] = p.info
	}
	return infos
}

// Info reports how the program came to be loaded.
func (p *Program) Info() ProgramInfo { return p.info }

// Kernel finds a __global__ function that is declared extern "C".
func (p *Program) Kernel(name string) (*Kernel, error) {
	f, err := p.drv.Function(p.m, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.info.Name, err)
	}
	return &Kernel{name: name, drv: p.drv, f: f}, nil
}

// get returns the program of src, from now on the same one for the same source.
func (p *programs) get(src Source) (*Program, error) {
	key := SourceKey(src)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", src.Name, errClosed)
	}
	r := p.byKey[key]
	if r == nil {
		r = &request{build: sync.OnceValues(func() (*Program, error) { return p.build(key, src) })}
		p.byKey[key] = r
	}
	p.busy.Add(1)
	p.mu.Unlock()
	defer p.busy.Done()

	program, err := r.build()
	if err == nil {
		return program, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey[key] == r { // a device without memory may have some later
		delete(p.byKey, key)
	}
	return nil, fmt.Errorf("%s: %w", src.Name, err)
}

// unload gives the modules back, once nobody makes one any more.
func (p *programs) unload() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.busy.Wait()
	var err error
	for _, program := range p.loaded {
		err = errors.Join(err, p.drv.Unload(program.m))
	}
	p.loaded = nil
	return err
}

// keep notes what is to be unloaded at the end.
func (p *programs) keep(program *Program) *Program {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loaded = append(p.loaded, program)
	return program
}
