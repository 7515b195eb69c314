package esrijson_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/esrijson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: esrijson.Windowed}

// portable is windows without what only some processors have.
var portable = readertest.Variant{Name: "portable", Parser: esrijson.Portable}

// parallel is the engine with 2 to 16 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: esrijson.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, esrijson.Format(), windows, portable, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, esrijson.Format(), windows, parallel) }
