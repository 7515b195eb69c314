package arrowipc_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/arrowipc"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// workers returns the engine with several workers.
func workers() readertest.Variant {
	return readertest.Variant{Name: "workers", Parser: func(l readers.Layout, size int) readers.Parser {
		return readertest.Limited(arrowipc.Format().CPU(l), 1+size%4, 0)
	}}
}

func TestFiles(t *testing.T) { readertest.Run(t, arrowipc.Format()) }

// TestWorkers reads the files with several workers and other batches than they have.
func TestWorkers(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if _, ok := (readers.Registry{arrowipc.Format()}).ByExtension(path); !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{0, 1, 2, 7} {
			in := readertest.Input{Name: filepath.Base(path), Text: text, Limits: readers.Limits{BatchRows: rows}}
			readertest.Same(t, arrowipc.Format(), in, []int{0, 1, 2, 3}, workers())
		}
	}
}

func FuzzRead(f *testing.F) { readertest.Fuzz(f, arrowipc.Format(), workers()) }

func TestFlips(t *testing.T) {
	step := 3
	if testing.Short() {
		step = 101
	}
	readertest.Flips(t, arrowipc.Format(), step)
}

// TestMemory has a message that does not fit.
func TestMemory(t *testing.T) {
	text, err := os.ReadFile("testdata/points.arrow")
	if err != nil {
		t.Fatal(err)
	}
	_, err = readertest.Parse(t, arrowipc.Format(), readertest.Input{
		Name: "a.arrow", Text: text,
		Limits: readers.Limits{BatchRows: 1, Memory: 600},
	})
	var limit *readers.LimitError
	if !errors.As(err, &limit) || limit.Flag != "--memory" {
		t.Errorf("got %v, want a limit of --memory", err)
	}
}
