package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sparse is a file of n bytes, which ends with tail.
func sparse(t *testing.T, name string, size int64, tail []byte) *File {
	t.Helper()
	at := filepath.Join(t.TempDir(), "file")
	to, err := os.Create(at)
	if err == nil {
		_, err = to.WriteAt(tail, size-int64(len(tail)))
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open("folder/"+name, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// directoryEnd is the end of an archive whose directory claims n members and is empty, at an
// offset; with the records of ZIP64 or without.
func directoryEnd(members uint64, at uint64, wide bool) []byte {
	var b []byte
	if wide {
		b = binary.LittleEndian.AppendUint32(b, 0x06064b50)
		b = binary.LittleEndian.AppendUint64(b, 44)
		b = append(b, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, members)
		b = binary.LittleEndian.AppendUint64(b, members)
		b = binary.LittleEndian.AppendUint64(b, 0)
		b = binary.LittleEndian.AppendUint64(b, at)
		b = binary.LittleEndian.AppendUint32(b, 0x07064b50)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint64(b, at)
		b = binary.LittleEndian.AppendUint32(b, 1)
		members, at = 0xffff, 0xffffffff
	}
	b = append(b, 'P', 'K', 5, 6, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(members))
	b = binary.LittleEndian.AppendUint16(b, uint16(members))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	return append(b, 0, 0)
}

// What a directory claims to hold is not believed, however large the file is: a hole of 1 TiB costs
// nothing to make.
func TestDirectoryThatClaimsManyMembers(t *testing.T) {
	const size = 1 << 40
	wide := len(directoryEnd(0, 0, true))
	for _, members := range []uint64{maxMembers + 1, 1 << 31, size / 31, 1 << 62, 1<<64 - 1} {
		f := sparse(t, "a.zip", size, directoryEnd(members, uint64(size-wide), true))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := f.Members()
		runtime.ReadMemStats(&after)
		var bad *PackError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "members") {
			t.Errorf("%d members: %v, want *PackError", members, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d members: %d bytes allocated", members, n)
		}
	}
	for _, wide := range []bool{false, true} { // an empty directory is not one of them
		end := directoryEnd(0, uint64(size-len(directoryEnd(0, 0, wide))), wide)
		if names, err := sparse(t, "a.zip", size, end).Members(); err != nil || len(names) > 0 {
			t.Errorf("empty: %q, %v", names, err)
		}
	}
}

// endless is a zstd file whose few bytes hold a run of zeros, behind as many bytes as a frame may
// skip.
func endless(blocks int, skip []byte) []byte {
	b := append([]byte{}, skip...)
	b = append(b, 0x28, 0xb5, 0x2f, 0xfd, 0, 0x70) // no checksum, no size, a window of 16 MiB
	for range blocks {
		b = append(b, 0x02, 0x00, 0x10, 0) // 128 KiB of one byte, not the last block
	}
	return append(b, 1, 0, 0)
}

// A waiter who leaves does not wait for what a few bytes unpack to.
func TestUnpackIsCancelled(t *testing.T) {
	const mib = 256
	f := packed(t, "a.csv.zst", endless(mib*8, nil))
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(t.Context())
		target, err := NewTemp(f.Name, UnpackOptions{Dir: t.TempDir(), MaxBytes: 1 << 40}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		in := f.stream(ctx, 0, f.Size)
		content, err := newZstd(in, workers)
		if err != nil {
			t.Fatal(err)
		}
		bad, err := drain(ctx, cancelledContext{content, cancel}, make([]byte, copyBytes), target.write)
		content.Close()
		if got := target.size.Load(); bad != nil || !errors.Is(err, context.Canceled) || got > 2*copyBytes {
			t.Errorf("%d workers: %v, %v after %d bytes", workers, bad, err, got)
		}
		_ = target.Close()
	}
}

// cancelledContext cancels once bytes were read.
type cancelledContext struct {
	io.Reader
	cancel func()
}

func (c cancelledContext) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.cancel()
	return n, err
}

// What a file begins with is known from its first bytes: nobody reads gigabytes that are skipped,
// to list a folder.
func TestHeadBehindALongWay(t *testing.T) {
	text := []byte("POINT(1 2)\n")
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18}, binary.LittleEndian.AppendUint32(nil, 1000)...)
	near := append(append(skipped, make([]byte, 1000)...), w.EncodeAll(text, nil)...)
	if head, err := packed(t, "a.zst", near).UnpackedHead(100); !bytes.Equal(head, text) || err != nil {
		t.Errorf("near: %q, %v", head, err)
	}
	at := filepath.Join(t.TempDir(), "file")
	far := append([]byte{0x50, 0x2a, 0x4d, 0x18}, binary.LittleEndian.AppendUint32(nil, 1<<32-1)...)
	if err := errors.Join(os.WriteFile(at, far, 0o600), os.Truncate(at, 1<<32+100)); err != nil {
		t.Fatal(err)
	}
	f, err := Open("a.zst", at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head, err := f.UnpackedHead(100)
	if n := f.BytesRead(); len(head) > 0 || !errors.As(err, new(*PackError)) || n > headBytes {
		t.Errorf("far: %q, %v after %d bytes", head, err, n)
	}
}
