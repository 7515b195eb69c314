package flightsrv

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
)

// TestCancelMidStream has 1,000 clients leave in the middle of a stream of 18 MB, some by a word,
// some by cutting the connection. No goroutine, no hold on the table and no memory may remain.
func TestCancelMidStream(t *testing.T) {
	cancelMidStream(t, 1000, serve(t, map[string]string{"big.fake": "rows=400000 pad=20"}))
}

// TestCancelMidStreamOfAFile does it with a table that is in a mapped file: the mapping ends with
// the last frame of it, also of those that gRPC dropped.
func TestCancelMidStreamOfAFile(t *testing.T) {
	before := tablefile.Mappings()
	cached := catalog.Config{CacheDir: t.TempDir(), MemoryBytes: 1 << 20}
	f := serveCatalog(t, map[string]string{"big.fake": "rows=400000 pad=20"}, cached)
	clients := 1000
	if testing.Short() {
		clients = 200
	}
	cancelMidStream(t, clients, f)
	if s := f.catalog.Stats(); s.Cache == nil || s.Cache.MappedTables != 1 {
		t.Errorf("stats %+v, want one mapped table", s)
	}
	if n, err := f.catalog.Evict(t.Context(), "big.fake"); n != 1 || err != nil {
		t.Errorf("evicted %d, %v", n, err)
	}
	eventually(t, "nothing is mapped", func() bool {
		runtime.GC() // the backstop for dropped frames
		return tablefile.Mappings() == before
	})
}

func cancelMidStream(t *testing.T, clients int, f *fixture) {
	t.Helper()
	if _, err := f.client.GetFlightInfo(t.Context(), pathOf("big.fake")); err != nil {
		t.Fatal(err)
	}
	leave(t, f, 20) // connections, pools
	goroutines, heap := runtime.NumGoroutine(), heapInUse()
	leave(t, f, clients)
	eventually(t, "the table is not held", func() bool { return f.catalog.Stats().HeldTables == 0 })
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	if now := heapInUse(); now > heap+8<<20 {
		t.Errorf("%d MiB stay behind", (now-heap)>>20)
	}
	n := int64(0)
	stream, err := f.client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte("big.fake")})
	for err == nil {
		_, err = stream.Recv()
		n++
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("afterwards: %v after %d messages", err, n)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// leave starts n streams, some at a time, and leaves each after two messages.
func leave(t *testing.T, f *fixture, n int) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 50)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			client := f.client
			cut := i%10 == 0
			if cut {
				client = dial(t, f.addr)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream, err := client.DoGet(ctx, &flight.Ticket{Ticket: []byte("big.fake")})
			for range 2 {
				if err == nil {
					_, err = stream.Recv()
				}
			}
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			if cut {
				if err := client.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			cancel()
			for err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != codes.Canceled {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkDoGet sends a cached table of 200 MB over loopback to a client in the same process.
func BenchmarkDoGet(b *testing.B) {
	f := serve(b, map[string]string{"big.fake": "rows=400000 pad=480"})
	info := f.info(b, pathOf("big.fake"))
	b.SetBytes(info.TotalBytes)
	for b.Loop() {
		stream, err := f.client.DoGet(b.Context(), &flight.Ticket{Ticket: []byte("big.fake")})
		for err == nil {
			_, err = stream.Recv()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
