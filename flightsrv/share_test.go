package flightsrv

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/share"
	"github.com/vibeflight/vibeflight/readers"
)

// shared calls the action share.
func (f *fixture) shared(ctx context.Context, body string) (out sharedTable, err error) {
	stream, err := f.client.DoAction(ctx, &flight.Action{Type: "share", Body: []byte(body)})
	if err != nil {
		return out, err
	}
	answer, err := stream.Recv()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer.Body, &out)
}

// serveShares starts a server on a unix socket, and returns the socket for files too.
func serveShares(t *testing.T, of catalog.Config, change ...func(*Config)) (f *fixture, socket string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v.sock")
	f = serveCatalog(t, map[string]string{"a.fake": "rows=300000", "b.fake": "rows=10"}, of,
		append(change, func(c *Config) { c.Listen = []string{"unix://" + path} })...)
	return f, path + share.Suffix
}

// inFile reads a table until it has a file in the cache, and offers it.
func inFile(t *testing.T, f *fixture, name string) (out sharedTable) {
	t.Helper()
	until(t, "the table is in the cache", func() bool {
		var err error
		if out, err = f.shared(t.Context(), name); err != nil {
			wantStatus(t, err, codes.FailedPrecondition, "no file of the cache", "DoGet")
		}
		return err == nil
	})
	return out
}

func numbersIn(t *testing.T, file *os.File) (numbers []int32) {
	t.Helper()
	r, err := ipc.NewFileReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, int32s(rec.Column(rec.Schema().FieldIndices("n")[0]))...)
	}
	return numbers
}

// TestShare compares the file of a table with its stream. The file stays readable when it leaves the
// cache.
func TestShare(t *testing.T) {
	f, socket := serveShares(t, catalog.Config{CacheDir: t.TempDir(), Limits: readers.Limits{BatchRows: 10_000}})
	want, err := f.get(t, "a.fake")
	if err != nil {
		t.Fatal(err)
	}
	out := inFile(t, f, "a.fake")
	file, lease, err := share.Take(socket, out.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() != out.Bytes || out.Rows != want.rows {
		t.Errorf("offered %+v, have %v, %v", out, info.Size(), err)
	}
	if _, err := file.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the file is writable")
	}
	if _, _, err := share.Take(socket, out.Key); !errors.Is(err, share.ErrUnknownKey) {
		t.Errorf("a key that was used: %v", err)
	}
	if n := f.server.service.shares.Shares(); n != 1 {
		t.Errorf("%d shares", n)
	}
	if _, err := f.catalog.Evict(t.Context(), "a.fake"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(numbersIn(t, file), want.numbers) {
		t.Error("other rows than those of the stream")
	}
	if err := lease.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the lease has ended", func() bool { return f.server.service.shares.Shares() == 0 })
	if !slices.Equal(numbersIn(t, file), want.numbers) {
		t.Error("other rows after the lease")
	}
}

// TestShareRefuses lists the tables that have no file for a client.
func TestShareRefuses(t *testing.T) {
	cached, socket := serveShares(t, catalog.Config{CacheDir: t.TempDir()})
	if _, _, err := share.Take(socket, "0123456789abcdef0123456789abcdef"); !errors.Is(err, share.ErrUnknownKey) {
		t.Errorf("an invented key: %v", err)
	}
	inFile(t, cached, "b.fake")
	for _, c := range []struct {
		name, body string
		code       codes.Code
		word       string
	}{
		{"no entry", "c.fake", codes.NotFound, "c.fake"},
		{"a box", `{"name":"b.fake","bbox":[0,0,1,1]}`, codes.InvalidArgument, "bbox"},
		{"other version", `{"name":"b.fake","version":"x"}`, codes.FailedPrecondition, "version x was requested"},
	} {
		_, err := cached.shared(t.Context(), c.body)
		t.Run(c.name, func(t *testing.T) { wantStatus(t, err, c.code, c.word) })
	}
	memory, _ := serveShares(t, catalog.Config{})
	_, err := memory.shared(t.Context(), "b.fake")
	wantStatus(t, err, codes.FailedPrecondition, "no file of the cache")
	tcp := serve(t, map[string]string{"b.fake": "rows=10"})
	_, err = tcp.shared(t.Context(), "b.fake")
	wantStatus(t, err, codes.FailedPrecondition, "unix socket")
	part, _ := serveShares(t, catalog.Config{CacheDir: t.TempDir(), Restricted: true}, func(c *Config) {
		c.Login, c.Grants = anyone{}, sameRights{&access.Restriction{Hidden: []string{"s"}}}
	})
	_, err = part.shared(t.Context(), "b.fake")
	wantStatus(t, err, codes.FailedPrecondition, "a part of it")
}
