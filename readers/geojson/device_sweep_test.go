package geojson

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestDeviceSweep holds what a device makes of random documents, most of them with mistakes,
// against what the CPU engine makes of them: tables, counts and errors, to the letter. It reads
//
//	VIBEFLIGHT_SWEEP       n documents; else 2,000, and 100 under -short
//	VIBEFLIGHT_SWEEP_SEED  from this seed on; each document has its own
//
// A document that differs is written to a file, whole and shrunk, and its seed printed:
// VIBEFLIGHT_SWEEP=1 with that seed reads it again.
func TestDeviceSweep(t *testing.T) {
	documents, first := readertest.SweepRange(t, 2000)
	s := newSweep(t, sweepChunks)
	var (
		next   atomic.Int64
		failed atomic.Int64
		wait   sync.WaitGroup
		began  = time.Now()
	)
	const maxFailures = 5
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for failed.Load() < maxFailures {
				i := int(next.Add(1)) - 1
				if i >= documents {
					return
				}
				if d := newSweepDocument(uint64(first + i)); s.differs(d) != "" {
					failed.Add(1)
					s.tell(first+i, d)
				}
			}
		})
	}
	wait.Wait()
	took := time.Since(began).Seconds()
	t.Logf("%d documents in %.0f s, %.0f per second; %s", documents, took, float64(documents)/took, s.counts())
	s.check(t, documents/2)
}

// sweep is devices that read chunks of several sizes on one device, and what they did.
type sweep struct {
	t       *testing.T
	devices []readers.Engine
	mu      sync.Mutex
	seen    []readers.EngineCounts // by device
	why     map[string]int64       // chunks refused, by reason
	faults  map[string]bool        // that were told
}

func newSweep(t *testing.T, chunks []int64) *sweep {
	t.Helper()
	s := &sweep{t: t, why: map[string]int64{}, faults: map[string]bool{}}
	k := readertest.Kernels(t)
	for i, chunk := range chunks {
		p := slots.Plan{ChunkBytes: chunk, Slots: 4, Work: 3}
		if i%2 == 1 { // else memory comes from the device, whose every buffer is watched
			p.ArenaBytes = 1 << 20
		}
		s.devices = append(s.devices, readertest.DeviceOn(t, Format(), slots.Config{Plan: p, Fault: s.fault}, k))
	}
	s.seen = make([]readers.EngineCounts, len(chunks))
	return s
}

// fault fails the test with what went wrong on a device, once.
func (s *sweep) fault(device string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := device + ": " + err.Error(); !s.faults[text] {
		s.faults[text] = true
		s.t.Error(text)
	}
}

// failureText is a test that takes down what went wrong.
type failureText struct {
	testing.TB
	text string
}

func (t *failureText) Errorf(format string, args ...any) {
	t.text += fmt.Sprintf(format, args...) + "\n"
}

// differs says how what the device makes of a document differs from what the CPU engine makes of
// it, or "".
func (s *sweep) differs(d sweepDocument) string {
	t := failureText{TB: s.t}
	device := s.devices[d.device]
	readertest.Same(&t, Format(), d.Input, []int{0}, readertest.OnDevice(device))
	if t.text == "" && len(d.Text)%2 == 0 {
		readertest.Projected(&t, Format(), d.Input, readertest.Some(uint64(len(d.Text))), readertest.OnDevice(device))
	}
	if t.text == "" && len(d.Text)%4 == 0 {
		t.text = placesDiffer(s.t, d.Input, device)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := device.Counts()
	if n := now.Refused - s.seen[d.device].Refused; n > 0 { // of several in one document, the last one's reason
		s.why[now.Reason] += n
	}
	s.seen[d.device] = now
	return t.text
}

// placesDiffer says how the places and the names of rows and columns differ, which no reader of a
// table sees.
func placesDiffer(t testing.TB, in readertest.Input, device readers.Engine) string {
	want, err := readertest.Parse(t, Format(), in)
	if err != nil {
		return ""
	}
	in.Parser = device.Parser
	got, err := readertest.Parse(t, Format(), in)
	if err != nil {
		return err.Error()
	}
	if got, want := placesOf(got), placesOf(want); got != want {
		return fmt.Sprintf("got %s\nwant %s", got, want)
	}
	return ""
}

// tell writes a document that differs to files and says what is different about it.
func (s *sweep) tell(seed int, d sweepDocument) {
	small := d.shrink(600, func(d sweepDocument) bool { return s.differs(d) != "" })
	path := filepath.Join(os.TempDir(), fmt.Sprintf("vibeflight-sweep-%d%s", seed, filepath.Ext(d.Name)))
	for _, f := range []struct {
		path string
		text []byte
	}{{path, d.Text}, {path + ".small", small.Text}} {
		if err := os.WriteFile(f.path, f.text, 0o666); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Errorf("seed %d, %s, shrunk: %s.small\nchunks of %d bytes, %v, %+v\n%q\n%s", seed, path, path,
		sweepChunks[d.device], small.Options, small.Limits, small.Text, s.differs(small))
}

// counts says what the devices did.
func (s *sweep) counts() string {
	var b strings.Builder
	sum := s.sum()
	fmt.Fprintf(&b, "%d chunks accepted, %d refused", sum.Chunks, sum.Refused)
	reasons := slices.SortedFunc(maps.Keys(s.why), func(a, b string) int { return int(s.why[b] - s.why[a]) })
	for _, why := range reasons {
		fmt.Fprintf(&b, "\n%8d %s", s.why[why], why)
	}
	return b.String()
}

func (s *sweep) sum() (sum readers.EngineCounts) {
	for _, d := range s.devices {
		c := d.Counts()
		sum.Chunks, sum.Refused, sum.Faults = sum.Chunks+c.Chunks, sum.Refused+c.Refused, sum.Faults+c.Faults
	}
	return sum
}

// check asks for a device that did its part.
func (s *sweep) check(t *testing.T, least int) {
	t.Helper()
	if sum := s.sum(); sum.Chunks < int64(least) || sum.Faults > 0 {
		t.Errorf("%d chunks accepted, %d faults: want at least %d, and none", sum.Chunks, sum.Faults, least)
	}
}
