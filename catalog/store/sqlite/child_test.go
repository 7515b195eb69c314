package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

// childVar has "<job> <path>" in the processes that these tests start.
const childVar = "VIBEFLIGHT_STORE_TEST_CHILD"

// child executes a job on the store at a path and prints a line after each step. It returns the
// exit status.
//
//	loop   puts new versions of 50 records until it is killed; deletes and prunes some of them
//	count  puts ownRecords records of its own
//	full   puts growing records until the file size limit, then checks the records stored earlier
func child(job string) int {
	what, path, _ := strings.Cut(job, " ")
	if what == "full" {
		if err := systemtest.LimitFileSize(fullBytes); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	s, err := Open(path, zerolog.New(os.Stderr))
	if err == nil {
		err = map[string]func(*Store) error{"loop": loop, "count": count, "full": full}[what](s)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func loop(s *Store) error {
	ctx := context.Background()
	for version := 1; ; version++ {
		name := fmt.Sprintf("%02d", rand.IntN(50))
		var err error
		switch {
		case version%41 == 0:
			_, err = s.Prune(ctx, func(n string) bool { return n != name })
		case version%17 == 0:
			err = s.Delete(ctx, storetest.Sample(name, 0).Key)
		default:
			err = s.Put(ctx, storetest.Sample(name, version))
		}
		if err != nil {
			return err
		}
		fmt.Println(version)
	}
}

const ownRecords = 100

func count(s *Store) error {
	for i := range ownRecords {
		if err := s.Put(context.Background(), storetest.Sample(fmt.Sprintf("child %03d", i), i)); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

const fullBytes = 1 << 20

func full(s *Store) error {
	ctx := context.Background()
	if err := s.Put(ctx, storetest.Sample("kept", 1)); err != nil {
		return err
	}
	larger := storetest.Sample("kept", 1)
	larger.Blocks = make([]byte, 2*fullBytes)
	if err := s.Put(ctx, larger); err == nil {
		return fmt.Errorf("put of %d bytes went well", len(larger.Blocks))
	}
	n := 0
	for ; n < 10000; n++ {
		r := storetest.Sample(fmt.Sprintf("%05d", n), n)
		r.Schema = make([]byte, 8<<10)
		if err := s.Put(ctx, r); err != nil {
			break
		}
	}
	if n == 10000 {
		return fmt.Errorf("%d puts went well", n)
	}
	seen := 0
	if err := s.All(ctx, func(store.Record) error { seen++; return nil }); err != nil {
		return err
	}
	if seen != n+1 {
		return fmt.Errorf("%d records, want %d", seen, n+1)
	}
	fmt.Println("full after", n)
	return nil
}

// start starts a child and returns a reader of its output.
func start(t *testing.T, what, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+what+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func TestKilledWriter(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	path := fresh(t)
	for round := range rounds {
		cmd, output := start(t, "loop", path)
		// Round 0 is killed right after its start, the others after up to some thousand writes: in
		// a write, a checkpoint or a prune.
		for range rand.IntN(1+min(round*50, 3000)) + 1 {
			if !output.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for output.Scan() { // reads to the end of its output
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer ended by itself")
		}
		s, log := open(t, path)
		got := storetest.All(t, s)
		for _, r := range got {
			storetest.Intact(t, r)
		}
		if log.String() != "" || len(got) == 0 {
			t.Errorf("round %d: %d records, log %s", round, len(got), log)
		}
		if round%2 == 0 { // every other round leaves the log for the next round
			storetest.Works(t, s)
			if err := s.Delete(t.Context(), storetest.Sample("works", 0).Key); err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestKilledWhileItBegins kills the process while it creates the database, after each of its files
// appears.
func TestKilledWhileItBegins(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		for _, suffix := range []string{".lock", "", "-wal", "-shm"} {
			path := fresh(t)
			cmd, output := start(t, "loop", path)
			for {
				if _, err := os.Stat(path + suffix); err == nil {
					break
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for output.Scan() { // reads to the end of its output
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the writer ended by itself")
			}
			s, log := open(t, path)
			for _, r := range storetest.All(t, s) {
				storetest.Intact(t, r)
			}
			storetest.Works(t, s)
			if log.String() != "" {
				t.Errorf("killed after %q: log %s", suffix, log)
			}
		}
	}
}

func TestFullDisk(t *testing.T) {
	cmd, output := start(t, "full", fresh(t))
	var last string
	for output.Scan() {
		last = output.Text()
	}
	if err := cmd.Wait(); err != nil || !strings.HasPrefix(last, "full after") {
		t.Errorf("%v: %s", err, last)
	}
}

// TestWritersAtOnce writes from two stores of this process and one of another. No record is lost or
// incomplete.
func TestWritersAtOnce(t *testing.T) {
	path := fresh(t)
	a, logA := open(t, path)
	b, logB := open(t, path)
	cmd, output := start(t, "count", path)
	each := 300
	if testing.Short() {
		each = 50
	}
	var wg sync.WaitGroup
	for i, s := range []*Store{a, b, a, b} {
		wg.Go(func() {
			for n := range each {
				name := fmt.Sprintf("own %d %03d", i, n)
				for _, r := range []store.Record{storetest.Sample(name, n), storetest.Sample("shared", n*4+i)} {
					if err := s.Put(t.Context(), r); err != nil {
						t.Errorf("%s: %v", r.Name, err)
					}
				}
				got, ok, err := s.Get(t.Context(), storetest.Sample("shared", 0).Key)
				if !ok || err != nil {
					t.Errorf("get: %v, %v", ok, err)
				}
				storetest.Intact(t, got)
			}
		})
	}
	for output.Scan() { // otherwise it would wait for a reader
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: %v", err)
	}
	wg.Wait()
	for _, s := range []*Store{a, b} {
		got := storetest.All(t, s)
		for _, r := range got {
			storetest.Intact(t, r)
		}
		if want := 4*each + ownRecords + 1; len(got) != want {
			t.Errorf("%d records, want %d", len(got), want)
		}
	}
	if logA.String()+logB.String() != "" {
		t.Errorf("logs %s %s", logA, logB)
	}
}
