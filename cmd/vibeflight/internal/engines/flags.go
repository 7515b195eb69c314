package engines

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// Flags are the flags for the use of devices.
type Flags struct {
	memory  units.Size // of each device; 0: the default of readers.EngineConfig.MemoryOf
	tables  units.Size // of each device, for tables that stay there; 0: none
	devices string     // all, or ordinals separated by commas
}

const allDevices = "all"

// Define adds the flags to f.
func (c *Flags) Define(f *pflag.FlagSet) {
	f.Var(&c.memory, "gpu-memory", "device memory for parsing on each GPU, as 2GiB; 0 is 1GiB or a quarter of the "+
		"GPU's, whichever is less")
	f.Var(&c.tables, "gpu-tables", "device memory on each GPU, in addition, for tables that programs of this machine "+
		"read there, as 8GiB; 0 is for none")
	f.StringVar(&c.devices, "gpus", allDevices, "GPUs to parse on: all, or their numbers as doctor shows them, "+
		"separated by commas")
}

// Ordinals returns the devices by number; nil for all.
func (c *Flags) Ordinals() ([]int, error) {
	if c.devices == allDevices {
		return nil, nil
	}
	var ordinals []int
	for text := range strings.SplitSeq(c.devices, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 {
			return nil, usage.Errorf("--gpus: %q is neither all nor numbers of GPUs, as 0,2", c.devices)
		}
		if slices.Contains(ordinals, n) {
			return nil, usage.Errorf("--gpus: %d is given twice", n)
		}
		ordinals = append(ordinals, n)
	}
	return ordinals, nil
}

// Open opens the engines of all formats.
func (c *Flags) Open(engine, cacheDir string, limits readers.Limits,
	log zerolog.Logger,
) (*Engines, error) {
	ordinals, err := c.Ordinals()
	if err != nil {
		return nil, err
	}
	return Open(Config{
		Formats: all.Formats(), Engine: engine, Devices: ordinals, Memory: int64(c.memory), Tables: int64(c.tables),
		CacheDir: cacheDir,
		Limits:   limits, Log: log,
	})
}
