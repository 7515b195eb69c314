//go:build linux && cgo

package emu

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "runner.h"
#include "shared.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

type runner C.emu_runner

func (r *runner) free() { C.emu_runner_free((*C.emu_runner)(r)) }

type module struct {
	loaded C.emu_module
	shared map[string]int // static bytes a block, by kernel
}

func (m *module) unload() { C.emu_unload(&m.loaded) }

// find returns a function of the shared object; nil if it has none of that name.
func (m *module) find(name string) *[0]byte {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.emu_find(&m.loaded, text)
}

type kernel struct {
	name    string
	module  driver.Module
	of      *module
	call    *[0]byte // with the addresses of arguments
	sizes   []uint32 // of the parameters
	static  int      // shared memory, bytes a block
	dynamic int      // most dynamic shared memory of a launch, once asked for
	threads int      // most threads of a block
}

// Load checks that the image is whole and was built with this package's headers.
func (d *device) Load(image []byte) (driver.Module, error) {
	object, err := unpackImage(d.digest, image)
	if err != nil {
		return 0, loadError(image, err)
	}
	shared, err := staticShared(object)
	if err != nil {
		return 0, loadError(image, err)
	}
	m := &module{shared: shared}
	var said [512]C.char
	if C.emu_load(&m.loaded, unsafe.Pointer(&object[0]), C.size_t(len(object)), &said[0], C.size_t(len(said))) != 0 {
		return 0, loadError(image, errors.New(C.GoString(&said[0])))
	}
	h, err := newHandle[driver.Module](d, d.modules, m)
	if err != nil {
		m.unload()
	}
	return h, err
}

func (d *device) Unload(h driver.Module) error {
	m, err := lookUp(d, d.modules, h, "module")
	if err != nil {
		return err
	}
	if err := closeHandle(d, d.modules, h, "module"); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for f, k := range d.kernels {
		if k.module == h {
			delete(d.kernels, f)
		}
	}
	m.unload()
	return nil
}

func (d *device) Function(h driver.Module, name string) (driver.Function, error) {
	m, err := lookUp(d, d.modules, h, "module")
	if err != nil {
		return 0, err
	}
	static, ok := m.shared[name]
	if !ok {
		return 0, &driver.Error{Call: "function", Detail: name, Name: "the module has no such kernel"}
	}
	if static > sharedUnasked {
		return 0, &driver.Error{
			Call: "function", Detail: name,
			Name: fmt.Sprintf("%d bytes of static shared memory, more than %d", static, sharedUnasked),
		}
	}
	call, sizes := m.find(callPrefix+name), m.find(sizesPrefix+name)
	if call == nil || sizes == nil {
		return 0, &driver.Error{Call: "function", Detail: name, Name: "the source does not show that it is a kernel"}
	}
	bounds := C.CString(boundsPrefix + name)
	defer C.free(unsafe.Pointer(bounds))
	k := &kernel{name: name, module: h, of: m, static: static, dynamic: sharedUnasked - static, threads: maxBlock}
	k.call = call
	for size := C.emu_sizes(sizes); *size != 0; size = (*C.uint)(unsafe.Add(unsafe.Pointer(size), C.sizeof_uint)) {
		k.sizes = append(k.sizes, uint32(*size))
	}
	if most := int(C.emu_int(&m.loaded, bounds)); most > 0 {
		k.threads = min(k.threads, most)
	}
	return newHandle[driver.Function](d, d.kernels, k)
}

func (d *device) SharedMemory(f driver.Function, bytes int) error {
	k, err := lookUp(d, d.kernels, f, "function")
	if err != nil {
		return err
	}
	if most := sharedBytes - k.static; bytes < 0 || bytes > most {
		return &driver.Error{
			Call: "shared memory", Detail: fmt.Sprintf("%s, %d bytes", k.name, bytes),
			Name: fmt.Sprintf("not within %d", most),
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	k.dynamic = max(k.dynamic, bytes)
	return nil
}

// Resources knows neither registers nor local memory. Static shared memory counts each variable as
// a multiple of 16 bytes.
func (d *device) Resources(f driver.Function) (driver.Resources, error) {
	k, err := lookUp(d, d.kernels, f, "function")
	if err != nil {
		return driver.Resources{}, err
	}
	return driver.Resources{SharedBytes: k.static, MaxThreads: k.threads}, nil
}

func (d *device) Launch(s driver.Stream, f driver.Function, dim driver.Dim, args driver.Args) error {
	return d.do(s, "launch", func() error {
		k, err := lookUp(d, d.kernels, f, "function")
		if err != nil {
			return err
		}
		if err := d.checkLaunch(k, dim, args); err != nil {
			return err
		}
		return d.launch(k, dim, args)
	})
}

func launchError(k *kernel, dim driver.Dim, name string) error {
	detail := fmt.Sprintf("%s, grid %d, block %d, %d bytes shared", k.name, dim.Grid, dim.Block, dim.SharedBytes)
	return &driver.Error{Call: "launch", Detail: detail, Name: name}
}

func (d *device) checkLaunch(k *kernel, dim driver.Dim, args driver.Args) error {
	d.mu.Lock()
	dynamic := k.dynamic
	d.mu.Unlock()
	switch {
	case dim.Grid < 1 || dim.Grid > maxGrid:
		return launchError(k, dim, fmt.Sprintf("a grid has 1 to %d blocks", maxGrid))
	case dim.Block < 1 || dim.Block > k.threads:
		return launchError(k, dim, fmt.Sprintf("a block has 1 to %d threads", k.threads))
	case dim.SharedBytes < 0 || dim.SharedBytes > dynamic:
		return launchError(k, dim, fmt.Sprintf("more dynamic shared memory than %d bytes, which is what was asked for",
			dynamic))
	case args.Len() > driver.MaxParameters || 8*len(args.Words) > driver.MaxArgumentBytes:
		return launchError(k, dim, fmt.Sprintf("%d arguments of %d bytes, at most %d of %d", args.Len(),
			8*len(args.Words), driver.MaxParameters, driver.MaxArgumentBytes))
	case !args.Fits(k.sizes):
		return launchError(k, dim, fmt.Sprintf("arguments of %d bytes for parameters of %d", args.Bytes(), k.sizes))
	}
	return nil
}

func (d *device) launch(k *kernel, dim driver.Dim, args driver.Args) error {
	l := (*C.emu_launch)(C.calloc(1, C.sizeof_emu_launch))
	defer C.free(unsafe.Pointer(l))
	l.kernel = (*C.cudaemu_call)(k.call)
	l.enter = k.of.loaded.enter
	for i, word := range args.Words {
		l.words[i] = C.uint64_t(word)
	}
	for i, next := 0, 0; i < args.Len(); i++ {
		l.args[i] = unsafe.Pointer(&l.words[next])
		next += len(args.At(i))
	}
	l.grid, l.block, l.shared_bytes = C.uint32_t(dim.Grid), C.uint32_t(dim.Block), C.size_t(dim.SharedBytes)
	l.order = C.uint64_t(d.options.Order)

	threads := min(d.options.Threads, dim.Grid)
	runners := make([]*runner, threads)
	for i := range runners {
		r, err := d.takeRunner()
		if err != nil {
			d.giveRunners(runners[:i])
			return launchError(k, dim, err.Error())
		}
		runners[i] = r
	}
	defer d.giveRunners(runners)
	var others sync.WaitGroup
	for _, r := range runners[1:] {
		others.Go(func() { C.emu_run((*C.emu_runner)(r), l) })
	}
	C.emu_run((*C.emu_runner)(runners[0]), l)
	others.Wait()
	if l.failed != 0 {
		return launchError(k, dim, C.GoString(&l.message[0]))
	}
	return nil
}

func (d *device) takeRunner() (*runner, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.runners); n > 0 {
		r := d.runners[n-1]
		d.runners = d.runners[:n-1]
		return r, nil
	}
	r := C.emu_runner_new(sharedBytes, C.bool(d.options.portable))
	if r == nil {
		return nil, errors.New("no memory for the stacks of its threads")
	}
	return (*runner)(r), nil
}

func (d *device) giveRunners(rs []*runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runners = append(d.runners, rs...)
}
