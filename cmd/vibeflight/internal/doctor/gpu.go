package doctor

import (
	"errors"
	"fmt"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/all"
)

// examineGPUs reports the devices, what runs on them, and what --engine auto chooses.
func (c *Checkup) examineGPUs() []Finding {
	n, err := gpu.Count()
	if err != nil {
		return []Finding{{
			Name: "GPU", Found: err.Error(), Fatal: c.Serve.Engine == "cuda",
			Advice: "files are parsed on the CPU; a GPU needs a build with CUDA (make build), NVIDIA's driver " +
				"and a GPU of compute capability 8.0 or newer",
		}, {Name: "engine", OK: true, Found: engines.Describe(nil, nil, "")}}
	}
	findings := []Finding{c.examineCompiler()}
	meter, err := gpu.OpenMeter()
	if err != nil {
		findings = append(findings, Finding{
			Name: "NVML", Found: err.Error(),
			Advice: "GPUs work without it; their load is not shown",
		})
	} else {
		defer func() { _ = meter.Close() }() // nothing more is asked of it
	}
	var devices []gpu.Info
	for i := range n {
		info, found := c.examineDevice(i, meter)
		findings = append(findings, found...)
		if info != nil {
			devices = append(devices, *info)
		}
	}
	return append(findings, Finding{Name: "engine", OK: true, Found: engines.Describe(all.Formats(), devices,
		settings.CacheDir(c.Serve.CacheDir))})
}

func (c *Checkup) examineCompiler() Finding {
	version, err := gpu.NVRTC(c.NVRTC)
	if err != nil {
		return Finding{
			Name: "NVRTC", Found: err.Error(),
			Advice: "kernels must come compiled, in the binary or in the cache folder; the packages " +
				"nvidia-cuda-nvrtc-cu12 and -cu13 hold the library (--nvrtc PATH)",
		}
	}
	return Finding{Name: "NVRTC", OK: true, Found: version}
}

// examineDevice opens a device, so that it finds what keeps the server from using it. In that case
// the info is nil.
func (c *Checkup) examineDevice(ordinal int, meter *gpu.Meter) (*gpu.Info, []Finding) {
	name := fmt.Sprintf("GPU %d", ordinal)
	d, err := gpu.Open(gpu.Options{
		Ordinal: ordinal, NVRTC: c.NVRTC,
		CacheDir: engines.KernelCache(settings.CacheDir(c.Serve.CacheDir)), Images: kernels.CompiledIn(),
	})
	if err != nil {
		return nil, []Finding{{
			Name: name, Found: err.Error(),
			Advice: "files are parsed on the CPU, or on the other GPUs",
		}}
	}
	info := d.Info()
	f := Finding{Name: name, OK: true, Found: fmt.Sprintf("%s, %s, %s, %d multiprocessors, %s", info.Name,
		info.Arch, units.Bytes(info.MemoryBytes), info.Multiprocessors, info.Driver)}
	if meter != nil {
		if u, err := meter.Read(info.PCI); err == nil {
			f.Found += fmt.Sprintf(", driver %v, %v (of %v), %v %% busy, %v °C", u.Driver, u.Link, u.LinkMax,
				u.BusyPercent, u.Celsius)
			if u.MemoryUsedBytes.OK {
				f.Found += ", " + units.Bytes(u.MemoryUsedBytes.Value) + " in use"
			}
		}
	}
	findings := []Finding{f}
	if c.Compile {
		findings = append(findings, compileKernels(d))
	}
	if err := d.Close(); err != nil {
		findings = append(findings, Finding{Name: name, Found: err.Error()})
	}
	return &info, findings
}

// compileKernels loads every kernel, and reports the origin of the programs.
func compileKernels(d *gpu.Device) Finding {
	start := time.Now()
	k, err := kernels.Load(d)
	if err == nil {
		err = k.Warm()
	}
	if err != nil {
		return Finding{Name: "kernels", Found: err.Error()}
	}
	from := map[gpu.Origin]int{}
	var warnings error
	for _, p := range d.Programs() {
		from[p.Origin]++
		warnings = errors.Join(warnings, p.Warning)
	}
	f := Finding{Name: "kernels", OK: true, Found: fmt.Sprintf("%d kernels ready in %.3f s; of %d programs",
		len(k.Names()), time.Since(start).Seconds(), len(d.Programs()))}
	for _, origin := range []gpu.Origin{gpu.FromImages, gpu.FromCache, gpu.FromCompiler, gpu.FromPTX} {
		if from[origin] > 0 {
			f.Found += fmt.Sprintf(", %d from %s", from[origin], origin)
		}
	}
	if warnings != nil {
		f.Advice = output.OneLine(warnings.Error())
	}
	return f
}
