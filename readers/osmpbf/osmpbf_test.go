package osmpbf_test

import (
	"flag"
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/readers/osmpbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// parallel is the CPU engine with 1 to 4 workers, and with nodes and ways in memory or on the disk.
var parallel = readertest.Variant{Name: "parallel", Parser: osmpbf.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, osmpbf.Format(), parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, osmpbf.Format(), parallel) }

// TestWriteFiles writes the files of testdata that build_test.go describes, under -update.
func TestWriteFiles(t *testing.T) {
	if !updating() {
		t.Skip("without -update")
	}
	for name, text := range files() {
		if err := os.WriteFile("testdata/"+name+".pbf", text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// updating reports the flag -update of readertest.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }
