package gpu_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

func newEvent(t *testing.T, d *gpu.Device) *gpu.Event {
	t.Helper()
	e, err := d.NewEvent()
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

// TestEventsOrderStreams passes a buffer from one stream to another and back, many times.
//
//	first   fill i ── record ─────────────── wait ── fill i+1
//	second            wait ── copy ── record
func TestEventsOrderStreams(t *testing.T) {
	const n, rounds = 1 << 16, 16
	d := gputest.Open(t)
	first, second := gputest.Stream(t, d), gputest.Stream(t, d)
	filled, copied := newEvent(t, d), newEvent(t, d)
	from, err := gpu.Alloc[byte](first, n)
	must(t, err)
	to, err := gpu.Alloc[byte](first, n*rounds)
	must(t, err)
	for i := range rounds {
		must(t, gpu.Fill(first, from, byte(i+1)))
		must(t, first.Record(filled))
		must(t, second.Wait(filled))
		must(t, gpu.Copy(second, to.Slice(i*n, (i+1)*n), from))
		must(t, second.Record(copied))
		must(t, first.Wait(copied))
	}
	must(t, copied.Await())
	got, err := gpu.Read(first, to)
	must(t, err)
	for i := range rounds {
		if want := bytes.Repeat([]byte{byte(i + 1)}, n); !bytes.Equal(got[i*n:(i+1)*n], want) {
			t.Errorf("round %d has other bytes than %d", i, i+1)
		}
	}
	must(t, errors.Join(from.Free(first), to.Free(first)))
}

func TestTimeBetweenEvents(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	if s.Device() != d {
		t.Error("a stream of another device")
	}
	from, to := newEvent(t, d), newEvent(t, d)
	must(t, errors.Join(s.Record(from), s.Record(to), to.Await()))
	if between, err := to.Since(from); err != nil || between < 0 {
		t.Errorf("Since: %v, %v", between, err)
	}
}
