//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#include "calls.h"

#cgo noescape vf_launch
#cgo nocallback vf_launch
*/
import "C"

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// kernel is what is known of a function. The driver can say neither its name nor, before CUDA 12.4,
// its parameters.
type kernel struct {
	name   string
	module driver.Module
	known  bool     // whether sizes are
	sizes  []uint32 // of the parameters
}

// kernels of all loaded modules.
type kernels struct {
	mu sync.RWMutex
	of map[driver.Function]kernel
}

func (k *kernels) get(f driver.Function) (kernel, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	found, ok := k.of[f]
	return found, ok
}

func (k *kernels) put(f driver.Function, known kernel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[driver.Function]kernel{}
	}
	k.of[f] = known
}

func (k *kernels) drop(m driver.Module) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for f, known := range k.of {
		if known.module == m {
			delete(k.of, f)
		}
	}
}

// Load takes a CUBIN, or PTX that the driver compiles. The error has what that compiler said.
func (d *device) Load(image []byte) (driver.Module, error) {
	ready, err := loadable(image)
	if err != nil {
		return 0, fmt.Errorf("cuModuleLoadData: %w of %d bytes", err, len(image))
	}
	log := make([]byte, 4096)
	var m C.uintptr_t
	code := C.vf_load(d.ctx(), unsafe.Pointer(&ready[0]), (*C.char)(unsafe.Pointer(&log[0])), C.size_t(len(log)), &m)
	return driver.Module(m), failed(code, "cuModuleLoadData", func() string {
		text, _, _ := bytes.Cut(log, []byte{0})
		detail := fmt.Sprintf("%d bytes", len(image))
		if said := strings.TrimSpace(string(text)); said != "" {
			detail += ", " + said
		}
		return detail
	})
}

// Unload lets the module and its functions go.
func (d *device) Unload(m driver.Module) error {
	d.kernels.drop(m)
	return d.within(func() error {
		return wrapped((*cu.Module)(unsafe.Pointer(&m)).Unload(), "cuModuleUnload", nil)
	})
}

// Function finds a kernel by the name it has in the image, and brings it to the device.
func (d *device) Function(m driver.Module, name string) (driver.Function, error) {
	quoted := func() string { return fmt.Sprintf("%q", name) }
	if strings.IndexByte(name, 0) >= 0 {
		return 0, failed(C.CUDA_ERROR_NOT_FOUND, "cuModuleGetFunction", quoted)
	}
	var found cu.Function
	err := d.within(func() (err error) {
		found, err = (*cu.Module)(unsafe.Pointer(&m)).Function(name)
		return wrapped(err, "cuModuleGetFunction", quoted)
	})
	if err != nil {
		return 0, err
	}
	f := *(*driver.Function)(unsafe.Pointer(&found))
	var sizes [driver.MaxParameters]uint32
	var parameters C.int
	code := C.vf_prepare(d.ctx(), C.uintptr_t(f), (*C.uint32_t)(&sizes[0]), &parameters)
	if err := failed(code, "cuFuncLoad", quoted); err != nil {
		return 0, err
	}
	known := parameters >= 0
	d.kernels.put(f, kernel{name: name, module: m, known: known, sizes: slices.Clone(sizes[:max(0, parameters)])})
	return f, nil
}

// SharedMemory raises what a block of f may have.
func (d *device) SharedMemory(f driver.Function, bytes int) error {
	detail := func() string {
		k, _ := d.kernels.get(f)
		return fmt.Sprintf("%s, %d bytes of shared memory", k.name, bytes)
	}
	if bytes < 0 || bytes > math.MaxInt32 {
		return failed(C.CUDA_ERROR_INVALID_VALUE, "cuFuncSetAttribute", detail)
	}
	return failed(C.vf_shared_memory(d.ctx(), C.uintptr_t(f), C.int(bytes)), "cuFuncSetAttribute", detail)
}

// Resources reports what f takes.
func (d *device) Resources(f driver.Function) (driver.Resources, error) {
	var r driver.Resources
	err := d.within(func() error {
		for _, a := range []struct {
			attribute cu.FunctionAttribute
			value     *int
		}{
			{cu.NumRegs, &r.Registers},
			{cu.LocalSizeBytes, &r.LocalBytes},
			{cu.SharedSizeBytes, &r.SharedBytes},
			{cu.FnMaxThreadsPerBlock, &r.MaxThreads},
		} {
			var err error
			if *a.value, err = (*cu.Function)(unsafe.Pointer(&f)).Attribute(a.attribute); err != nil {
				k, _ := d.kernels.get(f)
				return wrapped(err, "cuFuncGetAttribute", func() string { return k.name })
			}
		}
		return nil
	})
	return r, err
}

// Launch queues f. A shape that no device takes, and arguments that are not as many or as long as
// the function's parameters, are refused before the driver reads them: it trusts the function.
func (d *device) Launch(s driver.Stream, f driver.Function, dim driver.Dim, args driver.Args) error {
	k, known := d.kernels.get(f)
	fits := !k.known || args.Fits(k.sizes)
	detail := func() string {
		text := fmt.Sprintf("%s, grid %d, block %d", k.name, dim.Grid, dim.Block)
		if dim.SharedBytes != 0 {
			text += fmt.Sprintf(", %d bytes of shared memory", dim.SharedBytes)
		}
		switch {
		case !fits && len(k.sizes) != args.Len():
			text += fmt.Sprintf(", %d arguments for %d parameters", args.Len(), len(k.sizes))
		case !fits:
			text += fmt.Sprintf(", arguments of %d bytes for parameters of %d", args.Bytes(), k.sizes)
		}
		return text
	}
	switch {
	case !known:
		return failed(C.CUDA_ERROR_INVALID_HANDLE, "cuLaunchKernel", detail)
	case dim.Grid < 1, dim.Grid > math.MaxInt32, dim.Block < 1, dim.Block > math.MaxInt32,
		dim.SharedBytes < 0, dim.SharedBytes > math.MaxInt32,
		args.Len() > driver.MaxParameters, 8*len(args.Words) > driver.MaxArgumentBytes, !fits:
		return failed(C.CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel", detail)
	}
	code := C.vf_launch(d.ctx(), C.uintptr_t(s), C.uintptr_t(f), C.uint(dim.Grid), C.uint(dim.Block),
		C.uint(dim.SharedBytes),
		(*C.uint64_t)(unsafe.SliceData(args.Words)), (*C.int32_t)(unsafe.SliceData(args.Ends)), C.int(args.Len()))
	return failed(code, "cuLaunchKernel", detail)
}
