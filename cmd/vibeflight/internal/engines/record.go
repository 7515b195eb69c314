package engines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers"
)

// The file of measurements in the cache folder, and the maximum that is read of it.
const (
	recordName  = "crossover.json"
	recordBytes = 1 << 20
)

// record is the measurements of one machine.
type record struct {
	Machine host                  `json:"machine"`
	Formats map[string]formatTime `json:"formats"` // by name
}

// formatTime is the measurement of a format.
type formatTime struct {
	Version int `json:"version"` // readers.Format.Version
	measurement
}

// host is what the times depend on. Another host is measured again.
type host struct {
	Devices []string `json:"cards"` // names
	Driver  string   `json:"driver"`
	CPU     string   `json:"cpu"`
	Workers int      `json:"workers"` // of the CPU engine
}

func hostOf(devices []gpu.Info, workers int) host {
	h := host{CPU: processor(), Workers: workers}
	for _, c := range devices {
		h.Devices = append(h.Devices, c.Name)
		h.Driver = c.Driver
	}
	return h
}

func (h host) equal(o host) bool {
	return slices.Equal(h.Devices, o.Devices) && h.Driver == o.Driver && h.CPU == o.CPU && h.Workers == o.Workers
}

// processor returns the model's name, or the architecture if the system does not report it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for l := range bytes.Lines(text) {
			if key, value, ok := bytes.Cut(l, []byte(":")); ok && string(bytes.TrimSpace(key)) == "model name" {
				return string(bytes.TrimSpace(value))
			}
		}
	}
	return runtime.GOARCH
}

// readRecord returns the measurements of this host. It returns none if they can't be read, or are
// of another host.
func readRecord(cacheDir string, h host) record {
	empty := record{Machine: h, Formats: map[string]formatTime{}}
	if cacheDir == "" {
		return empty
	}
	f, err := os.Open(filepath.Join(cacheDir, recordName))
	if err != nil {
		return empty
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, recordBytes))
	if err != nil {
		return empty
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || !r.Machine.equal(h) || r.Formats == nil {
		return empty
	}
	return r
}

// notMeasured is the reason for the CPU engine if the crossover of a format is not known.
const notMeasured = "the crossover is not measured yet"

// crossover returns the crossover of a format, if it was measured.
func (r record) crossover(f readers.Format) crossover {
	if t, ok := r.Formats[f.Name]; ok && t.Version == f.Version && t.check() == nil {
		return t.crossover()
	}
	return crossover{never: notMeasured}
}

// write writes the record to the cache folder. Readers see the old one or the new one.
func (r record) write(cacheDir string) (err error) {
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(cacheDir, recordName+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", recordName, err)
	}
	return os.Rename(f.Name(), filepath.Join(cacheDir, recordName))
}

// storedRecord returns the record of this machine.
func (e *Engines) storedRecord() record {
	infos := make([]gpu.Info, len(e.devices))
	for i, c := range e.devices {
		infos[i] = c.device.Info()
	}
	return readRecord(e.cfg.CacheDir, hostOf(infos, e.cfg.Limits.WithDefaults().Workers))
}

// Describe returns what Auto does on a machine with these devices and default limits, by the record
// in the cache folder: "auto: cuda from 112 MiB on".
func Describe(formats readers.Registry, devices []gpu.Info, cacheDir string) string {
	if len(devices) == 0 {
		return "auto: " + crossover{never: "there is no GPU"}.String()
	}
	r := readRecord(cacheDir, hostOf(devices, readers.Limits{}.WithDefaults().Workers))
	of := map[string]crossover{}
	for _, f := range formats {
		if f.GPU != nil {
			of[f.Name] = r.crossover(f)
		}
	}
	return "auto: " + choiceOf(formats, of)
}
