package gpx_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/gpx"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: gpx.Windowed}

// parallel is the CPU engine with 2 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: gpx.Parallel}

// slow is the CPU engine in which the XML scanner reads all positions.
var slow = readertest.Variant{Name: "slow", Parser: gpx.Slow}

func TestFormat(t *testing.T) { readertest.Run(t, gpx.Format(), windows, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, gpx.Format(), windows, parallel, slow) }
