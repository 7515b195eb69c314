package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// lines returns the lines of a file as objects.
func lines(t *testing.T, name string) []map[string]any {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []map[string]any
	for s := bufio.NewScanner(f); s.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v: %s", name, err, s.Text())
		}
		all = append(all, line)
	}
	return all
}

// TestRotation writes more than all files may have. Their number and their sizes are bounded, no
// line is split, and the last lines are there.
func TestRotation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit")
	l, err := Open(Config{File: file, MaxBytes: 64 << 10, MaxFiles: 3, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	const records = 3000
	for i := range records {
		l.Add(Record{Method: "DoGet", Rows: int64(i), SQL: strings.Repeat("x", 100)})
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.Written != records || s.Dropped != 0 {
		t.Errorf("got %+v", s)
	}
	found, err := filepath.Glob(file + "*")
	if err != nil || len(found) != 4 {
		t.Errorf("files: %v, %v", found, err)
	}
	for _, name := range found {
		info, err := os.Stat(name)
		if err != nil || info.Size() > 64<<10 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		lines(t, name)
	}
	all := lines(t, file)
	if last := all[len(all)-1]; last["rows"] != float64(records-1) {
		t.Errorf("last line: %v", last)
	}
}

// stuckFile is a file whose writes wait, and then fail if broken is set.
type stuckFile struct {
	*os.File
	wait   chan struct{}
	broken atomic.Bool
}

func (f *stuckFile) Write(b []byte) (int, error) {
	<-f.wait
	if f.broken.Load() {
		return 0, errors.New("disk full")
	}
	return f.File.Write(b)
}

// TestNeverBlocks has a file that hangs. Add returns at once, what does not fit in the queue is
// counted, and the file tells of it when it works again.
func TestNeverBlocks(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "audit"))
	if err != nil {
		t.Fatal(err)
	}
	out := &stuckFile{File: f, wait: make(chan struct{})}
	l := start(Config{Log: zerolog.Nop()}, out)
	begin := time.Now()
	const records = 5 * queueLength
	for i := range records {
		l.Add(Record{Rows: int64(i)})
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	dropped := l.Stats().Dropped
	if dropped == 0 || dropped > records-queueLength {
		t.Errorf("%d dropped", dropped)
	}
	close(out.wait)
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, written := 0.0, 0
	for _, line := range lines(t, f.Name()) {
		if line["event"] == "dropped" {
			told += line["dropped"].(float64)
		} else {
			written++
		}
	}
	if int64(told) != dropped || int64(written)+dropped != records {
		t.Errorf("%v told, %d written, %d dropped", told, written, dropped)
	}
}

// TestHungClose gives up on a file that never returns.
func TestHungClose(t *testing.T) {
	l := start(Config{Log: zerolog.Nop()}, &stuckFile{wait: make(chan struct{})})
	l.Add(Record{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestFailedWrite counts lines that could not be written, and goes on.
func TestFailedWrite(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "audit"))
	if err != nil {
		t.Fatal(err)
	}
	out := &stuckFile{File: f, wait: make(chan struct{})}
	out.broken.Store(true)
	close(out.wait)
	var log strings.Builder
	l := start(Config{Log: zerolog.New(&log)}, out)
	l.Add(Record{Method: "lost"})
	for l.Stats().Dropped == 0 {
		time.Sleep(time.Millisecond)
	}
	out.broken.Store(false)
	l.Add(Record{Method: "kept"})
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := lines(t, f.Name())
	if len(all) != 2 || all[0]["dropped"] != 1.0 || all[1]["method"] != "kept" {
		t.Errorf("got %v", all)
	}
	if !strings.Contains(log.String(), "disk full") {
		t.Errorf("log: %s", &log)
	}
}

// TestClip bounds texts and removes credentials from URLs.
func TestClip(t *testing.T) {
	r := Record{
		SQL:     "SELECT * FROM 's3://key:secret@host/a.csv' WHERE x = 'https://u@h'",
		Entry:   strings.Repeat("é", maxText),
		Columns: []string{strings.Repeat("c", maxText), "b", "c"},
	}
	mine := r.Columns
	r.Clip()
	if strings.Contains(r.SQL, "secret") || !strings.Contains(r.SQL, "://…@host/a.csv") {
		t.Errorf("got %s", r.SQL)
	}
	if len(r.Entry) > maxText+len("…") || len(r.Columns) != 2 || mine[1] != "b" {
		t.Errorf("got %d bytes, %d columns, %q", len(r.Entry), len(r.Columns), mine[1])
	}
}
