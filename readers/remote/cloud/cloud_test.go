//go:build !nocloud

package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/cloud"
	"github.com/vibeflight/vibeflight/readers/remote/faults"
	"github.com/vibeflight/vibeflight/readers/remote/storetest"
	"github.com/vibeflight/vibeflight/readers/source"
)

var openers = remote.Openers{"s3": cloud.OpenS3, "gs": cloud.OpenGCS, "az": cloud.OpenAzure}

func quick(t *testing.T) remote.Options {
	return remote.Options{
		Unpack: source.UnpackOptions{Dir: t.TempDir()}, Block: 64 << 10, Deadline: 20 * time.Second,
		Stall: 2 * time.Second, Hedge: 200 * time.Millisecond, // a store of another process may be slow
	}
}

var content = func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 5*64<<10+17)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}()

// folder returns a folder with the files of a test.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"a.csv": content, "sub/b c.csv": []byte("x\n1\n"), "sub/parcels.shp": []byte("shp"),
		"sub/parcels.dbf": []byte("dbf"), "Zürich/日本.csv": []byte("y\n2\n"), "empty.csv": nil,
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// stores starts each kind of store over a folder.
var stores = map[string]func(t testing.TB, dir string, flags ...string) storetest.Server{
	"S3": storetest.S3, "GCS": storetest.GCS, "Azure": storetest.Azure, "moto": storetest.Moto,
}

// open opens the store of a server; through, if not empty, is the address of a proxy.
func open(t *testing.T, s storetest.Server, through string) *remote.Root {
	t.Helper()
	s.Setenv(t)
	address := strings.Replace(s.URL, "azblob://", "az://", 1)
	if through != "" {
		u, err := url.Parse(through)
		if err != nil {
			t.Fatal(err)
		}
		address = strings.Replace(address, s.Endpoint, through, 1)
		t.Setenv("AWS_ENDPOINT_URL_S3", through)
		t.Setenv("STORAGE_EMULATOR_HOST", u.Host)
		t.Setenv("AZURE_STORAGE_DOMAIN", u.Host)
		if at, err := url.Parse(address); err == nil && at.Scheme == "az" {
			q := at.Query()
			q.Set("domain", u.Host)
			at.RawQuery = q.Encode()
			address = at.String()
		}
	}
	root, err := openers.Open(t.Context(), address, quick(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func readAll(ctx context.Context, root *remote.Root, key string) ([]byte, error) {
	f, err := root.Open(ctx, key, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.PrefetchAll()
	return io.ReadAll(io.NewSectionReader(f, 0, f.Size))
}

func TestStores(t *testing.T) {
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			root := open(t, start(t, folder(t)), "")
			got, err := readAll(t.Context(), root, "a.csv")
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("a.csv: %d bytes, %v", len(got), err)
			}
			for _, key := range []string{"sub/b c.csv", "Zürich/日本.csv", "empty.csv"} {
				if _, err := readAll(t.Context(), root, key); err != nil {
					t.Error(err)
				}
			}
			listed := map[string]remote.Object{}
			err = root.List(t.Context(), "", func(o remote.Object) error {
				listed[o.Key] = o
				return nil
			})
			if err != nil || len(listed) != 6 {
				t.Errorf("%d objects, %v", len(listed), err)
			}
			for key, o := range listed {
				now, err := root.Stat(t.Context(), key)
				if err != nil || now.Version != o.Version || now.Size != o.Size {
					t.Errorf("%s: listed as %v, is %v, %v", key, o, now, err)
				}
			}
			f, err := root.Open(t.Context(), "parcels.shp", "sub/parcels.shp", ".dbf", ".prj")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			dbf, err := f.Sibling(".dbf")
			if err != nil || dbf == nil || dbf.Size != 3 {
				t.Errorf("sibling: %v, %v", dbf, err)
			}
			if prj, err := f.Sibling(".prj"); prj != nil || err != nil {
				t.Errorf("a sibling that is not there: %v, %v", prj, err)
			}
			if _, err := root.Stat(t.Context(), "none.csv"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing: %v", err)
			}
		})
	}
}

// TestReplaced replaces an object while it is read.
func TestReplaced(t *testing.T) {
	for _, name := range []string{"S3", "GCS"} { // the others serve copies
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			root := open(t, stores[name](t, dir), "")
			f, err := root.Open(t.Context(), "a.csv", "a.csv")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b := make([]byte, 10)
			if _, err := f.ReadAt(b, 0); err != nil {
				t.Fatal(err)
			}
			other := slices.Clone(content)
			slices.Reverse(other)
			if err := os.WriteFile(filepath.Join(dir, "new"), other, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.csv")); err != nil {
				t.Fatal(err)
			}
			if _, err = f.ReadAt(b, 300_000); !errors.Is(err, source.ErrChanged) {
				t.Errorf("%v, want ErrChanged", err)
			}
			if got, err := readAll(t.Context(), root, "a.csv"); err != nil || !bytes.Equal(got, other) {
				t.Errorf("the new version: %v", err)
			}
		})
	}
}

// TestAnonymous reads a public bucket without credentials, and with wrong ones.
func TestAnonymous(t *testing.T) {
	private, public := storetest.S3(t, folder(t)), storetest.S3(t, folder(t), "--public")
	for _, key := range []string{"", "test"} {
		for _, s := range []storetest.Server{private, public} {
			s.Setenv(t)
			t.Setenv("AWS_ACCESS_KEY_ID", key)
			t.Setenv("AWS_SECRET_ACCESS_KEY", strings.ToUpper(key))
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
			t.Setenv("AWS_CONFIG_FILE", "/nonexistent")
			root, err := openers.Open(t.Context(), s.URL, quick(t))
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(t.Context(), root, "a.csv")
			want := "anonymous, because no AWS credentials were found"
			if key != "" {
				want = "the AWS credentials"
			}
			if s.Endpoint == public.Endpoint && err != nil {
				t.Errorf("key %q: %v", key, err)
			}
			if s.Endpoint == private.Endpoint &&
				(!errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), want)) {
				t.Errorf("key %q: %v", key, err)
			}
			_ = root.Close()
		}
	}
}

// TestRegion opens a bucket of another region than the one that is configured.
func TestRegion(t *testing.T) {
	s := storetest.S3(t, folder(t), "--region", "eu-central-1")
	proxy, err := faults.NewProxy(s.Endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Region = "eu-central-1"
	server, err := faults.Serve(proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s.URL = strings.Replace(s.URL, "region=eu-central-1", "region=us-west-2", 1)
	got, err := readAll(t.Context(), open(t, s, server.URL), "a.csv")
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestFaults reads from each store through a proxy that gives faults.
func TestFaults(t *testing.T) {
	want := 2500
	if testing.Short() {
		want = 150
	}
	all := append(faults.Recoverable(), faults.Fault{Kind: faults.ETagChanged},
		faults.Fault{Kind: faults.PreconditionFailed}, faults.Fault{Kind: faults.WrongSize},
		faults.Fault{Kind: faults.RedirectRegion})
	for _, name := range []string{"S3", "GCS", "Azure"} {
		t.Run(name, func(t *testing.T) {
			s := stores[name](t, folder(t))
			before := runtime.NumGoroutine()
			given, reads, failed := 0, 0, 0
			for seed := uint64(1); given < want; seed++ {
				proxy, err := faults.NewProxy(s.Endpoint, &faults.Random{Seed: seed, Probability: 0.3, Faults: all})
				if err != nil {
					t.Fatal(err)
				}
				server, err := faults.Serve(proxy)
				if err != nil {
					t.Fatal(err)
				}
				root := open(t, s, server.URL)
				for range 10 {
					if name == "S3" {
						// A late request of the last read may have changed the object. S3 would refuse a read
						// of the new version: its If-Match is signed, and the proxy takes it out.
						awaitIdle(proxy)
						proxy.Restore()
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					got, err := readAll(ctx, root, "a.csv")
					late := ctx.Err() != nil
					cancel()
					reads++
					changed := slices.Clone(content)
					faults.Overwritten(changed)
					switch {
					case late:
						t.Fatalf("seed %d: a read did not end", seed)
					case err == nil && !bytes.Equal(got, content) && !bytes.Equal(got, changed):
						at := 0
						for at < len(got) && at < len(content) && got[at] == content[at] {
							at++
						}
						t.Fatalf("seed %d: a read of %d bytes is wrong from byte %d on, %v", seed, len(got), at,
							proxy.Stats().Faults)
					case err != nil:
						failed++
						if redirected(err) {
							continue
						}
						if !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), "/a.csv: ") {
							t.Errorf("seed %d: %v %v %v", seed, err, proxy.Stats().Faults, proxy.Stats().Statuses)
						}
						proxy.Restore()
					}
				}
				for _, n := range proxy.Stats().Faults {
					given += n
				}
				_ = root.Close()
				if n := connectionsLeft(server); n > 0 {
					t.Errorf("seed %d: %d connections are left", seed, n)
				}
				server.Close()
			}
			t.Logf("%d faults, %d reads, %d of an object that changed", given, reads, failed)
			for range 100 {
				if runtime.NumGoroutine() <= before+5 {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		})
	}
}

// TestEncoded reads objects that have a Content-Encoding. They are refused at once.
func TestEncoded(t *testing.T) {
	for _, name := range []string{"S3", "GCS", "Azure"} {
		t.Run(name, func(t *testing.T) {
			s := stores[name](t, folder(t))
			proxy, err := faults.NewProxy(s.Endpoint, &faults.Random{
				Seed: 1, Probability: 1, Attempts: 1000, Faults: []faults.Fault{{Kind: faults.GzipEncoding}},
			})
			if err != nil {
				t.Fatal(err)
			}
			server, err := faults.Serve(proxy)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			began := time.Now()
			_, err = readAll(t.Context(), open(t, s, server.URL), "a.csv")
			if err == nil || !strings.Contains(err.Error(), `a.csv: it is sent with the Content-Encoding "gzip"`) {
				t.Error(err)
			}
			if took := time.Since(began); took > 10*time.Second { // the deadline is 20 s
				t.Errorf("it took %v", took)
			}
		})
	}
}

// awaitIdle waits until the proxy answers no request.
func awaitIdle(proxy *faults.Proxy) {
	for range 1000 {
		if proxy.Stats().Active == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// connectionsLeft returns the number of connections that are open a moment after the root was closed.
func connectionsLeft(server *faults.Server) (n int) {
	for range 100 {
		if n = server.OpenConnections(); n == 0 {
			return 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	return n
}

// redirected reports whether a store sent a request to a region that the bucket is not in.
func redirected(err error) bool {
	return strings.Contains(err.Error(), "name the region of the bucket")
}
