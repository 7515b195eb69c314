package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// gunzip writes the content of a gzip file to t. The members of a blocked one are decoded side by
// side; of any other, nothing says where a member begins but the end of the one before.
func (f *File) gunzip(ctx context.Context, t *Temp, workers int) error {
	if whole, err := f.inflateBlocks(ctx, t, workers); whole || err != nil {
		return err
	}
	if err := t.clear(); err != nil {
		return err
	}
	in := f.stream(ctx, 0, f.Size)
	content, err := gzip.NewReader(in)
	if err != nil {
		return in.wrong(err)
	}
	bad, err := drain(ctx, content, t)
	if bad != nil {
		err = in.wrong(bad)
	}
	return err
}

// A blocked gzip file (BGZF, SAMv1 4.1) is a run of members of at most 64 KiB, each of which says
// in an extra field how long it is:
//
//	0                4         10     12          16      18            n-8     n-4
//	│ 1f 8b 08 04    │ …       │ 6, 0 │ B C 2, 0  │ n-1   │ DEFLATE …   │ CRC-32 │ length │
//
// Whatever is not exactly so is left to the decoder of any gzip file, which has the errors.
const (
	blockHead  = 18
	blockTail  = 8
	blockMost  = 64 << 10 // bytes, packed and unpacked
	blockGroup = 32       // blocks that a worker takes at a time
)

// group is a run of blocks.
type group struct {
	from, to int64 // in the file
	at       int64 // of its first byte in the content
	bytes    int64 // of content
}

// inflateBlocks writes the content of a blocked gzip file to t. It reports false if the file is
// none, or malformed; then anything may be in t.
func (f *File) inflateBlocks(ctx context.Context, t *Temp, workers int) (whole bool, err error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	groups := make(chan group)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			w := inflater{f: f, t: t, z: flate.NewReader(bytes.NewReader(nil))}
			for g := range groups {
				if err := w.inflate(g); err != nil {
					stop(err)
				}
			}
		})
	}
	err = f.eachGroup(work, groups)
	close(groups)
	running.Wait()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if cause := context.Cause(work); cause != nil {
		err = cause
	}
	if errors.Is(err, errNoBlock) {
		return false, nil
	}
	return err == nil, err
}

// errNoBlock says that a file is no blocked gzip file, or a malformed one.
var errNoBlock = errors.New("no block of a gzip file")

// eachGroup walks from block to block and sends them in groups.
func (f *File) eachGroup(ctx context.Context, groups chan<- group) error {
	var g group
	at := glass{f: f}
	for blocks := 1; ; blocks++ {
		head, err := at.look(g.to, blockHead)
		if err != nil {
			return err
		}
		n := blockBytes(head)
		if n == 0 || g.to+n > f.Size {
			return errNoBlock
		}
		g.to += n
		length, err := at.look(g.to-4, 4)
		if err != nil {
			return err
		}
		content := int64(binary.LittleEndian.Uint32(length))
		if content > blockMost {
			return errNoBlock
		}
		g.bytes += content
		last := g.to == f.Size
		if !last && blocks%blockGroup != 0 {
			continue
		}
		select {
		case groups <- g:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if last {
			return nil
		}
		g = group{from: g.to, to: g.to, at: g.at + g.bytes}
	}
}

// glass looks at a few bytes of a file, here and there. Those that follow are read with them:
// blocks may be small, and many.
type glass struct {
	f    *File
	at   int64
	seen []byte
	buf  [512]byte
}

// look gives n bytes, valid until the next look.
func (g *glass) look(at int64, n int) ([]byte, error) {
	if from := at - g.at; from >= 0 && from+int64(n) <= int64(len(g.seen)) {
		return g.seen[from : from+int64(n)], nil
	}
	g.at, g.seen = at, g.buf[:max(0, min(int64(len(g.buf)), g.f.Size-at))]
	if len(g.seen) < n {
		return nil, errNoBlock
	}
	return g.seen[:n], g.f.exactly(g.seen, at)
}

// exactly fills p from the file. At the end of the file there is no block.
func (f *File) exactly(p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errNoBlock
	}
	return err
}

// blockBytes is the length of the block that has this head, or 0.
func blockBytes(head []byte) int64 {
	if !bytes.Equal(head[:4], []byte{0x1f, 0x8b, 8, 4}) || !bytes.Equal(head[10:16], []byte{6, 0, 'B', 'C', 2, 0}) {
		return 0
	}
	n := int64(binary.LittleEndian.Uint16(head[16:])) + 1
	if n < blockHead+blockTail {
		return 0
	}
	return n
}

// inflater decodes blocks.
type inflater struct {
	f       *File
	t       *Temp
	z       io.ReadCloser
	packed  []byte
	content []byte
	in      bytes.Reader
}

func (w *inflater) inflate(g group) error {
	w.packed = append(w.packed[:0], make([]byte, g.to-g.from)...)
	if err := w.f.exactly(w.packed, g.from); err != nil {
		return err
	}
	w.content = w.content[:0]
	for rest := w.packed; len(rest) > 0; {
		n := blockBytes(rest) // the file may have changed since eachGroup saw it
		if n == 0 || n > int64(len(rest)) {
			return errNoBlock
		}
		if err := w.block(rest[blockHead:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if int64(len(w.content)) != g.bytes {
		return errNoBlock
	}
	return w.t.Put(w.content, g.at)
}

// block appends the content of a block without its head.
func (w *inflater) block(b []byte) error {
	packed, tail := b[:len(b)-blockTail], b[len(b)-blockTail:]
	sum, n := binary.LittleEndian.Uint32(tail), int(binary.LittleEndian.Uint32(tail[4:]))
	if n > blockMost {
		return errNoBlock
	}
	w.in.Reset(packed)
	if err := w.z.(flate.Resetter).Reset(&w.in, nil); err != nil {
		return err
	}
	from := len(w.content)
	w.content = append(w.content, make([]byte, n+1)...) // a byte more, to see that there is none
	got, err := fill(w.z, w.content[from:])
	if !errors.Is(err, io.EOF) || got != n || w.in.Len() > 0 || crc32.ChecksumIEEE(w.content[from:from+n]) != sum {
		return errNoBlock
	}
	w.content = w.content[:from+n]
	return nil
}
