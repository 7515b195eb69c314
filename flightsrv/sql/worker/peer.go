//go:build linux

package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// An operation is the type of a message. The server sends the first group to a worker, and a worker
// sends the second group to the server.
type operation byte

const (
	opReply operation = iota
	opCancel
	opStart
	opView
	opDropView
	opConnect
	opUse
	opParse
	opPrepare
	opPlan
	opQuery
	opNext
	opCloseRows
	opCloseStatement
	opCloseConn

	opResolve
	opScan
	opBatch
	opReleaseScan
	opReleaseRelation

	// Notices of the server that a worker handles in order. The server handles the two above in
	// order.
	opFile
	opForget
)

const (
	inlineBytes = 64 << 10 // of a payload; larger ones are sent as a memory file
	frameBytes  = 10       // operation, flag, number of the request
	bodyAlign   = 64       // of Arrow's buffers
	maxFDs      = 64       // of a message; Linux allows 253
)

// mapping is mapped memory that Arrow buffers share. The last reference unmaps it.
type mapping struct {
	bytes []byte
	refs  atomic.Int64
	end   func() // called before the memory is unmapped; nil: none
}

func (m *mapping) retain() *mapping {
	if m != nil {
		m.refs.Add(1)
	}
	return m
}

func (m *mapping) release() {
	if m != nil && m.refs.Add(-1) == 0 {
		if m.end != nil {
			m.end()
		}
		_ = unix.Munmap(m.bytes) // it fails only for arguments that are not a mapping
	}
}

// mapFile maps a whole file, read-only. The caller has the first reference.
func mapFile(fd int) (*mapping, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	b, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	m := &mapping{bytes: b}
	m.refs.Store(1)
	return m, nil
}

// message is a request or a reply.
type message struct {
	op   operation
	id   uint64
	head []byte
	body []byte
	mem  *mapping // of head and body; nil: Go's heap
	fds  []int    // the receiver closes them
}

// close releases the message's memory and descriptors.
func (m *message) close() {
	m.mem.release()
	m.mem = nil
	closeFDs(m.fds)
	m.fds = nil
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd) // of a descriptor that was only read
	}
}

// read decodes the head.
func (m *message) read(v any) error { return json.Unmarshal(m.head, v) }

// A handler answers a request. It returns the head and the body of the reply.
type handler func(m *message) (head any, body *body, err error)

// body is the Arrow buffers of a message.
type body struct {
	parts [][]byte
	size  int64
	files []int // descriptors to send
	done  func()
}

// add adds a buffer, and returns its offset.
func (b *body) add(part []byte) int64 {
	b.parts = append(b.parts, part)
	at := b.size
	b.size += alignUp(int64(len(part)))
	return at
}

func alignUp(n int64) int64 { return (n + bodyAlign - 1) &^ (bodyAlign - 1) }

// errEnded is the error of a request whose peer has ended.
var errEnded = errors.New("the other process has ended")

// peer is one end of the socket between the server and a worker.
type peer struct {
	conn    *net.UnixConn
	handle  handler
	ordered func(m *message) bool // handles a notice in order; may be nil

	sending sync.Mutex
	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan *message
	ended   bool
}

func newPeer(f *os.File, handle handler) (*peer, error) {
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a socket of type %T", c), c.Close())
	}
	return &peer{conn: u, handle: handle, waiting: map[uint64]chan *message{}}, nil
}

// number returns the number for a new request.
func (p *peer) number() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return p.next
}

// wait returns the channel for the reply to a request. It is closed if the peer ends.
func (p *peer) wait(id uint64) <-chan *message {
	c := make(chan *message, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		close(c)
		return c
	}
	p.waiting[id] = c
	return c
}

// run reads messages until the other end closes.
func (p *peer) run() {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		for _, c := range p.waiting {
			close(c)
		}
		p.waiting = nil
	}()
	frame := make([]byte, frameBytes+inlineBytes)
	oob := make([]byte, unix.CmsgSpace(4*(maxFDs+1)))
	for {
		n, k, _, _, err := p.conn.ReadMsgUnix(frame, oob)
		if err != nil || n < frameBytes {
			return
		}
		m, err := readMessage(frame[:n], oob[:k])
		if err != nil {
			return
		}
		if m.op != opReply {
			if p.ordered != nil && p.ordered(m) {
				m.close()
				continue
			}
			go p.answer(m)
			continue
		}
		p.mu.Lock()
		c := p.waiting[m.id]
		delete(p.waiting, m.id)
		p.mu.Unlock()
		if c == nil {
			m.close()
			continue
		}
		c <- m
	}
}

// readMessage decodes a message from a frame and its control message.
func readMessage(frame, oob []byte) (*message, error) {
	m := &message{op: operation(frame[0]), id: binary.LittleEndian.Uint64(frame[2:])}
	if len(oob) > 0 {
		control, err := unix.ParseSocketControlMessage(oob)
		if err != nil {
			return nil, err
		}
		for i := range control {
			fds, err := unix.ParseUnixRights(&control[i])
			if err != nil {
				return nil, err
			}
			m.fds = append(m.fds, fds...)
		}
	}
	payload := frame[frameBytes:]
	if frame[1] == 1 {
		if len(m.fds) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		mem, err := mapFile(m.fds[0])
		closeFDs(m.fds[:1])
		m.fds = m.fds[1:]
		if err != nil {
			m.close()
			return nil, err
		}
		m.mem, payload = mem, mem.bytes
	} else {
		payload = append([]byte(nil), payload...)
	}
	if len(payload) < 4 {
		return m, nil
	}
	end := 4 + int(binary.LittleEndian.Uint32(payload))
	if end < 4 || end > len(payload) {
		m.close()
		return nil, io.ErrUnexpectedEOF
	}
	m.head = payload[4:end]
	if at := int(alignUp(int64(end))); at <= len(payload) {
		m.body = payload[at:]
	}
	return m, nil
}

// answer answers a request by the handler.
func (p *peer) answer(m *message) {
	head, b, err := p.handle(m)
	m.close()
	if m.id == 0 { // a notice, without a reply
		return
	}
	if err != nil {
		head, b = failureOf(err), nil
	}
	if err := p.send(opReply, m.id, head, b); err != nil {
		_ = p.conn.Close() // the other end would wait forever
	}
	if b != nil && b.done != nil {
		b.done()
	}
}

// send sends a message.
func (p *peer) send(op operation, id uint64, head any, b *body) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if b == nil {
		b = &body{}
	}
	start := alignUp(int64(4 + len(text)))
	frame := make([]byte, frameBytes, frameBytes+inlineBytes)
	frame[0] = byte(op)
	binary.LittleEndian.PutUint64(frame[2:], id)
	first := make([]byte, start)
	binary.LittleEndian.PutUint32(first, uint32(len(text)))
	copy(first[4:], text)
	fds := b.files
	if start+b.size <= inlineBytes {
		frame = append(frame, first...)
		for _, part := range b.parts {
			frame = append(frame, part...)
			frame = append(frame, make([]byte, alignUp(int64(len(part)))-int64(len(part)))...)
		}
	} else {
		fd, err := memoryFile(first, b)
		if err != nil {
			return err
		}
		defer closeFDs([]int{fd})
		frame[1] = 1
		fds = append([]int{fd}, fds...)
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	_, _, err = p.conn.WriteMsgUnix(frame, oob, nil)
	return err
}

// memoryFile writes a payload to a file in memory.
func memoryFile(first []byte, b *body) (fd int, err error) {
	fd, err = unix.MemfdCreate("vibeflight", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	size := int64(len(first)) + b.size
	if err = unix.Ftruncate(fd, size); err == nil {
		err = writeAt(fd, first, 0)
	}
	at := int64(len(first))
	for _, part := range b.parts {
		if err != nil {
			break
		}
		err = writeAt(fd, part, at)
		at += alignUp(int64(len(part)))
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, os.NewSyscallError("write", err)
	}
	return fd, nil
}

func writeAt(fd int, b []byte, at int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(fd, b, at)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b, at = b[n:], at+int64(n)
	}
	return nil
}
