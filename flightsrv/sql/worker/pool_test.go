//go:build cgo

package worker

import (
	"fmt"
	"os"
	"testing"

	"github.com/rs/zerolog"
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

// TestRequestThatCannotBeSent ends the worker, whose state is unknown then, and not the caller's wait.
func TestRequestThatCannotBeSent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPool(Config{
		Command: []string{exe}, Env: []string{workerEnv + "=1"}, Max: 1, MemoryBytes: 1 << 28, Threads: 1, Log: zerolog.Nop(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 2 { // the second time with another worker
		db, err := p.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := db.(*process).ask(t.Context(), opView, make(chan int), nil); err == nil {
			t.Error("a channel was sent as JSON")
		}
		db.Rest()
	}
}
