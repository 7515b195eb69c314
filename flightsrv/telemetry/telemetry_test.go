package telemetry

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/readers"
)

var update = flag.Bool("update", false, "write docs/reference/metrics.md again")

// full returns telemetry with a value of every instrument.
func full(t *testing.T) *Telemetry {
	t.Helper()
	tel, err := New(t.Context(), Config{Prometheus: true, Version: "v1", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(t.Context()) })
	tel.Metrics.Observe(Sources{
		Catalog: func() catalog.Stats {
			return catalog.Stats{
				Entries: 3, Stores: []catalog.StoreStats{{}}, Cache: &persist.Stats{},
				SharedStore: &shared.Stats{},
				Engines: &catalog.EngineStats{
					Devices: []catalog.DeviceStats{{}}, Formats: map[string]readers.EngineCounts{"csv": {}},
				},
			}
		},
		SQL:     func() sql.Stats { return sql.Stats{} },
		Clients: func() Clients { return Clients{} },
		Audit:   func() audit.Stats { return audit.Stats{} },

		Replicas: func() int { return 4 },
	})
	tel.Health.set(func() { tel.Health.components["catalog"] = &component{} })
	m := tel.Metrics
	m.Call("DoGet", "OK", 5, 60)
	m.FirstBatch(t.Context(), true, time.Second)
	m.FirstBatch(t.Context(), false, time.Second)
	m.Batches(3, 4)
	m.Authentication("")
	m.Forwarded("sent")
	m.Parsed(catalog.ParseReport{Format: "csv", Engine: "cpu", Bytes: 7})
	m.CallQueued(t.Context(), time.Second)
	return tel
}

// TestReference compares docs/reference/metrics.md with what is exported.
func TestReference(t *testing.T) {
	families, err := full(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| metric | kind | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "vibeflight_") {
			continue
		}
		var labels []string
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(labels, "`"+l.GetName()+"`") {
					labels = append(labels, "`"+l.GetName()+"`")
				}
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()),
			strings.Join(labels, ", "), f.GetHelp())
	}
	const file, begin, end = "../../docs/reference/metrics.md", "<!-- generated -->\n\n", "\n<!-- end -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", file, begin, end)
	}
	want := head + begin + table.String() + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s is out of date: go test ./flightsrv/telemetry -run Reference -update", file)
	}
}

// TestEveryInstrumentIsExported finds each instrument in a scrape, with a unit that Prometheus knows.
func TestEveryInstrumentIsExported(t *testing.T) {
	families, err := full(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
	}
	want := map[string]string{}
	for _, i := range instruments() {
		want[i.name] = i.unit
	}
	for _, h := range histograms {
		want[h.name] = "s"
	}
	for name, unit := range want {
		base := strings.ReplaceAll(name, ".", "_") + map[string]string{"s": "_seconds", "By": "_bytes"}[unit]
		if !names[base] && !names[base+"_total"] {
			t.Errorf("%s (%s) is not exported", name, unit)
		}
	}
}

// TestOff has neither metrics nor options of gRPC if nothing is enabled, and methods of nil do nothing.
func TestOff(t *testing.T) {
	tel, err := New(t.Context(), Config{})
	if err != nil || tel.Metrics != nil || tel.ServerOptions() != nil {
		t.Fatalf("got %+v, %v", tel, err)
	}
	if n := testing.AllocsPerRun(100, func() {
		tel.Metrics.Call("DoGet", "OK", 1, 1)
		tel.Metrics.FirstBatch(t.Context(), true, 0)
		tel.Metrics.Batches(1, 1)
		tel.Metrics.Authentication("token")
		tel.Metrics.Parsed(catalog.ParseReport{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCallAllocates counts a call without an allocation.
func TestCallAllocates(t *testing.T) {
	m := full(t).Metrics
	if n := testing.AllocsPerRun(100, func() { m.Call("DoGet", "OK", 1, 1) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestProtocol refuses OTLP over gRPC, which is not built in, and honours the variables that turn
// export off.
func TestProtocol(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := New(t.Context(), Config{}); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("got %v", err)
	}
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	if tel, err := New(t.Context(), Config{}); err != nil || tel.ServerOptions() != nil {
		t.Errorf("got %+v, %v", tel, err)
	}
}

// TestHTTP asks all paths while the server starts, works, has a stuck component and drains.
func TestHTTP(t *testing.T) {
	tel := full(t)
	delete(tel.Health.components, "catalog")
	server := httptest.NewServer(tel.HTTP())
	defer server.Close()
	want := func(path string, code int, text string) {
		t.Helper()
		r, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != code || !strings.Contains(string(body), text) {
			t.Errorf("%s: got %d %q, %v, want %d %q", path, r.StatusCode, body, err, code, text)
		}
	}
	want("/healthz", 200, "ok")
	want("/readyz", 503, "the catalog is not read yet\nnot listening yet")
	tel.Health.SetLoaded()
	tel.Health.SetListening()
	want("/readyz", 200, "ok")
	want("/metrics", 200, "vibeflight_catalog_entries 3")
	want("/", 404, "")
	tel.Health.set(func() { tel.Health.components["x"] = &component{Component: Component{Name: "x"}, stuck: true} })
	want("/readyz", 503, "x is stuck")
	want("/healthz", 200, "ok")
	tel.Health.set(func() { tel.Health.components["x"].stuck = false })
	tel.Health.SetDraining()
	want("/readyz", 503, "draining")
}

// TestWatch has a component that hangs, then fails, then works. Each turns the server as it should.
func TestWatch(t *testing.T) {
	h := NewHealth()
	h.SetLoaded()
	h.SetListening()
	states := make(chan bool, 10)
	h.OnChange(func(serving bool) { states <- serving })
	if !<-states {
		t.Fatal("not serving at first")
	}
	hang, fail := make(chan struct{}), make(chan error, 1)
	fail <- errors.New("broken")
	reports := make(chan error, 10)
	go h.Watch(t.Context(), Component{
		Name: "x", Every: time.Millisecond, Stale: 30 * time.Millisecond,
		Probe: func(context.Context) error {
			<-hang // it ignores its context
			select {
			case err := <-fail:
				return err
			default:
				return nil
			}
		},
	}, func(err error) { reports <- err })
	if <-states {
		t.Fatal("still serving")
	}
	if err := <-reports; err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v", err)
	}
	if h.Components()["x"] || !slices.Equal(h.Reasons(), []string{"x is stuck"}) {
		t.Errorf("got %v", h.Reasons())
	}
	close(hang)
	if !<-states {
		t.Fatal("not serving again")
	}
	if err := <-reports; err != nil {
		t.Errorf("got %v", err)
	}
}
