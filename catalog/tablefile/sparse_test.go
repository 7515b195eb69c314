package tablefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// remoteFile is a Remote with the bytes of a reader.
type remoteFile struct {
	io.ReaderAt
	size     int64
	requests atomic.Int64
	fail     atomic.Pointer[func(n, from, end int64) error] // is called for request n, from 1 on
}

func (r *remoteFile) Size() int64 { return r.size }

func (r *remoteFile) Fetch(ctx context.Context, to io.WriterAt, from, end int64) error {
	n := r.requests.Add(1)
	if end-from > rangeBytes+pieceBytes {
		return fmt.Errorf("a request for %d bytes", end-from)
	}
	if f := r.fail.Load(); f != nil {
		if err := (*f)(n, from, end); err != nil {
			return err
		}
	}
	b := make([]byte, end-from)
	if _, err := r.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := to.WriteAt(b, from)
	return err
}

func remoteOf(b []byte) *remoteFile {
	return &remoteFile{ReaderAt: bytes.NewReader(b), size: int64(len(b))}
}

// poisoned returns a file of garbage, so that bytes that were not fetched are wrong.
func poisoned(t testing.TB, size int64) files.File {
	t.Helper()
	f := create(t)
	if size < 64<<20 {
		write(t, f, bytes.Repeat([]byte{0xdb}, int(size)), 0)
	} else if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return f
}

// openRemote opens a remote file. complete is closed when all of it was fetched.
func openRemote(t testing.TB, r *remoteFile) (file *File, local files.File, complete chan struct{}) {
	t.Helper()
	local, complete = poisoned(t, r.size), make(chan struct{})
	file, err := OpenRemote(t.Context(), local, r, func() {
		if file.FetchRest() == nil {
			close(complete)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return file, local, complete
}

func await(t testing.TB, done chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the file is not complete")
	}
}

// points returns a table of n batches of rows points each, with a text of size bytes in each row.
// Batch i is at x from i to i+1. The batches are written to f, if it is not nil.
func points(t testing.TB, w *Writer, n, rows, size int) *readers.Table {
	t.Helper()
	table := &readers.Table{
		Format: "csv", Engine: "cpu", CRS: geoarrow.CRS84, Starts: []int64{0},
		Summary: readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}},
		IDs:     []geoarrow.ColumnID{{Name: "text"}}, Facts: make([]geoarrow.Facts, 1),
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, rows*size)
	for i := range n {
		for k := 0; k+8 <= len(text); k += 8 {
			binary.LittleEndian.PutUint64(text[k:], r.Uint64()&0x3f3f3f3f3f3f3f3f|0x4040404040404040)
		}
		g := &geoarrow.Geometry{Rows: rows, Kind: geoarrow.Point, Dim: geoarrow.XY}
		ends := []int32{0}
		for k := range rows {
			g.X, g.Y = append(g.X, float64(i)+float64(k)/float64(rows)), append(g.Y, r.Float64())
			ends = append(ends, int32((k+1)*size))
		}
		b := &geoarrow.Columns{Rows: rows, Geometry: g, Attributes: []geoarrow.Column{{
			Name: "text", Type: arrow.BinaryTypes.String, Offsets: ends, Values: bytes.Clone(text),
		}}}
		if w != nil {
			var err error
			if b, err = w.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		table.Batches = append(table.Batches, b)
		table.Rows += int64(rows)
		table.Bytes += b.Bytes()
		table.Starts = append(table.Starts, table.Rows)
		table.Spans = append(table.Spans, readers.Span{})
	}
	if err := table.Measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return table
}

func TestRemoteTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k, m := range mixes() {
		for _, rows := range []int{0, 9, 3000} {
			if rows > 9 && testing.Short() && k%5 != 0 {
				continue
			}
			table := randomTable(t, r, m, rows, max(8, rows/20))
			f := create(t)
			writeTable(t, f, table)
			remote := remoteOf(content(t, f))
			file, local, complete := openRemote(t, remote)
			checkTable(t, file, table)
			await(t, complete)
			if !bytes.Equal(content(t, local), content(t, f)) {
				t.Error("the complete file is another one")
			}
			if n := file.BytesFetched(); n != remote.size {
				t.Errorf("%d bytes were fetched, of %d", n, remote.size)
			}
			file.Release()
			checkArrow(t, local, table)
		}
	}
	noMappings(t)
}

// TestRemoteTableIsReadByMany reads batches and indices in any order from many goroutines. Each byte
// is fetched once.
func TestRemoteTableIsReadByMany(t *testing.T) {
	table := points(t, nil, 40, 500, 200)
	f := create(t)
	writeTable(t, f, table)
	remote := remoteOf(content(t, f))
	file, local, complete := openRemote(t, remote)
	var running sync.WaitGroup
	for n := range 8 {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for _, i := range r.Perm(len(table.Batches)) {
				if rows, err := file.Table().Search(i, [4]float64{float64(i), 0, float64(i) + 0.5, 1}); err != nil ||
					len(rows) != 251 {
					t.Errorf("batch %d: %d rows, %v", i, len(rows), err)
				}
				if err := file.Table().Check(i); err != nil {
					t.Error(err)
				}
				got, want := file.Table().Batches[i].Attributes[0].Values, table.Batches[i].Attributes[0].Values
				if !bytes.Equal(got, want) {
					t.Errorf("batch %d has other bytes", i)
				}
			}
		})
	}
	running.Wait()
	await(t, complete)
	if n := file.BytesFetched(); n != remote.size {
		t.Errorf("%d bytes were fetched, of %d", n, remote.size)
	}
	file.Release()
	if !bytes.Equal(content(t, local), content(t, f)) {
		t.Error("the complete file is another one")
	}
	noMappings(t)
}

var errFetch = errors.New("the store is away")

// TestRemoteErrors lets each request fail, once or from then on. A batch has an error of the right
// kind or the right bytes, and a later call tries again.
func TestRemoteErrors(t *testing.T) {
	table := points(t, nil, 12, 500, 200)
	f := create(t)
	writeTable(t, f, table)
	b := content(t, f)
	for _, forever := range []bool{false, true} {
		for at := int64(1); ; at++ {
			remote := remoteOf(b)
			fail := func(n, _, _ int64) error {
				if n == at || forever && n > at {
					return errFetch
				}
				return nil
			}
			remote.fail.Store(&fail)
			file, err := OpenRemote(t.Context(), poisoned(t, remote.size), remote, nil)
			if err != nil {
				if !errors.Is(err, errFetch) || errors.Is(err, readers.ErrDamaged) || at > 2 {
					t.Fatalf("request %d: %v", at, err)
				}
				continue
			}
			failed := 0
			for i, want := range table.Batches {
				_, searchErr := file.Table().Search(i, [4]float64{float64(i), 0, float64(i) + 0.5, 1})
				for _, err := range []error{searchErr, file.Table().Check(i)} {
					if err == nil {
						continue
					}
					failed++
					if !errors.Is(err, errFetch) || !errors.Is(err, ErrUnfetched) ||
						!errors.Is(err, readers.ErrDamaged) {
						t.Fatal(err)
					}
					remote.fail.Store(nil)
				}
				if err := file.Table().Check(i); err != nil {
					t.Fatalf("after the failure: %v", err)
				}
				if !bytes.Equal(file.Table().Batches[i].Attributes[0].Values, want.Attributes[0].Values) {
					t.Errorf("batch %d has other bytes", i)
				}
			}
			file.Release()
			if remote.requests.Load() < at {
				break
			}
			if failed == 0 && forever {
				t.Errorf("request %d failed without an error", at)
			}
		}
	}
	noMappings(t)
}

// TestRemoteDamage changes a byte of each batch and of each index, after the file was opened. Only
// what has the byte is damaged.
func TestRemoteDamage(t *testing.T) {
	table := points(t, nil, 12, 500, 200)
	f := create(t)
	writeTable(t, f, table)
	b := content(t, f)
	whole := open(t, f)
	for k := range table.Batches {
		for _, r := range []*region{&whole.bodies[k], &whole.trees[k]} {
			other := bytes.Clone(b)
			other[r.offset+r.length/2] ^= 4
			file, _, complete := openRemote(t, remoteOf(other))
			for i := range table.Batches {
				err := file.Table().Check(i)
				_, searchErr := file.Table().Search(i, [4]float64{float64(i), 0, float64(i) + 0.5, 1})
				damaged := i == k && r == &whole.bodies[k]
				if (err != nil) != damaged || (searchErr != nil) != (i == k && !damaged) {
					t.Errorf("byte of batch %d: batch %d has %v, %v", k, i, err, searchErr)
				}
				for _, err := range []error{err, searchErr} {
					if err != nil && (!errors.Is(err, readers.ErrDamaged) || errors.Is(err, ErrUnfetched)) {
						t.Error(err)
					}
				}
			}
			select {
			case <-complete:
				t.Error("a damaged file is complete")
			default:
			}
			file.Release()
		}
	}
	whole.Release()
	noMappings(t)
}

// TestReleaseEndsFetches releases a file whose requests hang.
func TestReleaseEndsFetches(t *testing.T) {
	table := points(t, nil, 12, 500, 200)
	f := create(t)
	writeTable(t, f, table)
	remote := remoteOf(content(t, f))
	file, _, _ := openRemote(t, remote)
	ended := make(chan struct{})
	hang := func(int64, int64, int64) error {
		<-file.sparse.ctx.Done()
		return file.sparse.ctx.Err()
	}
	remote.fail.Store(&hang)
	go func() {
		defer close(ended)
		if file.Table().Check(1) == nil {
			t.Error("no error")
		}
	}()
	for remote.requests.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	file.sparse.cancel()
	<-ended
	file.Release()
	noMappings(t)
}

// TestRemoteBox reads the rows of a box that has 1 % of the rows of a large table. At most 5 % of the
// bytes are fetched.
func TestRemoteBox(t *testing.T) {
	cases := []struct{ batches, rows, size int }{{256, 4096, 84}}
	if !testing.Short() {
		cases = append(cases, struct{ batches, rows, size int }{320, 65536, 84}) // 2 GB
	}
	for _, tt := range cases {
		f, err := files.OS{}.Create(filepath.Join(t.TempDir(), "table.arrow"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w := NewWriter(f)
		table := points(t, w, tt.batches, tt.rows, tt.size)
		if err := errors.Join(w.Finish(t.Context(), table), w.Close()); err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		remote := &remoteFile{ReaderAt: f, size: info.Size()}
		file, _, _ := openRemote(t, remote)
		at := float64(tt.batches) * 0.4
		box := [4]float64{at, 0, at + float64(tt.batches)/100, 1}
		rows := 0
		for i, b := range file.Table().Boxes {
			if b[0] > box[2] || b[2] < box[0] {
				continue
			}
			found, err := file.Table().Search(i, box)
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Table().Check(i); err != nil {
				t.Fatal(err)
			}
			for _, row := range found {
				if x := file.Table().Batches[i].Geometry.X[row]; x < box[0] || x > box[2] {
					t.Fatalf("a row at %v", x)
				}
			}
			rows += len(found)
		}
		time.Sleep(100 * time.Millisecond) // what is fetched in advance counts too
		share := float64(file.BytesFetched()) / float64(remote.size)
		t.Logf("%d of %d rows (%.2f %%) of a table of %d MB: %d requests for %.1f MB, %.2f %% of the file",
			rows, table.Rows, 100*float64(rows)/float64(table.Rows), remote.size/1e6, remote.requests.Load(),
			float64(file.BytesFetched())/1e6, 100*share)
		if share > 0.05 || float64(rows) < 0.0099*float64(table.Rows) {
			t.Errorf("%.2f %% of the bytes for %d rows", 100*share, rows)
		}
		file.Release()
	}
	noMappings(t)
}

// TestRemoteScanReadsAhead counts the requests of a scan of the whole table: large ranges, and several
// at a time.
func TestRemoteScanReadsAhead(t *testing.T) {
	table := points(t, nil, 100, 1000, 400)
	f := create(t)
	writeTable(t, f, table)
	remote := remoteOf(content(t, f))
	var now, most atomic.Int64
	slow := func(_, from, end int64) error {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(10 * time.Millisecond)
		now.Add(-1)
		return nil
	}
	remote.fail.Store(&slow)
	file, _, complete := openRemote(t, remote)
	for i := range table.Batches {
		if err := file.Table().Check(i); err != nil {
			t.Fatal(err)
		}
	}
	await(t, complete)
	t.Logf("%d requests for %d batches and %d MB, up to %d at a time", remote.requests.Load(), len(table.Batches),
		remote.size/1e6, most.Load())
	if n := remote.requests.Load(); n > 70 || most.Load() < 2 || most.Load() > maxFetches {
		t.Errorf("%d requests, up to %d at a time", n, most.Load())
	}
	file.Release()
	noMappings(t)
}
