// Package share passes open files to other processes of this machine, over a unix socket.
//
// A client gets a key by a call of Flight (Desk.Offer). It connects to the socket and sends the key,
// 32 hexadecimal digits, and a line feed. The answer is the byte 'F' with the descriptor of the file
// (SCM_RIGHTS), or the byte 'D' with the description of a table in the memory of a GPU (Manifest). A
// key is for one connection and for a short time; on any other one the server closes the connection.
//
// The open connection is the lease: until it ends, the server keeps the file in its cache, or the table
// on the GPU. A descriptor, and what is mapped from it, stay valid afterwards; memory of a GPU does not.
package share

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// Limits of a Desk.
const (
	MaxShares = 1024             // files and tables that are offered or leased at a time
	OfferTime = 10 * time.Second // for which a key is valid
	LeaseTime = time.Hour        // after which the server ends a connection

	keyBytes = 16
	keyTime  = 5 * time.Second // that a client has to send its key
)

// Suffix of a server's socket for calls is that of its socket for files.
const Suffix = ".share"

// given is the byte that carries the descriptor.
const given = 'F'

// Desk has the files that are offered or leased. It is safe for concurrent use.
type Desk struct {
	mu     sync.Mutex
	offers map[string]*offer
	leases map[*net.UnixConn]struct{}
	shares int // offers, and leases
	closed bool
	busy   sync.WaitGroup

	offerTime, leaseTime time.Duration // the constants, unless a test sets them
}

// Gift is what a client gets for its key.
type Gift interface {
	// Give sends it.
	Give(c *net.UnixConn) error
	// Close is called when it is no longer shared.
	Close() error
}

// offer is a gift that waits for its client.
type offer struct {
	gift    Gift
	release func()
	expiry  *time.Timer
}

func (o *offer) end() {
	_ = o.gift.Close() // of a file that was only read
	o.release()
}

// fileGift is an open file.
type fileGift struct{ *os.File }

// File returns the gift of an open file, which it takes.
func File(f *os.File) Gift { return fileGift{f} }

func (f fileGift) Give(c *net.UnixConn) error { return system.PassFiles(c, given, f.File) }

// New returns an empty Desk. The caller closes it.
func New() *Desk {
	return &Desk{
		offers: map[string]*offer{}, leases: map[*net.UnixConn]struct{}{}, offerTime: OfferTime, leaseTime: LeaseTime,
	}
}

// Errors of Offer.
var (
	ErrFull   = fmt.Errorf("%d tables are shared already", MaxShares)
	ErrClosed = errors.New("the server is closing")
)

// Offer offers a gift to the client that sends the key. It takes the gift, and calls release when that
// is no longer shared; after an error, it has done both.
func (d *Desk) Offer(g Gift, release func()) (key string, err error) {
	o := &offer{gift: g, release: release}
	random := make([]byte, keyBytes)
	_, _ = rand.Read(random) // it never fails
	key = hex.EncodeToString(random)
	d.mu.Lock()
	switch {
	case d.closed:
		err = ErrClosed
	case d.shares >= MaxShares:
		err = ErrFull
	default:
		d.shares++
		d.offers[key] = o
		o.expiry = time.AfterFunc(d.offerTime, func() { d.end(d.take(key)) })
	}
	d.mu.Unlock()
	if err != nil {
		o.end()
		return "", err
	}
	return key, nil
}

// take removes an offer; nil without one of that key.
func (d *Desk) take(key string) *offer {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.offers[key]
	delete(d.offers, key)
	return o
}

// end ends the share of an offer that was taken.
func (d *Desk) end(o *offer) {
	if o == nil {
		return
	}
	o.expiry.Stop()
	o.end()
	d.mu.Lock()
	d.shares--
	d.mu.Unlock()
}

// Shares returns how many files are offered or leased.
func (d *Desk) Shares() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shares
}

// Serve passes files to the clients of a listener, which makes connections of unix sockets, until the
// listener is closed.
func (d *Desk) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		conn, ok := c.(*net.UnixConn)
		if !ok || !d.enter(conn) {
			_ = c.Close()
			continue
		}
		go d.serve(conn)
	}
}

// enter adds a connection, unless there are too many or the Desk is closed.
func (d *Desk) enter(conn *net.UnixConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.leases) >= 2*MaxShares {
		return false
	}
	d.leases[conn] = struct{}{}
	d.busy.Add(1)
	return true
}

// serve passes one file, and waits for the end of the connection.
func (d *Desk) serve(conn *net.UnixConn) {
	defer d.busy.Done()
	defer func() {
		_ = conn.Close()
		d.mu.Lock()
		delete(d.leases, conn)
		d.mu.Unlock()
	}()
	_ = conn.SetDeadline(time.Now().Add(keyTime))
	line, err := bufio.NewReaderSize(io.LimitReader(conn, 2*keyBytes+1), 2*keyBytes+1).ReadString('\n')
	if err != nil {
		return
	}
	o := d.take(line[:len(line)-1])
	if o == nil {
		return
	}
	defer d.end(o)
	if err := o.gift.Give(conn); err != nil {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(d.leaseTime))
	_, _ = conn.Read(make([]byte, 1)) // the end of the connection, or of the lease
}

// Close withdraws the offers, ends the leases and waits for the connections.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	offers := d.offers
	d.offers = map[string]*offer{}
	for conn := range d.leases {
		_ = conn.Close()
	}
	d.mu.Unlock()
	for _, o := range offers {
		d.end(o)
	}
	d.busy.Wait()
}
