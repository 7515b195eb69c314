//go:build cuda && cgo && linux && (amd64 || arm64)

package gpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNVML is a library of an old driver in a virtual machine: some functions are missing, some
// refuse. CODE is what temperature answers.
const fakeNVML = `
#include <string.h>
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned gpu, memory; } utilization;
int nvmlInit_v2(void) { return INIT; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return code == 3 ? "Not Supported" : code == 9 ? "Driver Not Loaded" : code == 15 ? "GPU is lost" : "?"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) {
  *device = (void *)1;
  return strcmp(id, "0000:1B:00.0") ? 6 : 0;
}
int nvmlDeviceGetName(void *device, char *name, unsigned bytes) { strncpy(name, "NVIDIA Fake", bytes); return 0; }
int nvmlDeviceGetMemoryInfo(void *device, memory *m) { m->total = 80ull << 30, m->used = 3ull << 30; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, utilization *u) { return 3; }
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) { *celsius = 41; return CODE; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { *milliwatts = 71500; return 0; }
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz) { *mhz = type == 1 ? 1980 : 2619; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) { *reasons = 1 | 4 | 32; return 0; }
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *g) { *g = 5; return 0; }
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *w) { *w = 16; return 0; }
`

func TestMeter(t *testing.T) {
	tests := []struct {
		name   string
		define []string // nil: there is no library
		want   string
	}{
		{"no library", nil, "OpenMeter: no GPU: nvmlInit: ERROR_LIBRARY_NOT_FOUND, no device true\n"},
		{
			"no driver",
			[]string{"-DINIT=9", "-DCODE=0"},
			"OpenMeter: no GPU: nvmlInit: Driver Not Loaded, no device true\n",
		},
		{
			"a GPU",
			[]string{"-DINIT=0", "-DCODE=0"},
			"NVIDIA Fake unknown 3221225472 85899345920 unknown 41 71.5 unknown 1980 unknown 2619 [power limit " +
				"temperature] unknown PCIe 5.0 x16\n" +
				"Read: GPU \"0000:FF:00.0\": ?, lost false\n",
		},
		{
			"a lost GPU",
			[]string{"-DINIT=0", "-DCODE=15"},
			"Read: GPU \"0000:1B:00.0\": nvmlDeviceGetTemperature: the GPU is lost: GPU is lost, lost true\n" +
				"Read: GPU \"0000:FF:00.0\": ?, lost false\n",
		},
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err) // tests run on devices where nothing was built
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			library := filepath.Join(dir, "libnvidia-ml.so.1")
			if tt.define == nil {
				must(t, os.WriteFile(library, nil, 0o600)) // found before a real one, and none
			} else {
				source := filepath.Join(dir, "nvml.c")
				must(t, os.WriteFile(source, []byte(fakeNVML), 0o600))
				out, err := exec.Command(cc, append(tt.define, "-shared", "-fPIC", "-o", library,
					source)...).CombinedOutput()
				if err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
			}
			cmd := child(t, "meter", dir)
			cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+dir)
			out, err := cmd.Output()
			if err != nil || string(out) != tt.want {
				t.Errorf("the process says\n%s%v, want\n%s", strings.TrimSpace(string(out)), err, tt.want)
			}
		})
	}
}

// TestMeterOfACard reads the first device's values, where there is one.
func TestMeterOfACard(t *testing.T) {
	m, err := OpenMeter()
	if err != nil {
		if os.Getenv("VIBEFLIGHT_GPU") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() { must(t, m.Close()) })
	d, err := Open(Options{})
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	u, err := m.Read(d.Info().PCI)
	must(t, err)
	t.Logf("%+v", u)
	if u.Name.Value != d.Info().Name || !u.MemoryBytes.OK || u.MemoryUsedBytes.Value > u.MemoryBytes.Value {
		t.Errorf("%+v of %+v", u, d.Info())
	}
}
