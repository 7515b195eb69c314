package readertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Kernels returns the primitives on the device of this test run (package gputest).
func Kernels(t testing.TB) *kernels.Set {
	t.Helper()
	k, err := kernels.Load(gputest.OpenWith(t, gpu.Options{CacheDir: gputest.CacheDir(), Images: kernels.CompiledIn()}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// tableBytes is the device memory for tables that stay on a device, all of which are compared.
const tableBytes = 64 << 20

// A Device is the GPU engine of a format on the device of this test run. Package gputest says
// which: the emulation, whose absence skips the test, or a GPU.
type Device struct {
	readers.Engine
	format     readers.Format
	chunkBytes int64
}

// NewDevice returns an engine with chunks of n bytes, two in flight. Buffers come from the device,
// which watches the bounds of each.
func NewDevice(t testing.TB, f readers.Format, chunkBytes int64) *Device {
	t.Helper()
	return NewDeviceOn(t, f, slots.Config{Plan: slots.Plan{ChunkBytes: chunkBytes, Slots: 2, Work: 2}}, Kernels(t))
}

// NewDeviceOn returns an engine on devices, until the test ends. Faults are errors of the test unless
// cfg has a function for them.
func NewDeviceOn(t testing.TB, f readers.Format, cfg slots.Config, sets ...*kernels.Set) *Device {
	t.Helper()
	if cfg.Fault == nil {
		cfg.Fault = func(device string, err error) { t.Errorf("%s: %v", device, err) }
	}
	if cfg.Tables == 0 {
		cfg.Tables = tableBytes
	}
	pool, err := slots.Open(sets, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Device{f.GPU(pool), f, cfg.Plan.ChunkBytes}
}

// Variant is the GPU engine as a variant of the CPU engine.
func (d *Device) Variant() Variant {
	return Variant{Name: "device", Parser: func(l readers.Layout, _ int) readers.Parser { return d.Parser(l) }}
}

// Same reads inputs on the device: the outcome is that of the CPU engine.
func (d *Device) Same(t testing.TB, inputs ...Input) {
	t.Helper()
	for _, in := range inputs {
		Same(t, d.format, in, []int{0}, d.Variant())
	}
}

// Accepts reads inputs on the device, which accepts n chunks of them and refuses none.
func (d *Device) Accepts(t testing.TB, n int64, inputs ...Input) {
	t.Helper()
	before := d.Counts()
	d.Same(t, inputs...)
	after := d.Counts()
	if after.Chunks-before.Chunks < n || after.Refused > before.Refused {
		t.Errorf("%s; before: %s; want %d more accepted, and none refused", countsText(after), countsText(before), n)
	}
}

// Refuses reads inputs on the device, which accepts some chunks of them. It refuses others for a
// reason, of which why is a part; if why is empty, it refuses none.
func (d *Device) Refuses(t testing.TB, why string, inputs ...Input) {
	t.Helper()
	d.Same(t, inputs...)
	c := d.Counts()
	if c.Chunks == 0 || (c.Refused > 0) != (why != "") || !strings.Contains(c.Reason, why) {
		t.Errorf("%s; want %q", countsText(c), why)
	}
}

// Ignores reads an input of which no chunk is for the device.
func (d *Device) Ignores(t testing.TB, in Input) {
	t.Helper()
	d.Same(t, in)
	if c := d.Counts(); c.Chunks != 0 || c.Refused != 0 {
		t.Error(countsText(c))
	}
}

// Keeps reads an input on the device, where a share of the table's bytes at least stays: they are
// those of its columns that never were on the host.
func (d *Device) Keeps(t testing.TB, share float64, in Input) {
	t.Helper()
	in.Parser = d.Parser
	table, err := Parse(t, d.format, in)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := CompareResident(table)
	if err != nil {
		t.Fatal(err)
	}
	if float64(kept) < share*float64(table.Bytes) {
		t.Errorf("%s: %d of %d bytes stay on the device, want %.0f%%; %s", in.Name, kept, table.Bytes, 100*share,
			countsText(d.Counts()))
	}
}

// Modes are an input with each value of on_error.
func Modes(in Input) (list []Input) {
	for _, mode := range errorModes {
		in.Options = maps.Clone(in.Options)
		if in.Options == nil {
			in.Options = map[string]any{}
		}
		in.Options["on_error"] = mode
		list = append(list, in)
	}
	return list
}

func countsText(c readers.EngineCounts) string {
	return fmt.Sprintf("%d chunks accepted, %d refused, the last because of %q", c.Chunks, c.Refused, c.Reason)
}

// samePlaces compares the places of batches and the names of rows and columns, which no reader of a
// table sees.
func (d *Device) samePlaces(t testing.TB, in Input) {
	t.Helper()
	want, err := Parse(t, d.format, in)
	if err != nil {
		return
	}
	in.Parser = d.Parser
	got, err := Parse(t, d.format, in)
	if err != nil {
		t.Error(err)
		return
	}
	if got, want := Places(got), Places(want); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Places writes where the batches of a table are in the file, and what is kept of them next to the
// table. It leaves out the end of the last one, which differs between engines.
func Places(t *readers.Table) string {
	spans := slices.Clone(t.Spans)
	if n := len(spans); n > 0 {
		spans[n-1].To = -1
	}
	// Rows are not appended to a table that lacks some: readers.Extend.
	appendable := t.Summary.Appendable && t.Summary.Skipped.Count == 0
	return fmt.Sprintf("%+v, ids %v, boxes %v, appendable %t", spans, t.IDs, t.Boxes, appendable)
}

// BytesBack returns a function that measures how many bytes the GPU engine of a format copies back
// from the emulation for some columns of an input; nil: all.
func BytesBack(t testing.TB, f readers.Format, in Input) func(columns []string) int64 {
	t.Helper()
	var toHost atomic.Int64
	k, err := kernels.Load(gputest.OpenCounted(t, gpu.Options{CacheDir: gputest.CacheDir()}, &toHost))
	if err != nil {
		t.Fatal(err)
	}
	e := NewDeviceOn(t, f, slots.Config{Plan: slots.Plan{ChunkBytes: 16 << 10, Slots: 2, Work: 2}}, k)
	return func(columns []string) int64 {
		in.Parser = func(l readers.Layout) readers.Parser {
			l.Columns = readers.Project(columns)
			return e.Parser(l)
		}
		before := toHost.Load()
		if _, err := Parse(t, f, in); err != nil {
			t.Fatal(err)
		}
		if c := e.Counts(); c.Chunks == 0 || c.Refused > 0 {
			t.Fatalf("%+v", c)
		}
		return toHost.Load() - before
	}
}
