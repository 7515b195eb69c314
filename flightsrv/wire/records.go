package wire

import (
	"net"
	"sync"
)

const (
	recordBytes = 16 << 10 // of the payload of a full record of TLS
	// records are sent in pieces of this size. Measured, CPU-seconds per GB of a server: one by
	// one, 64 KiB, 256 KiB, 1 MiB: 0.73, 0.64, 0.63, 0.56
	cipherBytes = 1 << 20
)

// records is below TLS, which writes each record separately. It sends many at once during send.
type records struct {
	*socket
	rooms *sync.Pool // of *[]byte with capacity cipherBytes; no connection keeps one
	plain []byte     // less than a record

	mu   sync.Mutex
	kept []byte // nil: nothing is kept
}

func newRooms() *sync.Pool {
	return &sync.Pool{New: func() any {
		b := make([]byte, 0, cipherBytes)
		return &b
	}}
}

// send writes all parts to secure, the TLS over r.
func (r *records) send(secure net.Conn, parts [][]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size <= recordBytes {
		return r.write(secure, parts)
	}
	room := r.rooms.Get().(*[]byte)
	defer r.rooms.Put(room)
	if err := r.keep(*room); err != nil {
		return err
	}
	err := r.write(secure, parts)
	if last := r.keep(nil); err == nil {
		err = last
	}
	return err
}

// write makes full records, except the last one. It copies only bytes at the bounds of parts.
func (r *records) write(secure net.Conn, parts [][]byte) error {
	if r.plain == nil {
		r.plain = make([]byte, 0, recordBytes)
	}
	for _, p := range parts {
		for len(p) > 0 {
			if n := len(p) &^ (recordBytes - 1); n > 0 && len(r.plain) == 0 {
				if _, err := secure.Write(p[:n]); err != nil {
					return err
				}
				p = p[n:]
				continue
			}
			n := min(len(p), recordBytes-len(r.plain))
			r.plain = append(r.plain, p[:n]...)
			p = p[n:]
			if len(r.plain) == recordBytes {
				if err := r.end(secure); err != nil {
					return err
				}
			}
		}
	}
	return r.end(secure)
}

// end writes the rest of a record.
func (r *records) end(secure net.Conn) error {
	if len(r.plain) == 0 {
		return nil
	}
	_, err := secure.Write(r.plain)
	r.plain = r.plain[:0]
	return err
}

// keep sends what is kept. From then on Write keeps records in room, or sends them if room is nil.
func (r *records) keep(room []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.sendKept()
	r.kept = room
	return err
}

// Write is called by TLS.
func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		return r.socket.Write(b)
	}
	if len(r.kept)+len(b) > cap(r.kept) {
		if err := r.sendKept(); err != nil {
			return 0, err
		}
	}
	r.kept = append(r.kept, b...)
	return len(b), nil
}

func (r *records) sendKept() error {
	if len(r.kept) == 0 {
		return nil
	}
	err := r.socket.writeAll(net.Buffers{r.kept})
	r.kept = r.kept[:0]
	return err
}
