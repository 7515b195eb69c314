package geojson

import (
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestTogether has tasks wait different numbers of times, one of them with tasks of its own.
func TestTogether(t *testing.T) {
	var log []string
	say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	dev := gputest.OpenFaulty(t, gpu.Options{}, func(call string) error {
		if call == "Synchronize" {
			say("wait")
		}
		return nil
	})
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	d := &deviceRows{Work: &device.Work{S: s}, turns: &taskSchedule{}}
	task := func(name string, waits int) func() {
		return func() {
			for i := range waits {
				say("%s%d", name, i)
				d.Await()
			}
			say("%s!", name)
		}
	}
	for _, tt := range []struct {
		name  string
		tasks []func()
		want  string
	}{
		{"none", nil, ""},
		{"one that does not wait", []func(){task("a", 0)}, "a!"},
		{"one", []func(){task("a", 2)}, "a0 wait a1 wait a!"},
		{"two", []func(){task("a", 1), task("b", 3)}, "a0 b0 wait a! b1 wait b2 wait b!"},
		{
			"some in one",
			[]func(){task("a", 2), func() { d.together(task("b", 1), task("c", 2)); task("d", 1)() }},
			"a0 b0 c0 wait a1 b! c1 wait a! c! d0 wait d!",
		},
	} {
		log = nil
		d.together(tt.tasks...)
		if got := strings.Join(log, " "); got != tt.want || d.turns.rest != nil {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}

	log = nil
	func() {
		defer func() { say("%v", recover()) }()
		d.together(task("a", 1), func() { panic("lost") })
	}()
	if got := strings.Join(log, " "); got != "a0 a! lost" || !d.Stopped() {
		t.Errorf("a panic: %s; stopped is %v", got, d.Stopped())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestDeviceCalls bounds how often a chunk is waited for, and what is copied to the device next to
// its text, which would wait after that of others. Numbers of the types before are made when they
// are read.
func TestDeviceCalls(t *testing.T) {
	polygon := `{"type":"Polygon","coordinates":[[[1.5,2],[3,4.25],[5,6],[1.5,2]]]}`
	collection := `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2.5]},` + polygon + `]}`
	for _, tt := range []struct {
		name       string
		geometries []string
		properties string
		waits      int
	}{
		{"polygons", []string{polygon}, `"rel":4,"height":0.1,"name":"Ocean Dr"`, 6},
		{
			"several kinds",
			[]string{polygon, `{"type":"Point","coordinates":[1,2.5]}`, `null`},
			`"rel":4,"height":0.1,"name":"Ocean Dr"`, 6,
		},
		{
			"collections",
			[]string{polygon, collection, `null`, `{"type":"MultiPoint","coordinates":[[1,2,3]]}`},
			`"n":1,"x":2.5,"name":"a\n","tags":{"a":[1]}`, 10,
		},
	} {
		var mu sync.Mutex
		calls := map[string]int{}
		dev := gputest.OpenFaulty(t, gpu.Options{CacheDir: gputest.CacheDir(), Images: kernels.CompiledIn()},
			func(call string) error {
				mu.Lock()
				defer mu.Unlock()
				calls[call]++
				return nil
			})
		k, err := kernels.Load(dev)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for i := 0; b.Len() < 160<<10; i++ {
			fmt.Fprintf(&b, `{"type":"Feature","properties":{%s},"geometry":%s}`+"\n", tt.properties,
				tt.geometries[i%len(tt.geometries)])
		}
		file := filepath.Join(t.TempDir(), "a.geojsonl")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		d := readertest.NewDeviceOn(t, Format(),
			slots.Config{Plan: slots.Plan{ChunkBytes: 16 << 10, Slots: 1, Work: 1}, Tables: -1}, k)
		digest(t, maphash.MakeSeed(), file, d.Parser)
		chunks := int(d.Counts().Chunks)
		if chunks < 8 || d.Counts().Refused > 0 {
			t.Fatalf("%s: %d chunks, %d refused: %s", tt.name, chunks, d.Counts().Refused, d.Counts().Reason)
		}
		mu.Lock()
		t.Logf("%s: %d chunks, %d waits, %d copies to the device", tt.name, chunks, calls["Synchronize"],
			calls["ToDevice"])
		// The first chunk learns names, and that there are third ordinates.
		if waits := calls["Synchronize"]; waits > tt.waits*chunks+8 {
			t.Errorf("%s: %d waits for %d chunks, want at most %d each", tt.name, waits, chunks, tt.waits)
		}
		if copies := calls["ToDevice"]; copies >= 2*chunks {
			t.Errorf("%s: %d copies to the device for %d chunks, want one each and those of names", tt.name,
				copies, chunks)
		}
		mu.Unlock()
		if n := k.Launches(); n["members_read"] < int64(chunks) || n["scalars_parse"] > 0 {
			t.Errorf("%s: numbers read %d times and made %d times again for %d chunks, which are of the types before",
				tt.name, n["members_read"], n["scalars_parse"], chunks)
		}
	}
}
