package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func newUpload(t *testing.T, name string, size int64, u UnpackOptions) *Upload {
	t.Helper()
	u.Dir = t.TempDir()
	up, err := NewUpload(name, size, u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Close()
		if left, err := os.ReadDir(u.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return up
}

// TestUploadIsReadWhileItComes has readers everywhere in a file of which the bytes come in pieces.
func TestUploadIsReadWhileItComes(t *testing.T) {
	want := make([]byte, 300_000)
	for i := range want {
		want[i] = byte(rand.Uint32())
	}
	up := newUpload(t, "a.bin", int64(len(want)), UnpackOptions{})
	var readers sync.WaitGroup
	for k := range 8 {
		readers.Go(func() {
			f, err := up.Open()
			if err != nil {
				t.Error(err)
				return
			}
			got := make([]byte, 40_000)
			at := int64(k) * 37_000
			n, err := f.ReadAt(got, at)
			if end := min(len(want), int(at)+len(got)); err != nil && !errors.Is(err, io.EOF) ||
				!bytes.Equal(got[:n], want[at:end]) {
				t.Errorf("reader %d: %d bytes, %v", k, n, err)
			}
			if err := f.Unchanged(); err != nil {
				t.Error(err)
			}
		})
	}
	for at := 0; at < len(want); at += 7001 {
		if up.Whole() {
			t.Fatal("it is whole too early")
		}
		if _, err := up.Write(want[at:min(at+7001, len(want))]); err != nil {
			t.Fatal(err)
		}
	}
	up.End()
	readers.Wait()
	if !up.Whole() || up.Err() != nil {
		t.Errorf("whole %v, %v", up.Whole(), up.Err())
	}
}

func TestUploadFails(t *testing.T) {
	why := errors.New("the client left")
	tests := []struct {
		name string
		size int64
		fail func(t *testing.T, up *Upload)
	}{
		{"by word", 1000, func(_ *testing.T, up *Upload) { up.Fail(why) }},
		{"by word, no size", -1, func(_ *testing.T, up *Upload) { up.Fail(why) }},
		{"context", 1000, func(t *testing.T, up *Upload) {
			ctx, cancel := context.WithCancelCause(t.Context())
			up.FailAfter(ctx)
			cancel(why)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			up := newUpload(t, "a.csv", tt.size, UnpackOptions{})
			got := make(chan error)
			go func() {
				f, err := up.Open()
				if err == nil {
					_, err = f.ReadAt(make([]byte, 10), 500)
				}
				got <- err
			}()
			if _, err := up.Write([]byte("lon,lat\n")); err != nil {
				t.Fatal(err)
			}
			tt.fail(t, up)
			if err := <-got; !errors.Is(err, why) {
				t.Errorf("got %v, want %v", err, why)
			}
			if err := up.Wait(); !errors.Is(err, why) {
				t.Errorf("wait: %v", err)
			}
		})
	}
}

func TestUploadBeyondItsLimit(t *testing.T) {
	up := newUpload(t, "a.csv", -1, UnpackOptions{MaxBytes: 10})
	if _, err := up.Write([]byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	_, err := up.Write([]byte("x"))
	var room *RoomError
	if !errors.As(err, &room) || room.Limit != 10 {
		t.Errorf("got %v", err)
	}
}

// TestUploadPacking finds the packing by the first bytes, unless the name says it.
func TestUploadPacking(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 1000 {
		_, _ = io.WriteString(z, strconv.Itoa(i)+"\n")
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, file, first, want string }{
		{"gzip", "exchange", packed.String(), "exchange.gz"},
		{"named", "a.csv.gz", packed.String(), "a.csv.gz"},
		{"zstd", "exchange", "\x28\xb5\x2f\xfd rest", "exchange.zst"},
		{"zip", "exchange", "PK\x03\x04 rest", "exchange.zip"},
		{"text", "exchange", "lon,lat", "exchange"},
		{"short", "exchange", "PK", "exchange"},
		{"empty", "exchange", "", "exchange"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			up := newUpload(t, tt.file, -1, UnpackOptions{})
			if _, err := up.Write([]byte(tt.first)); err != nil {
				t.Fatal(err)
			}
			up.End()
			f, err := up.Open()
			if err != nil || f.Name != tt.want || f.Size != int64(len(tt.first)) {
				t.Fatalf("got %+v, %v, want %s", f, err, tt.want)
			}
			if p, _ := PackingOf(f.Name); p != Gzip {
				return
			}
			content, err := f.Unpack(t.Context(), UnpackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			if content.Size != 3890 || content.Uploaded() != up || content.Unchanged() != nil {
				t.Errorf("content of %d bytes", content.Size)
			}
		})
	}
}
