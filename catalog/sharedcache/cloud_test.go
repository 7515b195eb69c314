//go:build !nocloud

package sharedcache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/cloud"
	"github.com/vibeflight/vibeflight/readers/remote/storetest"
)

// TestBuckets is the contract with each kind of object store.
func TestBuckets(t *testing.T) {
	openers := remote.Openers{"s3": cloud.OpenS3, "gs": cloud.OpenGCS, "az": cloud.OpenAzure}
	for name, start := range map[string]func(t testing.TB, dir string, flags ...string) storetest.Server{
		"S3": storetest.S3, "GCS": storetest.GCS, "Azure": storetest.Azure, "moto": storetest.Moto,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir())
			s.Setenv(t)
			scheme, rest, _ := strings.Cut(strings.Replace(s.URL, "azblob://", "az://", 1), "://")
			bucket, options, _ := strings.Cut(rest, "?")
			open := func() Store {
				root, err := openers.Open(t.Context(), scheme+"://"+bucket+"/a/prefix?"+options,
					BucketOptions(20*time.Second))
				must(t, err)
				return Bucket(root)
			}
			testStore(t, open)
			testParts(t, open())
		})
	}
}

// testParts stores a table that takes several requests, and then another one of the same key.
func testParts(t *testing.T, s Store) {
	content := random(40 << 20)
	must(t, s.Put(t.Context(), key(9), bytes.NewReader(content), int64(len(content))))
	other := bytes.Repeat([]byte("x"), len(content))
	if err := s.Put(t.Context(), key(9), bytes.NewReader(other), int64(len(other))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second Put: %v", err)
	}
	o, err := s.Open(t.Context(), key(9))
	must(t, err)
	got := &buffer{b: make([]byte, o.Size())}
	must(t, o.Fetch(t.Context(), got, 0, o.Size()))
	if !bytes.Equal(got.b, content) {
		t.Error("other bytes were stored")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, key(10), bytes.NewReader(content), int64(len(content))); err == nil {
		t.Error("an upload of 40 MB in 20 ms")
	}
	if _, err := s.Open(t.Context(), key(10)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an interrupted upload: %v", err)
	}
	must(t, s.Close())
}
