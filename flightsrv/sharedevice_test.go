package flightsrv

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/share"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// serveOnGPU starts a server that keeps tables on an emulated device, and returns its socket for them.
func serveOnGPU(t *testing.T, d *gpu.Device, bytes int64) (*fixture, string, *resident.Store) {
	t.Helper()
	k, err := kernels.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	store, err := resident.Open([]*kernels.Set{k}, bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	f, socket := serveShares(t, catalog.Config{Limits: readers.Limits{BatchRows: 10_000}},
		func(c *Config) { c.GPUTables = store })
	return f, socket, store
}

// sharedOnGPU calls the action share-device.
func (f *fixture) sharedOnGPU(t *testing.T, body string) (out sharedTable, err error) {
	t.Helper()
	stream, err := f.client.DoAction(t.Context(), &flight.Action{Type: "share-device", Body: []byte(body)})
	if err != nil {
		return out, err
	}
	answer, err := stream.Recv()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer.Body, &out)
}

// numbersOnGPU reads column n of a table from the files of its allocations.
func numbersOnGPU(t *testing.T, m *share.Manifest, files []*os.File) (numbers []int32) {
	t.Helper()
	read := func(b [3]int64) []byte {
		content := make([]byte, b[2])
		if _, err := files[b[0]].ReadAt(content, b[1]); err != nil {
			t.Fatal(err)
		}
		return content
	}
	for _, b := range m.Batches {
		// n is the first column: its validity, then its values
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(read(b.Buffers[1]))}
		data := array.NewData(arrow.PrimitiveTypes.Int32, b.Nodes[0][0], buffers, nil, b.Nodes[0][1], 0)
		numbers = append(numbers, int32s(array.MakeFromData(data))...)
	}
	return numbers
}

// TestShareDevice compares a table on an emulated device with its stream. A second client gets the same
// memory.
func TestShareDevice(t *testing.T) {
	device := gputest.Open(t)
	f, socket, store := serveOnGPU(t, device, 64<<20)
	want, err := f.get(t, "a.fake")
	if err != nil {
		t.Fatal(err)
	}
	var used int64
	for i := range 2 {
		out, err := f.sharedOnGPU(t, `{"name": "a.fake"}`)
		if err != nil {
			t.Fatal(err)
		}
		m, files, lease, err := share.TakeTable(socket, out.Key)
		if err != nil {
			t.Fatal(err)
		}
		if m.Device.Type != "host" || out.Rows != want.rows {
			t.Errorf("got a table of %d rows on %+v, want %d", out.Rows, m.Device, want.rows)
		}
		numbers := numbersOnGPU(t, m, files)
		if int64(len(numbers)) != want.rows {
			t.Fatalf("%d rows on the device, want %d", len(numbers), want.rows)
		}
		for k, n := range numbers {
			if n != int32(k) {
				t.Fatalf("row %d is %d", k, n)
			}
		}
		if now, _ := store.Bytes(device); i > 0 && now != used {
			t.Errorf("the second client takes %d bytes, the first took %d", now, used)
		} else {
			used = now
		}
		for _, file := range files {
			_ = file.Close()
		}
		if err := lease.Close(); err != nil {
			t.Error(err)
		}
	}
	until(t, "all leases have ended", func() bool { return f.server.service.shares.Shares() == 0 })
}

// TestShareDeviceRefused requests tables that can't be on a device.
func TestShareDeviceRefused(t *testing.T) {
	f, _, _ := serveOnGPU(t, gputest.Open(t), 1<<20) // less than a slab
	_, err := f.sharedOnGPU(t, "a.fake")
	wantStatus(t, err, codes.ResourceExhausted, "GPU")
	_, err = f.sharedOnGPU(t, "nothing.fake")
	wantStatus(t, err, codes.NotFound, "nothing.fake")
	_, err = f.sharedOnGPU(t, `{"name": "a.fake", "bbox": [0, 0, 1, 1]}`)
	wantStatus(t, err, codes.InvalidArgument, "bbox")

	without, _ := serveShares(t, catalog.Config{})
	_, err = without.sharedOnGPU(t, "a.fake")
	wantStatus(t, err, codes.FailedPrecondition, "--gpu-tables")
}
