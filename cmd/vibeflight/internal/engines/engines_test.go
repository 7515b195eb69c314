package engines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

var errBroken, errNarrow = errors.New("broken"), errors.New("too few bytes")

// bench is a machine with as many devices as there are in broken; those that are can't be opened.
type bench struct {
	*testing.T
	broken []bool
	cold   error // of the kernels
	narrow error // of the slots
	out    lines
	engine fakeEngine
	sets   int // devices whose slots were opened
	pools  int // how often
	config slots.Config
	opened []gpu.Options
}

func (b *bench) open(engine string, devices ...int) (*Engines, error) {
	format := readers.Format{Name: "geojson", GPU: func(*slots.Pool) readers.Engine { return &b.engine }}
	other := readers.Format{Name: "csv", GPU: func(*slots.Pool) readers.Engine { return &fakeEngine{} }}
	cfg := Config{
		Formats: readers.Registry{format, other, {Name: "plain"}}, Engine: engine, Devices: devices,
		Memory: 5 << 20, Log: b.out.log(),
	}
	return open(cfg, opener{
		count: func() (int, error) {
			if len(b.broken) == 0 {
				return 0, fmt.Errorf("%w: no driver", gpu.ErrNoDevice)
			}
			return len(b.broken), nil
		},
		open: func(o gpu.Options) (*gpu.Device, error) {
			b.opened = append(b.opened, o)
			if o.Ordinal >= len(b.broken) || b.broken[o.Ordinal] {
				return nil, errBroken
			}
			o.Ordinal = 0 // a machine for tests has one device at most
			return gputest.OpenWith(b.T, o), nil
		},
		slots: func(k []*kernels.Set, c slots.Config) (*slots.Pool, error) {
			b.sets, b.config = len(k), c
			b.pools++
			if b.narrow != nil {
				return nil, b.narrow
			}
			c.Plan = slots.Plan{ChunkBytes: 4 << 10, Slots: 1, Work: 1}
			return slots.Open(k, c) // a device that is closed before its slots is an error of the test
		},
		warm: func(*kernels.Set) error { return b.cold },
	})
}

func TestDevicesThatCanBeOpenedAreUsed(t *testing.T) {
	tests := []struct {
		name    string
		broken  []bool
		devices []int
		sets    int
		left    int // out, and logged
	}{
		{"one", []bool{false}, nil, 1, 0},
		{"all", []bool{false, false, false}, nil, 3, 0},
		{"some are wanted", []bool{false, true, false}, []int{2, 0}, 2, 0},
		{"a broken one is left out", []bool{true, false, true}, nil, 1, 2},
		{"one that is not there is left out", []bool{false}, []int{0, 7}, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{T: t, broken: tt.broken}
			e, err := b.open(CUDA, tt.devices...)
			if err != nil {
				t.Fatal(err)
			}
			if b.sets != tt.sets || len(e.Devices()) != tt.sets {
				t.Errorf("%d devices, named %q, want %d", b.sets, e.Devices(), tt.sets)
			}
			if e.For("geojson", 0) == nil || e.Engine("geojson") == nil || e.For("csv", 0) == nil ||
				e.For("plain", 1<<40) != nil {
				t.Error("cuda is for each file of a format that has it")
			}
			if b.pools != 1 || b.config.Memory != 5<<20 {
				t.Errorf("slots were opened %d times with %d bytes, want one pool for all formats, of what the "+
					"configuration says", b.pools, b.config.Memory)
			}
			for _, o := range b.opened {
				if o.MemoryBytes != 5<<20 {
					t.Errorf("a device of %d bytes, want what the configuration says", o.MemoryBytes)
				}
			}
			if err := e.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			got := b.out.entries(t)
			for _, line := range got {
				if line.Level != "warn" || line.Error != "broken" ||
					line.Message != "a GPU can't be used and is left out" {
					t.Errorf("logged %+v", line)
				}
			}
			if len(got) != tt.left {
				t.Errorf("%d devices were logged, want %d", len(got), tt.left)
			}
		})
	}
}

func TestWithoutADevice(t *testing.T) {
	tests := []struct {
		name    string
		broken  []bool
		devices []int
		narrow  error
		err     error
		choice  string // of auto
		logged  []string
	}{
		{"no driver", nil, nil, nil, gpu.ErrNoDevice, "auto: cpu, because no GPU: no driver", nil},
		{
			"a broken device",
			[]bool{true},
			nil, nil, errBroken, "auto: cpu, because broken",
			[]string{"no GPU can be used"},
		},
		{
			"broken devices",
			[]bool{true, true},
			nil, nil, errBroken, "auto: cpu, because broken",
			[]string{
				"a GPU can't be used and is left out", "a GPU can't be used and is left out",
				"no GPU can be used",
			},
		},
		{
			"not the one that works",
			[]bool{true, false},
			[]int{0},
			nil, errBroken, "auto: cpu, because broken",
			[]string{"no GPU can be used"},
		},
		{
			"a device without room",
			[]bool{false},
			nil, errNarrow, errNarrow, "auto: cpu, because too few bytes",
			[]string{"no GPU can be used"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{T: t, broken: tt.broken, narrow: tt.narrow}
			if e, err := b.open(CUDA, tt.devices...); e != nil || !errors.Is(err, tt.err) {
				t.Errorf("cuda gives %v and %v, want %v", e, err, tt.err)
			}
			b.out.text.Reset()
			e, err := b.open(Auto, tt.devices...)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Choice(); got != tt.choice {
				t.Errorf("%q, want %q", got, tt.choice)
			}
			if e.For("geojson", 1<<40) != nil {
				t.Error("there is an engine without a device")
			}
			e.Measure(t.Context()) // nothing
			if s := e.Stats(); s.Choice != tt.choice || s.Devices == nil || s.Formats == nil ||
				len(s.Devices)+len(s.Formats) > 0 {
				t.Errorf("%+v", s)
			}
			var logged []string
			for _, line := range b.out.entries(t) {
				logged = append(logged, line.Message)
			}
			if !slices.Equal(logged, tt.logged) {
				t.Errorf("logged %q, want %q", logged, tt.logged)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheProcessorAlone(t *testing.T) {
	b := &bench{T: t, broken: []bool{false}}
	e, err := b.open(CPU)
	if err != nil {
		t.Fatal(err)
	}
	if e.Choice() != "cpu" || e.For("geojson", 1<<40) != nil || len(b.opened) != 0 {
		t.Errorf("%s, %d devices were opened", e.Choice(), len(b.opened))
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestStatsCountFaultsOfDevices has an engine tell of faults as it would of a device.
func TestStatsCountFaultsOfDevices(t *testing.T) {
	b := &bench{T: t, broken: []bool{false}, cold: errors.New("no compiler")}
	e, err := b.open(CUDA)
	if err != nil {
		t.Fatal(err)
	}
	e.warming.Wait()
	b.engine.chunks.Store(70)
	b.engine.faults.Store(2)
	b.engine.reason = "rows of several kinds"
	device := e.Devices()[0]
	if !strings.HasPrefix(device, "GPU 0, ") {
		t.Errorf("the device is called %q", device)
	}
	for range 2 {
		b.config.Fault(device, errBroken)
	}
	s := e.Stats()
	if want := (readers.EngineCounts{Chunks: 70, Faults: 2, Reason: "rows of several kinds"}); s.Choice != "cuda" ||
		len(s.Formats) != 2 || s.Formats["geojson"] != want {
		t.Errorf("%+v, want cuda and %+v", s, want)
	}
	info := e.devices[0].device.Info()
	used, peak, _ := e.devices[0].device.MemoryBytes()
	want := []catalog.DeviceStats{{
		Name: device, Arch: info.Arch, MemoryBytes: info.MemoryBytes, UsedBytes: used,
		PeakBytes: peak, Faults: 2, LastFault: "broken",
	}}
	if !slices.Equal(s.Devices, want) {
		t.Errorf("devices %+v, want %+v", s.Devices, want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	logged := b.out.entries(t)
	if len(logged) != 2 || logged[0].Error != "no compiler" || logged[0].Device != device ||
		logged[1].Error != "broken" ||
		logged[1].Device != device {
		t.Errorf("logged %+v, want the kernels and the first fault", logged)
	}
}

// TestKnown is what doctor says.
func TestKnown(t *testing.T) {
	device := gpu.Info{Name: "NVIDIA H200", Driver: "CUDA 13.0"}
	format := readers.Format{Name: "geojson", Version: 3, GPU: func(*slots.Pool) readers.Engine { return nil }}
	other := format
	other.Name = "csv"
	h := hostOf([]gpu.Info{device}, readers.Limits{}.WithDefaults().Workers)
	dir := t.TempDir()
	r := record{Machine: h, Formats: map[string]formatTime{"geojson": {3, measurement{
		fileTimes{100 << 20, 1, 1},
		fileTimes{200 << 20, 2, 1},
	}}}}
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		formats readers.Registry
		devices []gpu.Info
		dir     string
		want    string
	}{
		{"no device", readers.Registry{format}, nil, dir, "auto: cpu, because there is no GPU"},
		{"measured", readers.Registry{{Name: "plain"}, format}, []gpu.Info{device}, dir, "auto: cuda from 100 MiB on"},
		{"no cache", readers.Registry{format}, []gpu.Info{device}, "", untilMeasured},
		{"another machine", readers.Registry{format}, []gpu.Info{device, device}, dir, untilMeasured},
		{"no format", readers.Registry{{Name: "plain"}}, []gpu.Info{device}, dir, "auto: cpu"},
		{
			"two formats",
			readers.Registry{format, other},
			[]gpu.Info{device},
			dir,
			"auto: geojson: cuda from 100 MiB on; csv: cpu, because the crossover is not measured yet",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Describe(tt.formats, tt.devices, tt.dir); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
