package flightsrv

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
)

// users of TestGreedyUser: each is an address of the loopback network.
const (
	fairUsers      = 63
	greedyRequests = 100
	thinkTime      = 50 * time.Millisecond
)

// dialFrom connects from an address of the loopback network.
func dialFrom(t *testing.T, addr, local string) flight.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}}
	c, err := flight.NewClientWithMiddleware(addr, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", addr)
		}), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// read reads a whole answer and drops it.
func read(ctx context.Context, c flight.Client, ticket string) error {
	stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte(ticket)})
	for err == nil {
		_, err = stream.Recv()
	}
	if err == io.EOF { //nolint:errorlint // as Recv returns it
		return nil
	}
	return err
}

// TestGreedyUser has 63 users that read a small table again and again, while another one reads a
// large table with a hundred requests at a time. VIBEFLIGHT_FAIRNESS=10s measures the time of the small
// reads, with and without the greedy user, and with several limits; integration/bench/results has the
// figures. Otherwise it only checks that each user gets its answers.
//
// The greedy client is a process of its own. In the process of the server, the decoding and the
// garbage of a Flight client made most of the delay. From its own process it delayed the small reads
// by a quarter of that, and no less when it read from another server. For that reason the greedy
// client decodes nothing: the server has to send several times as much.
func TestGreedyUser(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("VIBEFLIGHT_FAIRNESS"))
	measured := err == nil
	if !measured {
		span = 500 * time.Millisecond
	}
	for _, c := range []struct {
		limits      admission.Limits
		connections int // of the greedy user
	}{
		{admission.Limits{Calls: admission.DefaultUserCalls}, greedyRequests},
		{admission.Limits{Calls: admission.DefaultUserCalls}, 4},
		{admission.Limits{Calls: 8}, greedyRequests},
		{admission.Limits{Calls: 2}, greedyRequests},
		{admission.Limits{Calls: 8, BytesPerSecond: 200 << 20}, greedyRequests},
	} {
		if !measured && c.limits.Calls != 8 {
			continue
		}
		t.Run(fmt.Sprintf("calls=%d,bytes=%d,connections=%d", c.limits.Calls, c.limits.BytesPerSecond,
			c.connections), func(t *testing.T) {
			files := map[string]string{"big.fake": "rows=65536 pad=1000", "a.fake": "rows=100"}
			f := serve(t, files, func(cfg *Config) {
				cfg.Admission = admission.New(admission.Config{
					Limits: c.limits, MaxCalls: admission.DefaultMaxCalls,
					Queue: admission.Queue{User: admission.DefaultUserWaiting, Time: time.Minute},
				})
			})
			if err := read(t.Context(), f.client, "big.fake"); err != nil {
				t.Fatal(err)
			}
			var small []flight.Client
			for i := range fairUsers {
				small = append(small, dialFrom(t, f.addr, fmt.Sprintf("127.0.1.%d", i+1)))
			}
			measureReads(t, small, span/4) // connects
			alone := measureReads(t, small, span)

			stop := startGreedy(t, f.addr, c.connections, greedyRequests/c.connections)
			defer stop()
			until(t, "the greedy user waits or runs", func() bool {
				n := f.server.cfg.Admission.Stats().Calls
				return n.Running+n.Waiting >= greedyRequests/2
			})
			shared := measureReads(t, small, span)
			t.Logf("p50 %v, p99 %v alone; p50 %v, p99 %v next to %d MB of large reads; p99 %.1f times as long",
				quantile(alone, 0.5), quantile(alone, 0.99), quantile(shared, 0.5), quantile(shared, 0.99), stop()/1e6,
				float64(quantile(shared, 0.99))/float64(quantile(alone, 0.99)))
			if len(alone) < fairUsers || len(shared) < fairUsers {
				t.Errorf("%d and %d reads of %d users", len(alone), len(shared), fairUsers)
			}
		})
	}
}

// measureReads has each client read a.fake again and again, and returns the times, sorted.
func measureReads(t *testing.T, clients []flight.Client, span time.Duration) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var wg sync.WaitGroup
	end := time.Now().Add(span)
	for i, c := range clients {
		wg.Go(func() {
			time.Sleep(thinkTime * time.Duration(i) / time.Duration(len(clients)))
			for first := true; first || time.Now().Before(end); first = false {
				began := time.Now()
				if err := read(t.Context(), c, "a.fake"); err != nil {
					t.Error(err)
					return
				}
				took := time.Since(began)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
				time.Sleep(thinkTime)
			}
		})
	}
	wg.Wait()
	slices.Sort(times)
	return times
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(time.Microsecond)
}

// BenchmarkAdmission is the cost of a call's registration and turn.
func BenchmarkAdmission(b *testing.B) {
	s := &service{cfg: Config{
		Admission: admission.New(admission.Config{
			Limits: admission.Limits{Calls: 256}, MaxCalls: 1024, Queue: admission.Queue{User: 10, Time: time.Minute},
		}),
		Telemetry: &telemetry.Telemetry{},
	}}
	b.ReportAllocs()
	for b.Loop() {
		ctx, _, end, err := s.begin(b.Context(), flightPrefix+"DoGet")
		if err == nil {
			err = s.admit(ctx, &flight.Ticket{})
		}
		if err != nil {
			b.Fatal(err)
		}
		end()
	}
}
