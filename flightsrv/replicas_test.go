package flightsrv

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
)

const renewOfTests = 20 * time.Millisecond

// replicas are servers of one fleet over the same files, each with a cache folder of its own.
type replicas struct {
	store *fleettest.Memory
	all   []*fixture
}

// serveFleet starts n replicas, called r0, r1, ….
func serveFleet(t *testing.T, n int, files map[string]string, change ...func(*Config)) *replicas {
	t.Helper()
	dir := &fixture{dir: t.TempDir()}
	for name, text := range files {
		dir.write(t, name, text)
	}
	return serveFleetOf(t, n, func() catalog.Config {
		return catalog.Config{Roots: []catalog.Root{{Dir: dir.dir}}}
	}, change...)
}

// serveFleetOf is serveFleet with the configuration of the catalogs.
func serveFleetOf(t *testing.T, n int, of func() catalog.Config, change ...func(*Config)) *replicas {
	t.Helper()
	f := &replicas{store: fleettest.NewMemory(time.Now)}
	for i := range n {
		cfg := of()
		cfg.CacheDir = t.TempDir()
		f.all = append(f.all, serveCatalog(t, nil, cfg, append([]func(*Config){func(c *Config) {
			c.Fleet, c.Replica, c.fleetRenew = f.store, fmt.Sprint("r", i), renewOfTests
		}}, change...)...))
	}
	f.await(t, n)
	return f
}

// await waits until all servers know n replicas.
func (f *replicas) await(t *testing.T, n int) {
	t.Helper()
	for _, x := range f.all {
		soon(t, func() bool { return len(x.server.service.fleet.Replicas()) == n })
	}
}

func soon(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not seen in time")
		}
	}
}

// uris returns the locations of the endpoints.
func uris(info *flight.FlightInfo) (all [][]string) {
	for _, e := range info.GetEndpoint() {
		var of []string
		for _, l := range e.GetLocation() {
			of = append(of, l.GetUri())
		}
		all = append(all, of)
	}
	return all
}

func (f *fixture) uri() string { return "grpc+tcp://" + f.addr }

// TestEndpointsNameKeepers checks that endpoints name the replicas that have a table on disk, on each
// replica in the same order, and that clients may fall back to their connection.
func TestEndpointsNameKeepers(t *testing.T) {
	f := serveFleet(t, 3, map[string]string{"a.fake": "rows=10"})
	f.all[1].info(t, pathOf("a.fake")) // parses it
	want := []string{f.all[1].uri(), sameConnection}
	for i, f := range []*fixture{f.all[1], f.all[0], f.all[2]} {
		soon(t, func() bool {
			got := uris(f.info(t, pathOf("a.fake")))
			return slices.Equal(got[0], want) || i > 0 && len(got[0]) > 2 // it has parsed it, too
		})
	}
	// Now all have it.
	var first []string
	for _, f := range f.all {
		soon(t, func() bool { return len(uris(f.info(t, pathOf("a.fake")))[0]) == 4 })
		got := uris(f.info(t, pathOf("a.fake")))[0]
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) || got[3] != sameConnection {
			t.Errorf("endpoints %v, of another replica %v", got, first)
		}
	}
}

// TestTicketsMeanTheSame fetches the endpoints of one replica from each location that they name.
func TestTicketsMeanTheSame(t *testing.T) {
	f := serveFleet(t, 3, map[string]string{"big.fake": "rows=1000000"})
	info := f.all[0].info(t, pathOf("big.fake"))
	if len(info.Endpoint) < 3 {
		t.Fatalf("%d endpoints", len(info.Endpoint))
	}
	for _, x := range f.all {
		var all []int32
		for _, e := range info.Endpoint {
			got, err := x.get(t, string(e.Ticket.Ticket))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got.numbers...)
		}
		if len(all) != 1_000_000 || !slices.IsSorted(all) {
			t.Errorf("%d rows from %s", len(all), x.addr)
		}
	}
	// All have it now: each is the first location of some endpoints.
	soon(t, func() bool {
		first := map[string]int{}
		for _, of := range uris(f.all[2].info(t, pathOf("big.fake"))) {
			if len(of) != 4 {
				return false
			}
			first[of[0]]++
		}
		return len(first) == 3
	})
}

// TestDrainingReplicaIsNotNamed checks that a replica that drains is not in endpoints any more, and
// still names the others.
func TestDrainingReplicaIsNotNamed(t *testing.T) {
	f := serveFleet(t, 3, map[string]string{"a.fake": "rows=10", "b.fake": "rows=1"})
	for _, x := range f.all {
		x.info(t, pathOf("a.fake"))
	}
	f.all[2].server.service.fleet.Leave()
	for _, x := range f.all {
		for _, name := range []string{"a.fake", "b.fake"} {
			soon(t, func() bool {
				got := uris(x.info(t, pathOf(name)))[0]
				return !slices.Contains(got, f.all[2].uri()) && slices.Contains(got, sameConnection)
			})
		}
	}
	if got := f.all[2].server.service.fleet.Stats(); !got.Leaving || len(got.Replicas) != 2 {
		t.Errorf("stats of the replica that leaves: %+v", got)
	}
}

// TestStoreAway checks that a store that is away costs sharing alone: calls are answered, the last
// list is used for a while, and readiness stays.
func TestStoreAway(t *testing.T) {
	f := serveFleet(t, 2, map[string]string{"a.fake": "rows=10", "b.fake": "rows=10"})
	f.store.SetAway(true)
	x := f.all[0]
	soon(t, func() bool { return !x.server.service.fleet.Answers() })
	for _, name := range []string{"a.fake", "b.fake"} {
		begin := time.Now()
		info := x.info(t, pathOf(name))
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if got, err := x.get(t, string(info.Endpoint[0].Ticket.Ticket)); err != nil || got.rows != 10 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(x.server.service.fleet.Replicas()); n != 2 {
		t.Errorf("%d replicas just after the store is away", n)
	}
	w := httptest.NewRecorder()
	x.server.cfg.Telemetry.HTTP().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if body, _ := io.ReadAll(w.Body); w.Code != http.StatusOK || !strings.Contains(string(body), "ok") {
		t.Errorf("readyz: %d %s", w.Code, body)
	}
	f.store.SetAway(false)
	soon(t, func() bool { return x.server.service.fleet.Answers() })
}

// TestFleetOfTheStats checks what administrators see of the replicas.
func TestFleetOfTheStats(t *testing.T) {
	f := serveFleet(t, 2, nil)
	got := f.all[0].action(t, "stats")
	for _, want := range []string{`"id":"r0"`, `"id":"r1"`, f.all[1].uri(), `"store_answers":true`} {
		if !strings.Contains(got, want) {
			t.Errorf("stats %s: want %s", got, want)
		}
	}
	if got := serve(t, nil).action(t, "stats"); strings.Contains(got, `"fleet"`) {
		t.Errorf("stats of a server that is alone: %s", got)
	}
}

// TestReplicaIsConfigured checks the configuration.
func TestReplicaIsConfigured(t *testing.T) {
	x := serve(t, nil)
	for _, test := range []struct {
		id, listen string
		advertise  []string
		want       string
	}{
		{"", "127.0.0.1:0", nil, "--replica"},
		{"two words", "127.0.0.1:0", nil, "--replica"},
		{"a", "0.0.0.0:0", nil, "--advertise"},
		{"a", "127.0.0.1:0", []string{sameConnection}, "--advertise"},
	} {
		_, err := New(Config{
			Catalog: x.catalog, Fleet: fleettest.NewMemory(time.Now), Replica: test.id, Listen: []string{test.listen},
			Insecure: true, Advertise: test.advertise,
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// action runs an action without a body, and returns its answer.
func (f *fixture) action(t *testing.T, name string) string {
	t.Helper()
	stream, err := f.client.DoAction(t.Context(), &flight.Action{Type: name})
	if err != nil {
		t.Fatal(err)
	}
	r, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return string(r.GetBody())
}

// TestRowsOfATableThatAnotherReplicaHas reads a table, without a shared cache, from a replica that has
// not parsed its file. If the other one dies, the file is parsed.
func TestRowsOfATableThatAnotherReplicaHas(t *testing.T) {
	f := serveFleet(t, 2, map[string]string{"a.fake": "rows=1000", "b.fake": "rows=1000 pad=3"})
	for _, name := range []string{"a.fake", "b.fake"} {
		f.all[0].info(t, pathOf(name)) // parses it
	}
	soon(t, func() bool { return len(catalogKeys(f.all[0])) == 2 })
	parses := func() int64 { return f.all[1].catalog.Stats().Parses }
	for i, name := range []string{"a.fake", "b.fake"} {
		e, err := f.all[0].catalog.Lookup(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		key, _ := f.all[0].server.service.tableKey(e, nil)
		other := f.all[1].server.service
		other.tableKey = func(catalog.Entry, map[string]any) (fleetstore.TableKey, bool) { return key, true }
		soon(t, func() bool { return other.fleet.Keeper(t.Context(), &key) == "r0" })
		if i == 1 {
			f.all[0].server.grpc.Stop()
		}
		got, err := f.all[1].get(t, name)
		if err != nil || got.rows != 1000 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := parses(); n != int64(i) {
			t.Errorf("%s: %d parses, want %d", name, n, i)
		}
	}
}

func catalogKeys(f *fixture) []fleetstore.TableKey {
	_, onDisk, _ := catalog.TableKeys(f.catalog)
	return onDisk()
}

// TestListsSendNoCalls checks which answers count as calls that clients will make.
func TestListsSendNoCalls(t *testing.T) {
	f := serveFleet(t, 1, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.fleetRenew = time.Hour })
	x := f.all[0]
	sent := func() int64 { return x.server.service.fleet.PlacementOf("")[0].Sent }
	x.info(t, pathOf("a.fake"))
	if n := sent(); n != 1 {
		t.Errorf("a FlightInfo of one endpoint counts as %d calls", n)
	}
	stream, err := x.client.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if n := sent(); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("%d calls after a list, %v", n, err)
	}
}
