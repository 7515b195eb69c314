//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

/*
#include "compile.h"
#include <stdlib.h>
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/vibeflight/vibeflight/gpu/internal/cuda/loader"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Options of every compilation. Multiplications and additions are fused only where a kernel says
// so: a processor that runs the same kernel must come to the same bits.
var compileOptions = []string{"-std=c++17", "--fmad=false"}

// compiler is a loaded NVRTC.
type compiler struct {
	lib     *C.struct_vf_nvrtc
	version string
}

// NVRTC loads the compiler's library from path, or where path is empty from where the dynamic
// loader and CUDA's installers put it: of several versions one that the driver's loads. The error
// has the dynamic loader's words. A library stays loaded as long as the process lives.
func NVRTC(path string) (driver.Compiler, error) {
	candidates := []string{path}
	if path == "" {
		candidates = candidateLibraries(driverMajor())
	}
	var reasons []error
	for _, name := range candidates {
		lib, err := openNVRTC(name)
		if err == nil {
			return &compiler{lib: lib, version: versionOf(lib)}, nil
		}
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("no NVRTC: %w", errors.Join(reasons...))
}

func openNVRTC(name string) (*C.struct_vf_nvrtc, error) {
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	var reason [512]C.char
	lib := C.vf_nvrtc_open(cName, &reason[0], C.size_t(len(reason)))
	if lib == nil {
		return nil, errors.New(C.GoString(&reason[0]))
	}
	return lib, nil
}

// versionOf names the library and the options. NVRTC does not tell its patch release, so the size
// of its file stands for it.
func versionOf(lib *C.struct_vf_nvrtc) string {
	version := fmt.Sprintf("nvrtc %d.%d", lib.major, lib.minor)
	if file, err := os.Stat(C.GoString(&lib.path[0])); err == nil {
		version += fmt.Sprintf(" (%d bytes)", file.Size())
	}
	return version + " " + strings.Join(compileOptions, " ")
}

// driverMajor is the CUDA version of the driver, 0 without one.
func driverMajor() int {
	if err := loader.Open(); err != nil {
		return 0
	}
	return max(cu.Version()/1000, 0)
}

// candidateLibraries lists names of NVRTC in the order to try. A driver refuses the CUBINs of a
// later major version than its own, so those come last; the rest from new to old, each first by its
// name alone.
func candidateLibraries(major int) []string {
	names := []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}
	later := func(name string) bool {
		var of int
		_, err := fmt.Sscanf(name, "libnvrtc.so.%d", &of)
		return err == nil && major > 0 && of > major
	}
	names = slices.Concat(slices.DeleteFunc(slices.Clone(names), later),
		slices.DeleteFunc(names, func(name string) bool { return !later(name) }))
	folders := []string{"/usr/local/cuda/lib64"}
	if self, err := os.Executable(); err == nil {
		folders = append([]string{filepath.Dir(self)}, folders...)
	}
	if more, err := filepath.Glob("/usr/local/cuda-*/lib64"); err == nil { // its only error is a bad pattern
		slices.Reverse(more)
		folders = append(folders, more...)
	}
	var out []string
	for _, name := range names {
		out = append(out, name)
		for _, folder := range folders {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				out = append(out, path)
			}
		}
	}
	return out
}

// Version names the library, its size, and the options.
func (c *compiler) Version() string { return c.version }

// Compile makes a CUBIN for "sm_90" and PTX, without a NUL at its end, for "compute_90".
func (c *compiler) Compile(src driver.Source, arch string) (image []byte, log string, err error) {
	cubin := strings.HasPrefix(arch, "sm_")
	if !cubin && !strings.HasPrefix(arch, "compute_") {
		return nil, "", fmt.Errorf("nvrtc: %s: architecture %q is neither sm_ nor compute_", src.Name, arch)
	}
	if err := withoutNUL(src); err != nil {
		return nil, "", fmt.Errorf("nvrtc: %w", err)
	}
	options := append(slices.Clone(compileOptions), "--gpu-architecture="+arch)
	for _, define := range src.Defines {
		options = append(options, "-D"+define)
	}
	result := c.run(src, options, cubin)
	defer C.free(unsafe.Pointer(result.image))
	defer C.free(unsafe.Pointer(result.log))
	if result.log != nil {
		log = strings.TrimSpace(C.GoString(result.log))
	}
	if result.code != 0 {
		err = &driver.Error{
			Call:   C.GoString(result.call),
			Detail: src.Name + " for " + arch,
			Code:   int(result.code),
			Name:   C.GoString(C.vf_nvrtc_error_name(c.lib, result.code)),
		}
		if log != "" {
			err = fmt.Errorf("%w\n%s", err, log)
		}
		return nil, log, err
	}
	image = unsafe.Slice((*byte)(unsafe.Pointer(result.image)), result.image_bytes)
	if !cubin {
		image = bytes.TrimRight(image, "\x00")
	}
	return bytes.Clone(image), log, nil
}

// run hands a source over to C and compiles it.
func (c *compiler) run(src driver.Source, options []string, cubin bool) C.struct_vf_nvrtc_result {
	var names, texts []string
	for _, name := range slices.Sorted(maps.Keys(src.Headers)) {
		names, texts = append(names, name), append(texts, src.Headers[name])
	}
	var memory cMemory
	defer memory.free()
	source := (*C.struct_vf_nvrtc_source)(memory.take(C.sizeof_struct_vf_nvrtc_source))
	*source = C.struct_vf_nvrtc_source{
		name:         memory.text(src.Name),
		text:         memory.text(src.Text),
		headers:      C.int(len(names)),
		header_names: memory.texts(names),
		header_texts: memory.texts(texts),
		options:      C.int(len(options)),
		option:       memory.texts(options),
	}
	want := C.int(0)
	if cubin {
		want = 1
	}
	return C.vf_nvrtc_compile(c.lib, source, want)
}

// withoutNUL refuses a source that C would cut short.
func withoutNUL(src driver.Source) error {
	texts := append([]string{src.Name, src.Text}, src.Defines...)
	for name, text := range src.Headers {
		texts = append(texts, name, text)
	}
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%s: a NUL in the source, a header or a define", src.Name)
		}
	}
	return nil
}

// cMemory is memory of C's that is freed together.
type cMemory []unsafe.Pointer

func (m *cMemory) take(bytes C.size_t) unsafe.Pointer {
	p := C.calloc(1, bytes)
	*m = append(*m, p)
	return p
}

func (m *cMemory) text(s string) *C.char {
	p := C.CString(s)
	*m = append(*m, unsafe.Pointer(p))
	return p
}

// texts returns an array of strings, NULL for none.
func (m *cMemory) texts(s []string) **C.char {
	if len(s) == 0 {
		return nil
	}
	array := (**C.char)(m.take(C.size_t(len(s)) * C.size_t(unsafe.Sizeof((*C.char)(nil)))))
	slots := unsafe.Slice(array, len(s))
	for i, text := range s {
		slots[i] = m.text(text)
	}
	return array
}

func (m *cMemory) free() {
	for _, p := range *m {
		C.free(p)
	}
}
