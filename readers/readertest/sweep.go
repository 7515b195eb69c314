package readertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// A Sweep reads random documents, one for each seed, until one differs:
//
//	VIBEFLIGHT_SWEEP       n documents; else Documents, and a twentieth of them under -short
//	VIBEFLIGHT_SWEEP_SEED  from this seed on; else from 0
//
// A document that differs is written to a file, whole and shrunk, and its seed is printed:
// VIBEFLIGHT_SWEEP=1 with that seed reads it again. Of 25 documents and more some have to be tables,
// or nothing was compared. A panic in a goroutine of a parser ends the process; the goroutine's line
// in the trace then has the seed as a label.
type Sweep struct {
	Format    readers.Format
	Documents int

	// Document writes the document of a seed, with options and limits. It is called by several
	// goroutines.
	Document func(seed uint64) Input

	// Variants of the CPU engine, for CPU.
	Variants []Variant
	// Inferred says that types of columns are inferred from text, so that each can be read as text.
	Inferred bool
	// Table is asked about each table, for CPU; nil: nothing more is asked.
	Table func(t testing.TB, in Input, table *readers.Table)
	// Engine returns the index of the device that reads a document, for Device; nil: a random one.
	Engine func(seed uint64) int
}

// CPU compares engines without a GPU. The CPU engine reads each document with one worker, in batches
// of a random size and whole: the rows are the same. The variants read windows and parts of random
// sizes, and some of the columns. Each chunk is read again by its span.
func (s Sweep) CPU(t *testing.T) {
	t.Helper()
	s.run(t, func(seed uint64) (Input, func(testing.TB, Input)) {
		in := s.Document(seed)
		in.Limits.Workers = 1
		r := rand.New(rand.NewPCG(seed, 31))
		if in.Limits.BatchRows == 0 && in.Limits.BatchBytes == 0 {
			in.Limits.BatchRows = 1 + r.IntN([]int{4, 100}[r.IntN(2)])
		}
		n := len(in.Text) + 1
		sizes := []int{1 + r.IntN(9), 1 + r.IntN(64), 1 + r.IntN(n), 1 + r.IntN(n), 1 + r.IntN(n/4+1)}
		return in, func(t testing.TB, in Input) { s.checkCPU(t, in, seed, sizes) }
	})
}

func (s Sweep) checkCPU(t testing.TB, in Input, seed uint64, sizes []int) {
	t.Helper()
	whole := in
	whole.Limits.BatchRows, whole.Limits.BatchBytes = 0, 0
	if table, err := checkNamed(t, s.Format, in); err == nil {
		all, err := checkNamed(t, s.Format, whole)
		if err != nil || Rows(all) != Rows(table) {
			t.Errorf("in batches, got:\n%s\nwhole:\n%v, error %v", Rows(table), all, err)
			return
		}
		if s.Table != nil {
			s.Table(t, in, table)
		}
	}
	checkSpans(t, s.Format, in, s.Inferred, s.Format.CPU)
	for _, v := range s.Variants {
		checkSpans(t, s.Format, in, s.Inferred, func(l readers.Layout) readers.Parser { return v.Parser(l, sizes[1]) })
	}
	Same(t, s.Format, in, sizes, s.Variants...)
	Same(t, s.Format, whole, sizes[1:3], s.Variants...)
	Projected(t, s.Format, in, Some(seed), s.Variants...)
}

// checkNamed is Check, where an option or a layer that the file does not have is an error like
// others.
func checkNamed(t testing.TB, f readers.Format, in Input) (*readers.Table, error) {
	t.Helper()
	table, err := Parse(t, f, in)
	wrong, option := error(nil), (*readers.OptionError)(nil)
	switch {
	case err == nil:
		wrong = Canonical(table)
	case !errors.As(err, &option) && !errors.Is(err, readers.ErrNoLayer):
		wrong = checkError(f, in, err)
	}
	if wrong != nil {
		t.Error(wrong)
	}
	return table, err
}

// Device compares GPU engines with the CPU engine: tables, places of batches, some of the columns
// and errors. The devices must accept a number of chunks per document and a share of all chunks.
func (s Sweep) Device(t *testing.T, list Devices, perDocument, share float64) {
	t.Helper()
	documents, first := s.run(t, func(seed uint64) (Input, func(testing.TB, Input)) {
		d := list[rand.New(rand.NewPCG(seed, 32)).IntN(len(list))]
		if s.Engine != nil {
			d = list[s.Engine(seed)]
		}
		return s.Document(seed), func(t testing.TB, in Input) {
			d.Same(t, in)
			d.samePlaces(t, in)
			Projected(t, s.Format, in, Some(seed), d.Variant())
		}
	})
	if first == 0 {
		list.Accepted(t, int64(perDocument*float64(documents)), share)
	}
}

// run checks each document with what begin returns for its seed.
func (s Sweep) run(t *testing.T, begin func(seed uint64) (Input, func(testing.TB, Input))) (documents, first int) {
	t.Helper()
	documents, first = SweepRange(t, s.Documents)
	labelTraces()
	var (
		next, tables atomic.Int64
		wait         sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= documents {
					return
				}
				name := fmt.Sprintf("VIBEFLIGHT_SWEEP=1 VIBEFLIGHT_SWEEP_SEED=%d", first+i)
				pprof.Do(t.Context(), pprof.Labels("sweep", name), func(context.Context) {
					if s.checkOne(t, uint64(first+i), name, begin) {
						tables.Add(1)
					}
				})
			}
		})
	}
	wait.Wait()
	t.Logf("%d documents from seed %d on, %d of them tables", documents, first, tables.Load())
	if documents >= minTables && tables.Load() == 0 {
		t.Error("no document is a table")
	}
	return documents, first
}

// minTables is the number of documents of which some have to be tables.
const minTables = 25

// checkOne checks the document of a seed, and reports whether it is a table.
func (s Sweep) checkOne(t *testing.T, seed uint64, name string,
	begin func(seed uint64) (Input, func(testing.TB, Input)),
) (table bool) {
	t.Helper()
	var in Input
	var check func(testing.TB, Input)
	if text := failures(t, Input{}, func(testing.TB, Input) { in, check = begin(seed) }); text != "" {
		t.Errorf("%s: the document is not written: %s", name, text)
		return false
	}
	if text := failures(t, in, check); text != "" {
		reportShrunk(t, name, in, check)
		return false
	}
	text := failures(t, in, func(t testing.TB, in Input) {
		_, err := Parse(t, s.Format, in)
		table = err == nil
	})
	if text != "" {
		t.Errorf("%s: %s", name, text)
	}
	return table
}

// labelTraces has traces of panics show the labels of goroutines.
func labelTraces() {
	const setting = "tracebacklabels=1"
	if now := os.Getenv("GODEBUG"); !strings.Contains(now, setting) {
		_ = os.Setenv("GODEBUG", strings.TrimPrefix(now+","+setting, ","))
	}
}

// SweepRange returns the number of documents that a sweep reads, and the seed of the first one.
func SweepRange(t *testing.T, documents int) (n, first int) {
	t.Helper()
	if testing.Short() {
		documents /= 20
	}
	return sweepVariable(t, "VIBEFLIGHT_SWEEP", documents), sweepVariable(t, "VIBEFLIGHT_SWEEP_SEED", 0)
}

func sweepVariable(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}

// failureText is a test whose failures are text. A fatal one ends the goroutine, as that of a test.
type failureText struct {
	testing.TB
	mu   sync.Mutex
	text string
}

func (t *failureText) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text += text
}

func (t *failureText) Error(args ...any) { t.add(fmt.Sprintln(args...)) }

func (t *failureText) Errorf(format string, args ...any) { t.add(fmt.Sprintf(format, args...) + "\n") }

func (t *failureText) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}

func (t *failureText) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *failureText) Fail() { t.add("failed\n") }

func (t *failureText) FailNow() {
	t.Fail()
	runtime.Goexit()
}

func (t *failureText) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text != ""
}

// failures returns the errors of a check, a fatal one and a panic too.
func failures(t testing.TB, in Input, check func(testing.TB, Input)) string {
	f := failureText{TB: t}
	var wait sync.WaitGroup
	wait.Go(func() {
		done := false
		defer func() {
			if r := recover(); r != nil {
				f.add(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
			} else if !done && !f.Failed() {
				f.add("the check ended early\n") // by a fatal error of another test
			}
		}()
		check(&f, in)
		done = true
	})
	wait.Wait()
	return f.text
}

// maxShrinkTries bounds how often reportShrunk reads a document.
const maxShrinkTries = 600

// reportShrunk fails a test because of an input, which it writes to a file. It takes out bytes as
// long as the check still fails.
func reportShrunk(t testing.TB, name string, in Input, check func(testing.TB, Input)) {
	t.Helper()
	small, tries := in, 0
	fails := func(text []byte, limits readers.Limits) bool {
		smaller := small
		smaller.Text, smaller.Limits = text, limits
		if tries++; tries > maxShrinkTries || failures(t, smaller, check) == "" {
			return false
		}
		small = smaller
		return true
	}
	fails(in.Text, readers.Limits{Workers: in.Limits.Workers})
	for size := len(small.Text) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(small.Text) && tries < maxShrinkTries; {
			if !fails(slices.Concat(small.Text[:at], small.Text[at+size:]), small.Limits) {
				at += size
			}
		}
	}
	dir, err := os.MkdirTemp("", "vibeflight-sweep-*")
	path := filepath.Join(dir, "whole"+filepath.Ext(in.Name))
	err = errors.Join(err, os.WriteFile(path, in.Text, 0o666))
	t.Errorf("%s: %s has the document, error %v\nshrunk: %q\noptions %v, layer %q, limits %+v\n%s", name, path, err,
		clip(small.Text), small.Options, small.Layer, small.Limits, failures(t, small, check))
}
