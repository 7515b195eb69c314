package gpu

import (
	"cmp"
	"time"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// A Stream orders work: copies, fills and launches given to one stream happen one after the other,
// those of different streams at the same time. One goroutine at a time may use it.
type Stream struct {
	d     *Device
	h     driver.Stream
	arena *Arena // that buffers come from, or nil
	ahead func() error
	note  *PinnedBuffer // see Note
}

// NewStream makes a stream; the caller closes it.
func (d *Device) NewStream() (*Stream, error) {
	h, err := d.drv.NewStream()
	if err != nil {
		return nil, err
	}
	return &Stream{d: d, h: h}, nil
}

// Device is the device whose work s orders.
func (s *Stream) Device() *Device { return s.d }

// Synchronize waits until all work given to s is done. An error may stem from any of it.
func (s *Stream) Synchronize() error {
	var err error
	if queue := s.ahead; queue != nil {
		s.ahead = nil
		err = queue()
	}
	return cmp.Or(err, s.d.drv.Synchronize(s.h))
}

// Ahead has queue called once, when s is waited for the next time, before it is: what is asked for
// until then can go together. A queue that nobody waited for is replaced.
func (s *Stream) Ahead(queue func() error) { s.ahead = queue }

// NoteBytes is how long a note may be.
const NoteBytes = 4 << 10

// Note is page-locked memory of the stream's own, for a result of n bytes that the host waits for:
// it holds anything, and is lent until Note is called again. Not more than NoteBytes.
func (s *Stream) Note(n int) ([]byte, error) {
	if s.note == nil {
		m, err := s.d.AllocPinned(NoteBytes)
		if err != nil {
			return nil, err
		}
		s.note = m
	}
	return s.note.Bytes()[:n], nil
}

// Close gives the stream back, after its work is done.
func (s *Stream) Close() error {
	var err error
	if s.note != nil {
		err = s.note.Free()
	}
	return cmp.Or(err, s.d.drv.CloseStream(s.h))
}

// An Event is a point in the work of a stream.
type Event struct {
	d *Device
	h driver.Event
}

// NewEvent makes an event that has not happened; the caller closes it.
func (d *Device) NewEvent() (*Event, error) {
	h, err := d.drv.NewEvent()
	if err != nil {
		return nil, err
	}
	return &Event{d: d, h: h}, nil
}

// Record puts e after all work that s was given before. An event may be recorded again; waits see
// its last place.
func (s *Stream) Record(e *Event) error { return s.d.drv.Record(e.h, s.h) }

// Wait makes the work that s is given from now on wait for e, without the caller waiting.
func (s *Stream) Wait(e *Event) error { return s.d.drv.Wait(s.h, e.h) }

// Await blocks the caller until e has happened.
func (e *Event) Await() error { return e.d.drv.Await(e.h) }

// Since is the time on the device from one event to another; both have happened.
func (e *Event) Since(from *Event) (time.Duration, error) { return e.d.drv.Elapsed(from.h, e.h) }

// Close gives the event back.
func (e *Event) Close() error { return e.d.drv.CloseEvent(e.h) }
