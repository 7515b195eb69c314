package livefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func parse(text []byte) (string, error) {
	if string(text) == "bad" {
		return "", errors.New("bad text")
	}
	return string(text), nil
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	f, err := Open(path, parse)
	if err != nil || f.Content() != "one" {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	changed, failed := make(chan string, 10), make(chan error, 10)
	var watch sync.WaitGroup
	watch.Go(func() {
		f.Watch(ctx, func() { changed <- f.Content() }, func(err error) { failed <- err })
	})
	defer watch.Wait()
	defer stop()
	want := func(text string) {
		t.Helper()
		began := time.Now()
		select {
		case got := <-changed:
			if got != text || time.Since(began) > time.Second {
				t.Errorf("%q after %v, want %q", got, time.Since(began), text)
			}
		case err := <-failed:
			t.Error(err)
		case <-time.After(10 * time.Second):
			t.Fatal("no change")
		}
	}
	write("two") // of the same size, perhaps with the same time
	want("two")
	write("bad")
	if err := <-failed; err == nil || f.Content() != "two" {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, os.ErrNotExist) || f.Content() != "two" {
		t.Error(err)
	}
	write("three")
	want("three")
	other := path + ".new" // a replaced file, as editors write it
	if err := os.WriteFile(other, []byte("four!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	want("four!")
	select {
	case got := <-changed:
		t.Errorf("%q without a change", got)
	case err := <-failed:
		t.Errorf("%v without a change", err)
	case <-time.After(3 * Interval):
	}
}

func TestOpenErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Open(path, parse); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, make([]byte, MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, parse); err == nil {
		t.Error("a file that is too large is read")
	}
}
