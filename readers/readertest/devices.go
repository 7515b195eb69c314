package readertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Devices are GPU engines of a format on one device, one for each size of chunks.
type Devices []*Device

// NewDevices returns engines with chunks of these sizes.
func NewDevices(t testing.TB, f readers.Format, chunkBytes ...int64) (list Devices) {
	t.Helper()
	k := Kernels(t)
	for i, chunk := range chunkBytes {
		p := slots.Plan{ChunkBytes: chunk, Slots: 4, Work: 3}
		if i%2 == 1 { // otherwise memory comes from the device, which checks the bounds of every buffer
			p.ArenaBytes = 1 << 20
		}
		list = append(list, NewDeviceOn(t, f, slots.Config{Plan: p}, k))
	}
	return list
}

// Golden reads the files of testdata on each device, as vary returns them: as they are, longer,
// with other options.
func (list Devices) Golden(t *testing.T, vary func(Input) []Input) {
	t.Helper()
	for _, g := range goldens(t, list[0].format) {
		in := g.input(g.text)
		in.Options = options(t, g)
		list.Same(t, vary(in)...)
	}
}

// Same reads inputs on each device. The first one that differs is shrunk.
func (list Devices) Same(t testing.TB, inputs ...Input) {
	t.Helper()
	for _, in := range inputs {
		for _, d := range list {
			check := func(t testing.TB, in Input) { d.Same(t, in) }
			if !t.Failed() && failures(t, in, check) != "" {
				reportShrunk(t, fmt.Sprintf("%s, chunks of %d bytes", in.Name, d.chunkBytes), in, check)
			}
		}
	}
}

// Accepted fails unless the devices read n chunks, and a share of those that they were given.
func (list Devices) Accepted(t testing.TB, n int64, share float64) {
	t.Helper()
	var chunks, refused int64
	for _, d := range list {
		c := d.Counts()
		chunks, refused = chunks+c.Chunks, refused+c.Refused
		t.Logf("chunks of %d bytes: %s", d.chunkBytes, countsText(c))
	}
	if chunks < n || float64(chunks) < share*float64(chunks+refused) {
		t.Errorf("%d chunks accepted and %d refused: want %d or more, and %.0f%%", chunks, refused, n, 100*share)
	}
}

// DeviceSplits reads an input, and its text without some bytes at the end, in chunks of every size
// up to half of it, so that they begin and end at every byte. Under -short it takes one size in n.
func DeviceSplits(t *testing.T, f readers.Format, in Input, n int64, cuts ...int) {
	k, accepted := Kernels(t), int64(0)
	for chunk := int64(1); chunk <= int64(len(in.Text)/2); chunk++ {
		if testing.Short() && chunk%n > 0 {
			continue
		}
		t.Run(fmt.Sprint(chunk), func(t *testing.T) { // a device's memory is free again afterwards
			d := NewDeviceOn(t, f, slots.Config{Plan: slots.Plan{ChunkBytes: chunk, Slots: 2, Work: 2}}, k)
			for _, cut := range append([]int{0}, cuts...) {
				shorter := in
				shorter.Text = in.Text[:len(in.Text)-cut]
				d.Same(t, shorter)
			}
			accepted += d.Counts().Chunks
		})
	}
	if accepted == 0 {
		t.Error("no chunk was accepted")
	}
}

// smallFile is the size of files that DeviceLarge reads in chunks of 1 MiB.
const smallFile = 100 << 20

// DeviceLarge reads the files that VIBEFLIGHT_SWEEP_FILES names, between colons, on a device as the
// server has it. Without files it reads those of the test. The device may refuse no chunk: generated
// files have nothing invalid. Small ones are read in chunks of 1 MiB, with as much memory as these
// take.
func DeviceLarge(t *testing.T, f readers.Format, own func() []Input) {
	var inputs []Input
	for _, path := range filepath.SplitList(os.Getenv("VIBEFLIGHT_SWEEP_FILES")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		g := golden{path: path, siblings: siblings(t, f, path)}
		inputs = append(inputs, Input{
			Name: filepath.Base(path), Text: text, Options: options(t, g), Siblings: g.siblings,
		})
	}
	if len(inputs) == 0 {
		inputs = own()
	}
	k := Kernels(t)
	for _, in := range inputs {
		t.Run(in.Name, func(t *testing.T) {
			var config slots.Config
			if len(in.Text) < smallFile {
				config.Memory = 16 << 20
			}
			NewDeviceOn(t, f, config, k).Accepts(t, 1, in)
		})
	}
}
