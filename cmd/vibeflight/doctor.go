package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/all"
)

const doctorLong = `Say what this machine has for the server: SQL engine, driver, GPUs, run-time compiler, memory, cache folder; and what to do about what is missing.

Nothing that is missing keeps the server from starting: without a GPU files are parsed on the processor, with the same tables.`

// finding is one thing that was looked for.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`            // what it is, or why it is missing
	Advice string `json:"advice,omitempty"` // what to do about it
}

// doctor is the flags of the command.
type doctor struct {
	cacheDir   string
	extensions string
	nvrtc      string
	compile    bool
	asJSON     bool
}

func newDoctor(std stdio) *cobra.Command {
	var c doctor
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what this machine has for the server, and what is missing", Long: doctorLong, Args: noArguments,
		Example: "  vibeflight doctor\n  # for a script\n  vibeflight doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := c.examine()
			if c.asJSON {
				for _, f := range findings {
					if err := writeJSON(std.out, f); err != nil {
						return err
					}
				}
				return nil
			}
			return writeFindings(std.out, findings)
		},
	}
	settings(cmd.Flags(), c.settings)
	cmd.Flags().BoolVar(&c.compile, "compile", false, "compile every kernel for each GPU now, into the cache folder, so that the first start finds them")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// settings are the flags that serve has too, and the compiler's.
func (c *doctor) settings(f *pflag.FlagSet) {
	cacheDirFlag(f, &c.cacheDir, "`folder` where parsed tables and compiled kernels outlive the server; none is for no cache")
	extensionsFlag(f, &c.extensions)
	f.StringVar(&c.nvrtc, "nvrtc", "", "`library` of the run-time compiler (default: where the loader and CUDA's installers put it)")
}

// writeFindings is the list for people: what was found, and under what is missing what to do.
func writeFindings(w io.Writer, findings []finding) error {
	for _, f := range findings {
		mark := "ok"
		if !f.OK {
			mark = "--"
		}
		line := fmt.Sprintf("%s  %-9s  %s\n", mark, f.Name, oneLine(f.Found))
		if f.Advice != "" {
			line += fmt.Sprintf("    %-9s  %s\n", "", f.Advice)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// examine looks at everything, in the order in which one thing needs another.
func (c *doctor) examine() []finding {
	findings := []finding{{Name: "build", OK: true, Found: thisBuild().String()}, examineHost()}
	findings = append(findings, c.examineSQL()...)
	findings = append(findings, c.examineGPUs()...)
	return append(findings, c.examineCache())
}

// examineHost says what the CPU engine has.
func examineHost() finding {
	f := finding{Name: "host", OK: true, Found: fmt.Sprintf("%d cores", runtime.GOMAXPROCS(0))}
	memory, err := machineMemory()
	if err != nil {
		return finding{Name: "host", Found: err.Error()}
	}
	f.Found += fmt.Sprintf(", %s of memory, of which parsed tables may take %s (--memory)", humanBytes(memory), humanBytes(memory/4))
	return f
}

// examineSQL opens the engine, so that an extension that can't be loaded is found here.
func (c *doctor) examineSQL() []finding {
	db, err := duck.Open(duck.Config{}, nil)
	if err != nil {
		return []finding{{Name: "SQL", Found: err.Error(), Advice: "files are served all the same; SQL wants a build with a C compiler at hand (make build)"}}
	}
	found := []finding{{Name: "SQL", OK: true, Found: "DuckDB " + strings.TrimPrefix(duck.LibraryVersion(), "v")}}
	if err := db.Close(); err != nil {
		return []finding{{Name: "SQL", Found: err.Error()}}
	}
	return append(found, c.examineSpatial())
}

// examineSpatial looks for the functions that DuckDB has in a file of its own.
func (c *doctor) examineSpatial() finding {
	f := finding{
		Name: "spatial", Found: "not looked for",
		Advice: "SQL has no ST_Area and the like, but for what DuckDB itself has; make spatial fetches them, --duckdb-extensions says where " + spatialFile + " is",
	}
	if c.extensions == "" {
		return f
	}
	path := engine.FindSpatial(c.extensions)
	if path == "" {
		f.Found = "not in " + c.extensions
		return f
	}
	db, err := duck.Open(duck.Config{Spatial: path}, nil)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		f.Found = err.Error()
		return f
	}
	return finding{Name: "spatial", OK: true, Found: path}
}

// examineGPUs says what cards there are, what runs on them, and what --engine auto makes of them.
func (c *doctor) examineGPUs() []finding {
	n, err := gpu.Count()
	if err != nil {
		return []finding{{
			Name: "GPU", Found: err.Error(),
			Advice: "files are parsed on the processor; a GPU wants a build with CUDA (make build), NVIDIA's driver and a card of compute capability 8.0 or newer",
		}, {Name: "engine", OK: true, Found: engines.Known(nil, nil, "")}}
	}
	findings := []finding{c.examineCompiler()}
	meter, err := gpu.OpenMeter()
	if err != nil {
		findings = append(findings, finding{Name: "NVML", Found: err.Error(), Advice: "cards work without it; their load is not shown"})
	} else {
		defer func() { _ = meter.Close() }() // nothing more is asked of it
	}
	var cards []gpu.Info
	for i := range n {
		info, found := c.examineCard(i, meter)
		findings = append(findings, found...)
		if info != nil {
			cards = append(cards, *info)
		}
	}
	return append(findings, finding{Name: "engine", OK: true, Found: engines.Known(all.Formats(), cards, folder(c.cacheDir))})
}

func (c *doctor) examineCompiler() finding {
	version, err := gpu.NVRTC(c.nvrtc)
	if err != nil {
		return finding{
			Name: "NVRTC", Found: err.Error(),
			Advice: "kernels must come compiled, in the binary or in the cache folder; the packages nvidia-cuda-nvrtc-cu12 and -cu13 hold the library (--nvrtc PATH)",
		}
	}
	return finding{Name: "NVRTC", OK: true, Found: version}
}

// examineCard opens a card, so that what keeps the server from using it is found here; then it has no info.
func (c *doctor) examineCard(ordinal int, meter *gpu.Meter) (*gpu.Info, []finding) {
	name := fmt.Sprintf("GPU %d", ordinal)
	d, err := gpu.Open(gpu.Options{Ordinal: ordinal, NVRTC: c.nvrtc, CacheDir: engines.KernelCache(folder(c.cacheDir)), Images: kernels.CompiledIn()})
	if err != nil {
		return nil, []finding{{Name: name, Found: err.Error(), Advice: "files are parsed on the processor, or by the other GPUs"}}
	}
	info := d.Info()
	f := finding{Name: name, OK: true, Found: fmt.Sprintf("%s, %s, %s, %d multiprocessors, %s", info.Name, info.Arch, humanBytes(info.MemoryBytes), info.Multiprocessors, info.Driver)}
	if meter != nil {
		if u, err := meter.Read(info.PCI); err == nil {
			f.Found += fmt.Sprintf(", driver %v, %v (of %v), %v %% busy, %v °C", u.Driver, u.Link, u.LinkMax, u.BusyPercent, u.Celsius)
			if u.MemoryUsedBytes.OK {
				f.Found += ", " + humanBytes(u.MemoryUsedBytes.Value) + " in use"
			}
		}
	}
	findings := []finding{f}
	if c.compile {
		findings = append(findings, compileKernels(d))
	}
	if err := d.Close(); err != nil {
		findings = append(findings, finding{Name: name, Found: err.Error()})
	}
	return &info, findings
}

// compileKernels loads every kernel and says where each program came from.
func compileKernels(d *gpu.Device) finding {
	start := time.Now()
	k, err := kernels.Load(d)
	if err == nil {
		err = k.Warm()
	}
	if err != nil {
		return finding{Name: "kernels", Found: err.Error()}
	}
	from := map[gpu.Origin]int{}
	var warnings error
	for _, p := range d.Programs() {
		from[p.Origin]++
		warnings = errors.Join(warnings, p.Warning)
	}
	f := finding{Name: "kernels", OK: true, Found: fmt.Sprintf("%d kernels ready in %.3f s; of %d programs", len(k.Names()), time.Since(start).Seconds(), len(d.Programs()))}
	for _, origin := range []gpu.Origin{gpu.FromImages, gpu.FromCache, gpu.FromCompiler, gpu.FromPTX} {
		if from[origin] > 0 {
			f.Found += fmt.Sprintf(", %d from %s", from[origin], origin)
		}
	}
	if warnings != nil {
		f.Advice = oneLine(warnings.Error())
	}
	return f
}

// examineCache says whether the cache folder can be written and how much room its disk has.
func (c *doctor) examineCache() finding {
	f := finding{Name: "cache", Advice: "tables are parsed again after each start, and kernels compiled; --cache-dir names a folder that can be written"}
	if folder(c.cacheDir) == "" {
		f.Found = "none"
		return f
	}
	err := os.MkdirAll(c.cacheDir, 0o700)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(c.cacheDir, "doctor-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	var disk unix.Statfs_t
	if err == nil {
		err = unix.Statfs(c.cacheDir, &disk)
	}
	if err != nil {
		f.Found = reason(err)
		return f
	}
	return finding{Name: "cache", OK: true, Found: fmt.Sprintf("%s, %s free", c.cacheDir, humanBytes(int64(disk.Bavail)*disk.Bsize))}
}

// folder is what --cache-dir says, empty for no cache.
func folder(dir string) string {
	if dir == noCache {
		return ""
	}
	return dir
}
