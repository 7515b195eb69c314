package cachedir

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// TestSparse counts a sparse file by what was written to it.
func TestSparse(t *testing.T) {
	const size, piece = 40 << 20, 1 << 20
	dir := t.TempDir()
	d, err := Open(files.OS{}, dir, 64<<20, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.CreateSparse(65 << 20); !errors.As(err, new(*FullError)) {
		t.Errorf("a file larger than the budget: %v", err)
	}
	a, err := d.CreateSparse(size)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.CreateSparse(size)
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Stats().WritingBytes; n != 0 {
		t.Errorf("%d bytes are reserved for nothing", n)
	}
	content := bytes.Repeat([]byte("x"), piece)
	if _, err := a.WriteAt(content, 30<<20); err != nil {
		t.Fatal(err)
	}
	if n := d.Stats().WritingBytes; n != sparseStep {
		t.Errorf("%d bytes are reserved for %d", n, piece)
	}
	var running sync.WaitGroup
	for i := range int64(size / piece) {
		if i != 30 {
			running.Go(func() {
				if _, err := a.WriteAt(content, i*piece); err != nil {
					t.Error(err)
				}
			})
		}
	}
	running.Wait()
	if n := d.Stats().WritingBytes; n != size {
		t.Errorf("%d bytes are reserved for all %d", n, size)
	}
	// another server counts what is on the disk
	other, err := open(files.OS{}, dir, 64<<20, zerolog.Nop(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if n := other.Stats().WritingBytes; n < size || n >= 2*size {
		t.Errorf("another server counts %d bytes of two files, one of them with %d", n, size)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	written := 0
	for i := range int64(size / piece) {
		if _, err = b.WriteAt(content, i*piece); err != nil {
			break
		}
		written++
	}
	if !errors.As(err, new(*FullError)) || written != 24 {
		t.Errorf("%d MiB were written to the second file in 64 MiB, then %v", written, err)
	}
	h, err := a.Commit(Key{1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if err := b.Abort(); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s.Bytes != size || s.WritingBytes != 0 {
		t.Errorf("stats %+v", s)
	}
	if b, err := os.ReadFile(h.Name()); err != nil || !bytes.Equal(b, bytes.Repeat(content, size/piece)) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
