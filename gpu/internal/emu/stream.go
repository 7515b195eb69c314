//go:build linux && cgo

package emu

import (
	"fmt"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// A stream does its work during the call that gives it the work. A second call at the same time is
// an error of the caller, and is reported.
type stream struct{ call sync.Mutex }

type event struct {
	recorded bool
	at       time.Time
}

func (d *device) NewStream() (driver.Stream, error) {
	return newHandle[driver.Stream](d, d.streams, &stream{})
}

func (d *device) CloseStream(s driver.Stream) error {
	return closeHandle(d, d.streams, s, "stream")
}

// stream returns the stream with its lock held.
func (d *device) stream(s driver.Stream, call string) (*stream, error) {
	st, err := lookUp(d, d.streams, s, "stream")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", call, err)
	}
	if !st.call.TryLock() {
		return nil, &driver.Error{
			Call: call, Detail: fmt.Sprintf("stream %d", s),
			Name: "another call uses the stream at the same time",
		}
	}
	return st, nil
}

// do gives work to a stream.
func (d *device) do(s driver.Stream, call string, work func() error) error {
	st, err := d.stream(s, call)
	if err != nil {
		return err
	}
	defer st.call.Unlock()
	return work()
}

// Synchronize has nothing to wait for, and nothing to report: what went wrong was the error of the
// call that gave the work.
func (d *device) Synchronize(s driver.Stream) error {
	return d.do(s, "synchronize", func() error { return nil })
}

func (d *device) NewEvent() (driver.Event, error) {
	return newHandle[driver.Event](d, d.events, &event{})
}

func (d *device) CloseEvent(e driver.Event) error {
	return closeHandle(d, d.events, e, "event")
}

func (d *device) Record(h driver.Event, s driver.Stream) error {
	e, err := lookUp(d, d.events, h, "event")
	if err != nil {
		return err
	}
	return d.do(s, "record", func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		e.recorded, e.at = true, time.Now()
		return nil
	})
}

// Wait has nothing to wait for: what was given before an event was done before its Record returned.
func (d *device) Wait(s driver.Stream, h driver.Event) error {
	if _, err := lookUp(d, d.events, h, "event"); err != nil {
		return err
	}
	return d.do(s, "wait", func() error { return nil })
}

// Await has nothing to wait for, as Wait. An event that was never recorded has happened, as CUDA
// has it.
func (d *device) Await(h driver.Event) error {
	_, err := lookUp(d, d.events, h, "event")
	return err
}

func (d *device) Elapsed(from, to driver.Event) (time.Duration, error) {
	a, err := lookUp(d, d.events, from, "event")
	if err != nil {
		return 0, err
	}
	b, err := lookUp(d, d.events, to, "event")
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !a.recorded || !b.recorded {
		return 0, &driver.Error{Call: "elapsed", Name: "an event was never recorded"}
	}
	return b.at.Sub(a.at), nil
}
