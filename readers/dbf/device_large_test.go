package dbf_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestDeviceLarge reads the files that VIBEFLIGHT_SWEEP_FILES names, between colons, with devices
// as the server has them and with the CPU engine. The devices may leave none of their chunks:
// generated files have nothing odd. Without files it reads some of its own in chunks of 1 MiB, with
// as much memory as these take.
func TestDeviceLarge(t *testing.T) {
	files, config := map[string][]byte{}, slots.Config{}
	for _, path := range filepath.SplitList(os.Getenv("VIBEFLIGHT_SWEEP_FILES")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = text
	}
	if len(files) == 0 {
		config.Memory = 16 << 20
		files["parcels.dbf"] = parcels(20000)
		if !testing.Short() {
			letters, digits := table{}, table{}
			for _, name := range strings.Split("ABCDEFGHIJ", "") {
				letters.fields, digits.fields = append(letters.fields, field{name, 'C', 1, 0}),
					append(digits.fields, field{name, 'N', 1, 0})
			}
			letters.records, digits.records = []string{" abcdefghij"}, []string{" 1234567890"}
			files["letters.dbf"], files["digits.dbf"] = longer(letters, 300_000), longer(digits, 300_000)
			files["types.dbf"] = longer(everyType(rand.New(rand.NewPCG(7, 5)), 100, "a", "two words"), 20000)
		}
	}
	k := readertest.Kernels(t)
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			d := readertest.DeviceOn(t, dbf.Format(), config, k)
			readertest.Same(t, dbf.Format(), readertest.Input{Name: name, Text: text}, []int{0}, readertest.OnDevice(d))
			if n := d.Counts(); n.Chunks == 0 || n.Refused > 0 {
				t.Errorf("%d bytes: %d chunks accepted, %d refused: %s", len(text), n.Chunks, n.Refused, n.Reason)
			}
		})
	}
}
