// Package kernels is the core of the GPU primitives: the Set, which compiles and loads kernels, the
// Call, which launches them, and the masks and scans that primitives are made of. The primitives
// are in the folders, one for each syntax.
//
// A primitive is a function of a Set and a Stream. It checks the lengths of its buffers, chooses
// grid, block and scratch, and queues its kernels on the stream. It waits for the device only if
// its comment says so. Text and masks stay on the device:
//
//	text    n bytes, 16-byte aligned
//	Mask    one bit per byte of text: bit i%64 of word i/64 belongs to byte i; bits from n on are 0
//
// Files come in chunks. What one chunk must know of the chunks before it is a carry: a buffer of
// one element on the device, zeroed before the first chunk, read and overwritten by each. A zero
// Buffer in its place says that the text is whole.
//
// The same bytes give the same result on every run: no kernel waits for another block, and no
// atomic decides an order.
package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/gpu"
)

// Mask is one bit per byte of text, 64 bytes a word.
type Mask = gpu.Buffer[uint64]

// ColumnsAtOnce is how many columns a launch takes.
const ColumnsAtOnce = 8

// MaxNumberBytes is LONGEST of decimal.cuh: longer numbers are the host's to read.
const MaxNumberBytes = 1024

const (
	WordBytes = 64                // of text a mask word stands for
	Block     = 256               // threads of a block that reads text
	TileBytes = WordBytes * Block // of text such a block reads
	ScanBlock = 1024              // threads of the one block that joins tiles
	maxGrid   = 1<<31 - 1         // blocks of a launch: 35 TB of text in tiles
)

//go:embed *.cu *.cuh */*.cu */*.cuh
var files embed.FS

// Words is the number of mask words for n bytes of text.
func Words(n int) int { return (n + WordBytes - 1) / WordBytes }

// A Set is the primitives on one device. Its methods may be called from any goroutine, each with a
// stream of its own.
type Set struct {
	d        *gpu.Device
	programs map[string]*program // by name of a __global__ function
	variants variants            // of those, with arguments as constants
}

// program is a .cu file, compiled when it is first needed.
type program struct {
	source gpu.Source

	mu      sync.Mutex
	kernels map[string]*gpu.Kernel // nil: not loaded
}

// Load finds the kernels for d. They are compiled when they are first used, or all at once by Warm.
func Load(d *gpu.Device) (*Set, error) {
	sources, err := Sources()
	if err != nil {
		return nil, err
	}
	k := &Set{d: d, programs: map[string]*program{}}
	for _, src := range sources {
		p := &program{source: src}
		for _, name := range entries(src.Text) {
			if k.programs[name] != nil {
				return nil, fmt.Errorf("kernels: %s is in %s and in %s", name, k.programs[name].source.Name, src.Name)
			}
			k.programs[name] = p
		}
	}
	return k, nil
}

// Sources are the .cu files of all folders with the headers that they include, in the order of
// their names. A name is a path from this folder: "json/structure.cu".
func Sources() ([]gpu.Source, error) {
	var sources []gpu.Source
	for _, pattern := range []string{"*.cu", "*/*.cu"} {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			src, err := source(name)
			if err != nil {
				return nil, err
			}
			sources = append(sources, src)
		}
	}
	return sources, nil
}

// source reads a .cu file and what it includes.
func source(name string) (gpu.Source, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return gpu.Source{}, err
	}
	src := gpu.Source{Name: name, Text: string(text), Headers: map[string]string{}}
	for queue := includes(src.Text); len(queue) > 0; queue = queue[1:] {
		if _, ok := src.Headers[queue[0]]; ok {
			continue
		}
		header, err := files.ReadFile(queue[0])
		if err != nil {
			return gpu.Source{}, fmt.Errorf("%s: %w", name, err)
		}
		src.Headers[queue[0]] = string(header)
		queue = append(queue, includes(string(header))...)
	}
	return src, nil
}

// includes are the files that text includes by name.
func includes(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, `#include "`); ok {
			names = append(names, rest[:strings.IndexByte(rest, '"')])
		}
	}
	return names
}

// entry is the head of a __global__ function.
var entry = regexp.MustCompile(`(?m)^KERNEL\s+(?:__launch_bounds__\([^()]*\)\s+)?(\w+)\(`)

// entries are the names of the __global__ functions in text.
func entries(text string) []string {
	var names []string
	for _, found := range entry.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// Names are the names of all kernels, sorted.
func (k *Set) Names() []string {
	names := make([]string, 0, len(k.programs))
	for name := range k.programs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// NamesIn are the names of the kernels of a folder, "json", sorted. "." is the folder of this
// package.
func (k *Set) NamesIn(folder string) []string {
	return slices.DeleteFunc(k.Names(), func(name string) bool {
		return path.Dir(k.programs[name].source.Name) != folder
	})
}

// Launches reports how often each kernel of the .cu files was queued; what was compiled anew with
// constants counts as the kernel that it stands for.
func (k *Set) Launches() map[string]int64 {
	n := make(map[string]int64, len(k.programs))
	for name, p := range k.programs {
		p.mu.Lock()
		if f := p.kernels[name]; f != nil {
			n[name] = f.Launches()
		}
		p.mu.Unlock()
	}
	k.variants.addLaunches(n)
	return n
}

// Device is where the kernels run.
func (k *Set) Device() *gpu.Device { return k.d }

// Warm compiles and loads every kernel, several at once, and gives the first error by the kernels'
// names.
func (k *Set) Warm() error {
	var all sync.WaitGroup
	for _, p := range k.programs {
		all.Go(func() { _, _ = p.load(k.d) }) // asked for again below
	}
	all.Wait()
	for _, name := range k.Names() {
		if _, err := k.kernel(name); err != nil {
			return err
		}
	}
	return nil
}

// load returns the program's kernels. The first call compiles them while others wait. After an error
// the next call tries again.
func (p *program) load(d *gpu.Device) (map[string]*gpu.Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kernels != nil {
		return p.kernels, nil
	}
	built, err := d.Program(p.source)
	if err != nil {
		return nil, err
	}
	loaded := map[string]*gpu.Kernel{}
	for _, name := range entries(p.source.Text) {
		if loaded[name], err = built.Kernel(name); err != nil {
			return nil, err
		}
	}
	p.kernels = loaded
	return loaded, nil
}

// kernel finds a kernel by its name in the .cu files, compiling it if nobody has.
func (k *Set) kernel(name string) (*gpu.Kernel, error) {
	p := k.programs[name]
	if p == nil {
		panic("kernels: no kernel " + name)
	}
	loaded, err := p.load(k.d)
	return loaded[name], err
}
