package resident_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// slab is the least memory that a table takes.
const slab = 2 << 20

func load(t *testing.T, d *gpu.Device) *kernels.Set {
	t.Helper()
	k, err := kernels.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openStore(t *testing.T, d *gpu.Device, bytes int64) *resident.Store {
	t.Helper()
	s, err := resident.Open([]*kernels.Set{load(t, d)}, bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// points is a table of rows points on the host, and a column of their numbers.
func points(rows int) (*geoarrow.Columns, resident.Host) {
	c := &geoarrow.Columns{Rows: rows, Geometry: &geoarrow.Geometry{Rows: rows, Kind: geoarrow.Point}}
	values := make([]int64, rows)
	for i := range rows {
		c.Geometry.X, c.Geometry.Y = append(c.Geometry.X, float64(i)), append(c.Geometry.Y, -float64(i))
		values[i] = int64(i)
	}
	c.Attributes = []geoarrow.Column{{
		Name: "n", Type: arrow.PrimitiveTypes.Int64, Values: geoarrow.AsBytes(values), Nulls: 1,
		Valid: slices.Repeat([]byte{0xfe}, (rows+7)/8),
	}}
	return c, hostOf(c)
}

func hostOf(c *geoarrow.Columns) resident.Host {
	schema := geoarrow.Schema(c, geoarrow.CRS{}, geoarrow.Encoding{})
	half := int64(c.Rows / 2)
	h := resident.Host{Schema: schema, Rows: int64(c.Rows), Starts: []int64{0, half, int64(c.Rows)}}
	for i := range c.Attributes {
		h.IDs = append(h.IDs, c.Attributes[i].ID())
	}
	h.Read = func(from, to int64) (arrow.Record, error) {
		return c.Slice(int(from), int(to)).Record(schema, nil, geoarrow.Encoding{})
	}
	return h
}

// xs reads the first ordinates of a table of points on the device.
func xs(t *testing.T, r *resident.Table, c *resident.Contents) (x []float64) {
	t.Helper()
	for _, b := range c.Batches {
		got, err := r.Bytes(b.Nodes[2].Buffers[1]) // n, geometry, x
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, geoarrow.View[float64](got)...)
	}
	return x
}

// TestComplete puts a table of the host on a device.
func TestComplete(t *testing.T) {
	s := openStore(t, gputest.Open(t), 16*slab)
	columns, host := points(100)
	r := s.New(0)
	c, err := r.Complete(host)
	if err != nil {
		t.Fatal(err)
	}
	if got := xs(t, r, c); !slices.Equal(got, columns.Geometry.X) {
		t.Errorf("got %v", got)
	}
	if len(c.Batches) != 1 || c.Kept != 0 || c.Copied == 0 {
		t.Errorf("%d batches, %d bytes kept, %d copied; want one batch, all copied", len(c.Batches), c.Kept, c.Copied)
	}
	if again, err := r.Complete(host); err != nil || again != c {
		t.Errorf("the second call gives %v, %v", again, err)
	}
	r.Release()
}

// TestKept keeps the columns of a part that a device has made. What it has not is copied from the host.
func TestKept(t *testing.T) {
	d := gputest.Open(t)
	s := openStore(t, d, 16*slab)
	columns, host := points(100)
	r, stream := s.New(0), gputest.Stream(t, d)
	x, err := gpu.Of(stream, columns.Geometry.X)
	if err != nil {
		t.Fatal(err)
	}
	y, err := gpu.Of(stream, columns.Geometry.Y)
	if err != nil {
		t.Fatal(err)
	}
	part := *columns
	part.Rows = 60
	part.Geometry = columns.Geometry.Slice(0, 60)
	part.Geometry.X, part.Geometry.Y = columns.Geometry.X[:60], columns.Geometry.Y[:60]
	w := r.Writer(stream)
	w.Found(geoarrow.AsBytes(columns.Geometry.X), gpu.AsBytes(x))
	w.Found(geoarrow.AsBytes(columns.Geometry.Y), gpu.AsBytes(y))
	kept, err := w.Part(&part)
	if err != nil || kept == nil {
		t.Fatal(kept, err)
	}
	if err := errors.Join(stream.Synchronize(), x.Free(stream), y.Free(stream)); err != nil {
		t.Fatal(err)
	}
	r.Add(kept, 60)
	r.Add(nil, 40)
	c, err := r.Complete(host)
	if err != nil {
		t.Fatal(err)
	}
	if got := xs(t, r, c); !slices.Equal(got, columns.Geometry.X) {
		t.Errorf("got %v", got)
	}
	if want := int64(60 * 16); c.Kept != want || len(c.Batches) != 1 {
		t.Errorf("%d bytes kept in %d batches, want %d in one", c.Kept, len(c.Batches), want)
	}
	r.Release()
}

// TestTwoDevices keeps a part on one device. Those that another one has made are copied from the host.
func TestTwoDevices(t *testing.T) {
	first, second := gputest.Open(t), gputest.Open(t)
	s, err := resident.Open([]*kernels.Set{load(t, first), load(t, second)}, 16*slab)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	columns, host := points(100)
	r := s.New(0)
	keep := func(d *gpu.Device, from, to int) *resident.Part {
		stream, part := gputest.Stream(t, d), columns.Slice(from, to)
		part.Geometry.X, part.Geometry.Y = columns.Geometry.X[from:to], columns.Geometry.Y[from:to]
		w := r.Writer(stream)
		for _, v := range [][]float64{part.Geometry.X, part.Geometry.Y} {
			b, err := gpu.Of(stream, v)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := b.Free(stream); err != nil {
					t.Error(err)
				}
			}()
			w.Found(geoarrow.AsBytes(v), gpu.AsBytes(b))
		}
		kept, err := w.Part(part)
		if err := errors.Join(err, stream.Synchronize()); err != nil {
			t.Fatal(err)
		}
		return kept
	}
	r.Add(keep(first, 0, 60), 60)
	if kept := keep(second, 60, 100); kept != nil {
		t.Error("a second device keeps a part of the table")
	}
	r.Add(nil, 40)
	c, err := r.Complete(host)
	if err != nil {
		t.Fatal(err)
	}
	if got := xs(t, r, c); !slices.Equal(got, columns.Geometry.X) || c.Kept != 60*16 {
		t.Errorf("got %v, %d bytes kept", got, c.Kept)
	}
	r.Release()
}

// TestOtherRows completes a table whose parts have not the rows of the host: all are copied.
func TestOtherRows(t *testing.T) {
	s := openStore(t, gputest.Open(t), 16*slab)
	columns, host := points(100)
	r := s.New(0)
	r.Add(nil, 99)
	c, err := r.Complete(host)
	if err != nil {
		t.Fatal(err)
	}
	if got := xs(t, r, c); !slices.Equal(got, columns.Geometry.X) {
		t.Errorf("got %v", got)
	}
	r.Release()
}

// TestBudget fills a store: tables in use stay, others are dropped, the one used last at the end.
func TestBudget(t *testing.T) {
	d := gputest.Open(t)
	s := openStore(t, d, 3*slab)
	_, host := points(10)
	complete := func(key string) (*resident.Table, error) {
		r := s.New(0)
		if _, err := r.Complete(host); err != nil {
			return nil, errors.Join(err, r.Drop())
		}
		s.Keep(key, r)
		return r, nil
	}
	var held []*resident.Table
	for i := range 3 {
		r, err := complete(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
	}
	if _, err := complete("3"); !errors.Is(err, resident.ErrFull) {
		t.Fatalf("a fourth table gives %v, want ErrFull", err)
	}
	held[0].Release()
	held[1].Release()
	if r := s.Find("0"); r == nil { // now 1 is the one that was used longest ago
		t.Fatal("table 0 is gone")
	} else {
		r.Release()
	}
	r, err := complete("4")
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
	held[2].Release()
	for key, want := range map[string]bool{"0": true, "1": false, "2": true, "3": false, "4": true} {
		r := s.Find(key)
		if (r != nil) != want {
			t.Errorf("table %s is there: %t, want %t", key, r != nil, want)
		}
		r.Release()
	}
	if used, budget := s.Bytes(d); used != 3*slab || budget != 3*slab {
		t.Errorf("%d of %d bytes in use", used, budget)
	}
}

// TestAbandoned lets the garbage collector free the handle of a table that nobody requested.
func TestAbandoned(t *testing.T) {
	d := gputest.Open(t)
	s := openStore(t, d, 3*slab)
	func() {
		r, stream := s.New(0), gputest.Stream(t, d)
		columns, _ := points(10)
		x, err := gpu.Of(stream, columns.Geometry.X)
		if err != nil {
			t.Fatal(err)
		}
		w := r.Writer(stream)
		w.Found(geoarrow.AsBytes(columns.Geometry.X), gpu.AsBytes(x))
		w.Found(geoarrow.AsBytes(columns.Geometry.Y), gpu.AsBytes(x))
		kept, err := w.Part(columns)
		if err := errors.Join(err, stream.Synchronize(), x.Free(stream)); err != nil {
			t.Fatal(err)
		}
		r.Add(kept, 10)
		h, err := r.Handle()
		if err != nil || h.Use() != r {
			t.Fatal(h, err)
		}
		r.Release()
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		if used, _ := s.Bytes(d); used == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the table is still there")
		}
	}
}

// TestFaults completes a table on a device whose calls fail, one after the other. Nothing is left.
func TestFaults(t *testing.T) {
	_, host := points(10)
	for _, call := range []string{"AllocShared", "ToDevice", "Record"} {
		broken := errors.New("broken")
		d := gputest.OpenFaulty(t, gpu.Options{}, func(c string) error {
			if c == call {
				return broken
			}
			return nil
		})
		s := openStore(t, d, 3*slab)
		r := s.New(0)
		if _, err := r.Complete(host); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", call, err)
		}
		if err := r.Drop(); err != nil {
			t.Error(err)
		}
		if used, _ := s.Bytes(d); used != 0 {
			t.Errorf("%s: %d bytes are left", call, used)
		}
	}
}

// TestConcurrent requests the same tables from several goroutines, in a store with room for two.
func TestConcurrent(t *testing.T) {
	s := openStore(t, gputest.Open(t), 4*slab)
	columns, host := points(50)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 20 {
				key := fmt.Sprint((g + i) % 3)
				r := s.Find(key)
				if r == nil {
					r = s.New(0)
				}
				c, err := r.Complete(host)
				if errors.Is(err, resident.ErrFull) {
					if err := r.Drop(); err != nil {
						t.Error(err)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				s.Keep(key, r)
				if got := xs(t, r, c); !slices.Equal(got, columns.Geometry.X) {
					t.Errorf("got %v", got)
				}
				r.Release()
			}
		})
	}
	wait.Wait()
}
