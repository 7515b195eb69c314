package kml_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestDeviceLarge reads the files that VIBEFLIGHT_SWEEP_FILES names, between colons, with devices
// as the server has them and with the CPU engine. The devices may leave none of their chunks:
// generated files have nothing odd. Without files it reads one of its own. Small ones are read in
// chunks of 1 MiB, with as much memory as these take.
func TestDeviceLarge(t *testing.T) {
	files := map[string][]byte{}
	for _, path := range filepath.SplitList(os.Getenv("VIBEFLIGHT_SWEEP_FILES")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = text
	}
	if len(files) == 0 {
		o := ordinary{
			Rand: rand.New(rand.NewPCG(7, 5)), geometries: []func(*ordinary) string{points, lines, polygons},
			data: untyped,
		}
		files["places.kml"] = o.file(10000)
	}
	k := readertest.Kernels(t)
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			var config slots.Config
			if len(text) < 100<<20 {
				config.Memory = 16 << 20
			}
			d := readertest.DeviceOn(t, kml.Format(), config, k)
			readertest.Same(t, kml.Format(), readertest.Input{Name: name, Text: text}, []int{0}, readertest.OnDevice(d))
			if n := d.Counts(); n.Chunks == 0 || n.Refused > 0 {
				t.Errorf("%d bytes: %d chunks accepted, %d refused: %s", len(text), n.Chunks, n.Refused, n.Reason)
			}
		})
	}
}
