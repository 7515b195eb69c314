// Package compile compiles kernels for devices that need not be here: the images of a release, and
// the proof that every source compiles for every architecture. It knows sources and architectures,
// and no kernel. What runs a kernel is package gpu.
package compile

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/cuda"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Release lists what a release has images for: the architectures of devices that are sold or
// rented, and PTX for those to come, which their driver compiles.
func Release() []string {
	return []string{"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "compute_80"}
}

// A Compiler makes images. Its methods may be called from any goroutine.
type Compiler struct {
	compiler driver.Compiler
}

// NVRTC loads CUDA's run-time compiler from path, or where path is empty from where the loader and
// CUDA's installers put it. It needs no device and no driver. The error says where it was looked
// for, or that this build has no CUDA.
func NVRTC(path string) (*Compiler, error) {
	compiler, err := cuda.NVRTC(path)
	if err != nil {
		return nil, err
	}
	return &Compiler{compiler}, nil
}

// Version names the compiler.
func (c *Compiler) Version() string { return c.compiler.Version() }

// A Result is one source compiled for one architecture.
type Result struct {
	Source   gpu.Source
	Arch     string
	Image    []byte        // CUBIN, or PTX for compute_...
	Log      string        // what the compiler said: warnings
	Err      error         // what it refused; Image is nil then
	Duration time.Duration // of this compilation, next to the others
}

// All compiles every source for every architecture, on all cores, and gives the results in that
// order: of the first source for each architecture, then of the second. It stops early when ctx
// ends; what was not compiled then has its error.
func (c *Compiler) All(ctx context.Context, sources []gpu.Source, archs []string) []Result {
	results := make([]Result, len(sources)*len(archs))
	jobs := make(chan *Result)
	var workers sync.WaitGroup
	for range min(runtime.NumCPU(), len(results)) {
		workers.Go(func() {
			for r := range jobs {
				c.one(ctx, r)
			}
		})
	}
	for i := range results {
		results[i] = Result{Source: sources[i/len(archs)], Arch: archs[i%len(archs)]}
		jobs <- &results[i]
	}
	close(jobs)
	workers.Wait()
	return results
}

// one fills a result.
func (c *Compiler) one(ctx context.Context, r *Result) {
	if r.Err = ctx.Err(); r.Err != nil {
		return
	}
	start := time.Now()
	r.Image, r.Log, r.Err = c.compiler.Compile(r.Source, r.Arch)
	r.Duration = time.Since(start)
	if r.Err != nil {
		r.Err = fmt.Errorf("%s for %s: %w", r.Source.Name, r.Arch, r.Err)
	}
}

// Key is what gpu finds the image by.
func (r *Result) Key() string { return gpu.SourceKey(r.Source) }

// IsPTX reports whether the image is PTX, which has no resources yet.
func (r *Result) IsPTX() bool { return strings.HasPrefix(r.Arch, "compute_") }
