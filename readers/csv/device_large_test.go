package csv_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestDeviceLarge reads the files that VIBEFLIGHT_SWEEP_FILES names, between colons, with devices
// as the server has them and with the CPU engine. The devices may leave none of their chunks:
// generated files have nothing odd. Without files it reads some of its own. Small ones are read in
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
		r := rand.New(rand.NewPCG(7, 5))
		files["values.csv"] = deviceFile(r, 20000, ",", "\n")
		files["wkt.csv"] = cellFile(r, 25000, "", "POLYGON((# #,# 1,2 #,# #))",
			"POLYGON((# #,# 1,2 #,# #),(1 1,2 2,3 1,1 1))")
		if !testing.Short() {
			files["codes.csv"] = []byte("a,b,c,d\n" + strings.Repeat("A1,B22,,C\n", 300000))
			files["digits.csv"] = []byte("a,b,c,d\n" + strings.Repeat("1,2,3,4\n", 400000))
		}
	}
	k := readertest.Kernels(t)
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			var config slots.Config
			if len(text) < 100<<20 {
				config.Memory = 16 << 20
			}
			d := readertest.DeviceOn(t, csv.Format(), config, k)
			readertest.Same(t, csv.Format(), readertest.Input{Name: name, Text: text}, []int{0}, readertest.OnDevice(d))
			if n := d.Counts(); n.Chunks == 0 || n.Refused > 0 {
				t.Errorf("%d bytes: %d chunks accepted, %d refused: %s", len(text), n.Chunks, n.Refused, n.Reason)
			}
		})
	}
}
