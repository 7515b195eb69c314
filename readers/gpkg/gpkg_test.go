package gpkg_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/gpkg"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// parallel is the CPU engine with 1 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: gpkg.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, gpkg.Format(), parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, gpkg.Format(), parallel) }
