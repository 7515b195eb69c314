//go:build cgo && linux && (amd64 || arm64)

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// workerEnv has the binary of the tests be a worker.
const workerEnv = "VIBEFLIGHT_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(os.NewFile(Socket, "server"), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newPool starts workers of this binary.
func newPool(t *testing.T, resolve duck.Resolver) *Pool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPool(Config{
		Command: []string{exe}, Env: []string{workerEnv + "=1"}, Max: 1, MemoryBytes: 1 << 28, Threads: 1,
		Log: zerolog.Nop(),
	}, resolve)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestPanicOfTheServer has the server panic when a worker asks for a table: the statement fails
// alone.
func TestPanicOfTheServer(t *testing.T) {
	p := newPool(t, func(context.Context, string) (duck.Relation, error) { panic("a defect") })
	db, err := p.Take(t.Context(), anyDatabase)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Rest()
	if err := db.View("", "t", "key"); err != nil {
		t.Fatal(err)
	}
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for text, wanted := range map[string]bool{"SELECT * FROM t": false, "SELECT 1": true} {
		q, err := c.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Prepare(t.Context(), q)
		if (err == nil) != wanted {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// TestRequestThatCannotBeSent ends the worker, whose state is unknown then, and not the caller's
// wait.
func TestRequestThatCannotBeSent(t *testing.T) {
	p := newPool(t, nil)
	for range 2 { // the second time with another worker
		db, err := p.Take(t.Context(), anyDatabase)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.(*process).ask(t.Context(), opView, make(chan int), nil); err == nil {
			t.Error("a channel was sent as JSON")
		}
		db.Rest()
	}
}

// failingRelation is a table whose batches cannot be read.
type failingRelation struct{ released atomic.Int64 }

func (*failingRelation) Schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)
}
func (*failingRelation) Rows() int64 { return 1 }
func (f *failingRelation) Scan(context.Context, []int) (duck.Batches, error) {
	return failingBatches{f}, nil
}
func (*failingRelation) Release() {}

type failingBatches struct{ of *failingRelation }

func (failingBatches) Len() int { return 1 }
func (failingBatches) Batch(int) (arrow.Record, bool, error) {
	return nil, false, errors.New("a damaged batch")
}
func (b failingBatches) Release() { b.of.released.Add(1) }

// TestScanOfAFailingTable checks that a scan is released whose first batch, which comes with the
// reply to it, is an error.
func TestScanOfAFailingTable(t *testing.T) {
	table := &failingRelation{}
	p := newPool(t, func(context.Context, string) (duck.Relation, error) { return table, nil })
	db, err := p.Take(t.Context(), anyDatabase)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Rest()
	if err := db.View("", "t", "key"); err != nil {
		t.Fatal(err)
	}
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q, err := c.Parse("SELECT sum(i) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Query(t.Context(), nil, 0); err == nil || !strings.Contains(err.Error(), "a damaged batch") {
		t.Errorf("%v, want the error of the batch", err)
	}
	if n := table.released.Load(); n != 1 {
		t.Errorf("the scan was released %d times, want once", n)
	}
}
