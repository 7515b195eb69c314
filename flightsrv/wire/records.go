package wire

import (
	"net"
	"sync"
)

const (
	recordBytes = 16 << 10  // of the payload of a full record of TLS
	cipherBytes = 256 << 10 // records are sent in so many bytes
)

// records lies below TLS, which writes each record by itself, and sends many at once while send is under way.
type records struct {
	net.Conn
	plain []byte // less than a record

	mu      sync.Mutex
	keeping bool
	kept    []byte
}

// send writes all parts to secure, the TLS over r, in full records but for the last. Only what lies around the bounds of parts is copied.
func (r *records) send(secure net.Conn, parts [][]byte) error {
	if r.plain == nil {
		r.plain = make([]byte, 0, recordBytes)
	}
	if err := r.keep(true); err != nil {
		return err
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
	if err := r.end(secure); err != nil {
		return err
	}
	return r.keep(false)
}

// end writes what is left of a record.
func (r *records) end(secure net.Conn) error {
	if len(r.plain) == 0 {
		return nil
	}
	_, err := secure.Write(r.plain)
	r.plain = r.plain[:0]
	return err
}

// keep has Write keep records, or sends those that are kept.
func (r *records) keep(on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keeping = on
	return r.sendKept()
}

func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.keeping {
		return r.Conn.Write(b)
	}
	r.kept = append(r.kept, b...)
	if len(r.kept) < cipherBytes {
		return len(b), nil
	}
	if err := r.sendKept(); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *records) sendKept() error {
	if len(r.kept) == 0 {
		return nil
	}
	_, err := r.Conn.Write(r.kept)
	r.kept = r.kept[:0]
	return err
}
