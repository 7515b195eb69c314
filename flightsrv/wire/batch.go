package wire

import "net"

// batch is a sequence of frames that are sent together. It keeps its memory for the next use.
type batch struct {
	runs          []frameRun
	current       int    // the run that payload is added to
	fence         int    // DATA frames are not moved before this run
	bytes         int    // of payload, and heldPerFrame for each run
	copied        []byte // memory for the copies of this batch
	copies        int    // bytes of them
	controlFrames int    // frames other than DATA, which no window of the client bounds
	leases        []*lease
	parts         net.Buffers // of buffers
}

// frameRun is a frame to be sent: one frame of gRPC, or several DATA frames of one stream.
type frameRun struct {
	head   header
	data   bool // DATA without flags, to which more can be added
	length int  // of the payload
	parts  [][]byte
}

// beginFrame adds the header of the next frame. maxLength is the maximum length for the client.
func (b *batch) beginFrame(head header, maxLength int) {
	data, length := head.kind() == frameData && head.flags() == 0, head.length()
	if data {
		for i := len(b.runs) - 1; i >= b.fence; i-- {
			if r := &b.runs[i]; r.head.stream() == head.stream() {
				if r.length+length > maxLength {
					break
				}
				r.length += length
				b.current = i
				return
			}
		}
	}
	b.current = len(b.runs)
	if b.current < cap(b.runs) {
		b.runs = b.runs[:b.current+1]
	} else {
		b.runs = append(b.runs, frameRun{})
	}
	r := &b.runs[b.current]
	*r = frameRun{head: head, data: data, length: length, parts: r.parts[:0]}
	b.bytes += heldPerFrame
	if head.kind() != frameData {
		b.controlFrames++
	}
	if !data {
		b.fence = len(b.runs)
	}
}

// takesData reports whether payload that is added now is of a stream's messages.
func (b *batch) takesData() bool { return b.runs[b.current].data }

// retain keeps the lease until the batch is sent. It reports false if the lease has ended.
func (b *batch) retain(l *lease) bool {
	if n := len(b.leases); n > 0 && b.leases[n-1] == l {
		return true
	}
	if !l.take() {
		return false
	}
	b.leases = append(b.leases, l)
	return true
}

// add adds p, which must not change before reset.
func (b *batch) add(p []byte) {
	b.bytes += len(p)
	r := &b.runs[b.current]
	if n := len(r.parts); n > 0 {
		last := r.parts[n-1]
		if all := len(last) + len(p); all <= cap(last) && &last[:all][len(last)] == &p[0] { // p follows it in memory
			r.parts[n-1] = last[:all]
			return
		}
	}
	r.parts = append(r.parts, p)
}

// addCopy adds a copy of p.
func (b *batch) addCopy(p []byte) {
	if len(b.copied)+len(p) > cap(b.copied) {
		b.copied = make([]byte, 0, min(max(2*cap(b.copied), len(p), minFrameBytes), copyBytes+minFrameBytes))
	}
	n := len(b.copied)
	b.copied = append(b.copied, p...)
	b.copies += len(p)
	b.add(b.copied[n:])
}

func (b *batch) full() bool {
	return b.bytes >= gatherBytes || b.copies >= copyBytes || b.controlFrames >= maxControlFrames
}

// buffers returns the bytes to be sent.
func (b *batch) buffers() *net.Buffers {
	b.parts = b.parts[:0]
	for i := range b.runs {
		r := &b.runs[i]
		r.head.setLength(r.length)
		b.parts = append(b.parts, r.head[:])
		b.parts = append(b.parts, r.parts...)
	}
	sent := b.parts
	return &sent
}

// reset empties the batch, and releases what it holds.
func (b *batch) reset() {
	for i := range b.runs {
		clear(b.runs[i].parts)
	}
	clear(b.parts)
	for _, l := range b.leases {
		l.Put(nil)
	}
	clear(b.leases)
	b.runs, b.leases, b.copied = b.runs[:0], b.leases[:0], b.copied[:0]
	b.current, b.fence, b.bytes, b.copies, b.controlFrames = 0, 0, 0, 0, 0
}
