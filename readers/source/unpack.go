package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/internal/system"
)

// UnpackOptions says where and how far contents are unpacked. Its zero value is one of defaults.
type UnpackOptions struct {
	Dir      string // folder of the temporary file, which has no name there; "": os.TempDir()
	MaxBytes int64  // of the content of one file, with its siblings; 0: DefaultMaxUnpackedBytes
	Workers  int    // goroutines; 0: one
	Ahead    bool   // Unpack may give the content while it is being unpacked
}

// DefaultMaxUnpackedBytes bounds what a file unpacks to where nobody says: a gzip file may hold a
// thousand times its size.
const DefaultMaxUnpackedBytes = 32 << 30

const (
	// freeReserve of the disk stays free of unpacked contents, for others.
	freeReserve = 64 << 20
	// roomStep is how much is written between two looks at the room.
	roomStep = 32 << 20
	// copyBytes is a piece on its way to the temporary file; it stays in the second cache.
	copyBytes = 256 << 10
	// streamBytes of a packed file are read at a time.
	streamBytes = 64 << 10
)

func (u UnpackOptions) withDefaults() UnpackOptions {
	if u.Dir == "" {
		u.Dir = os.TempDir()
	}
	if u.MaxBytes <= 0 {
		u.MaxBytes = DefaultMaxUnpackedBytes
	}
	u.Workers = max(1, u.Workers)
	return u
}

// Unpack gives the content of a file of a packing that is Gzip or Zstd, in a temporary file that
// goes with the answer. Its name is that of f with the inner name behind it,
// "roads.geojson.gz/roads.geojson", so that errors of its bytes say what they count. Unchanged of
// it is that of f. The caller closes it, and f after it. Its siblings are those of f, closed with
// f, and not packed.
//
// With Ahead, it may be given as soon as its size seems to be known. A read then waits
// until its bytes are unpacked, and the caller calls Whole at the end. ctx is that of the unpacking.
//
// Errors: *PackError for a malformed file, *RoomError, those of reading and writing, that of ctx.
func (f *File) Unpack(ctx context.Context, u UnpackOptions) (*File, error) {
	u = u.withDefaults()
	t, err := NewTemp(f.Name, u)
	if err != nil {
		return nil, err
	}
	w := f.start(ctx, t, u.Workers)
	promised := w.promised
	if !u.Ahead {
		promised = nil
	}
	select {
	case size := <-promised:
		return f.unpacked(size, &ahead{unpacking: w, size: size}), nil
	case <-w.stopped:
	}
	w.stop()
	done := false
	defer func() {
		if !done {
			_ = t.Close()
		}
	}()
	size, err := w.result()
	if err != nil {
		return nil, err
	}
	done = true
	return f.unpacked(size, t.File), nil
}

// unpacked is the content of f.
func (f *File) unpacked(size int64, content Content) *File {
	_, inner := PackingOf(f.Name)
	return &File{
		Name: f.Name + "/" + path.Base(inner), Path: f.Path, Size: size, Modified: f.Modified,
		Identity: f.Identity, content: content, packed: f,
	}
}

// headBytes of a packed file are enough for the first bytes of its content, unless somebody has put
// something else in front.
const headBytes = 1 << 20

// UnpackedHead gives the first n bytes of the content of a file, or all of a shorter one. A content
// that does not begin within the first headBytes of the packed file is a *PackError, as for one
// that is cut off.
func (f *File) UnpackedHead(n int) ([]byte, error) {
	var content io.Reader
	var err error
	in := f.stream(context.Background(), 0, min(f.Size, headBytes))
	switch packing, _ := PackingOf(f.Name); packing {
	case Gzip:
		content, err = gzip.NewReader(in)
	case Zstd:
		content, err = newZstd(in, 1)
	default:
		return f.Head(n)
	}
	head := make([]byte, n)
	got := 0
	if err == nil {
		got, err = fill(content, head)
	}
	if d, ok := content.(*zstd.Decoder); ok && d != nil {
		d.Close()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, in.wrong(err)
	}
	return head[:got], nil
}

// drain hands a decoded content on, piece by piece. bad is an error of the decoder, err one of write
// or that of ctx, which is asked here too: the bytes that a decoder has read ahead may hold gigabytes.
func drain(ctx context.Context, content io.Reader, piece []byte, write func([]byte) error) (bad, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, bad := fill(content, piece)
		if err := write(piece[:n]); err != nil {
			return nil, err
		}
		if errors.Is(bad, io.EOF) {
			return nil, nil
		}
		if bad != nil {
			return bad, nil
		}
	}
}

// fill reads until p is full or there is an error, which it gives as it is: that of a cut content
// differs from the end of a whole one.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var got int
		got, err = r.Read(p[n:])
		n += got
	}
	return n, err
}

// stream is a run of bytes of a packed file in order. It knows how far they were read.
type stream struct {
	*bufio.Reader
	f     *File
	ctx   context.Context
	taken atomic.Int64 // byte of the file that is read next
	end   int64
	limit func(at int64) (end int64, err error) // waits until byte at may be read, or end is known; nil: end is
	err   error                                 // of reading the file
}

func (f *File) stream(ctx context.Context, from, to int64) *stream {
	return f.streamIn(ctx, from, to, bufio.NewReaderSize(nil, streamBytes))
}

// streamIn is stream through a buffer.
func (f *File) streamIn(ctx context.Context, from, to int64, buffer *bufio.Reader) *stream {
	s := &stream{Reader: buffer, f: f, ctx: ctx, end: to}
	s.taken.Store(from)
	buffer.Reset(fileReader{s})
	return s
}

// fileReader is what a stream is filled from.
type fileReader struct{ s *stream }

func (r fileReader) Read(p []byte) (int, error) {
	s := r.s
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	at, end := s.taken.Load(), s.end
	if s.limit != nil {
		var err error
		if end, err = s.limit(at); err != nil {
			return 0, err
		}
	}
	if at >= end {
		return 0, io.EOF
	}
	n, err := s.f.ReadAt(p[:min(int64(len(p)), end-at)], at)
	s.taken.Add(int64(n))
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		err = s.f.shorter(at, end)
	}
	s.err = err
	return 0, err
}

// wrong makes the error of a decoder one that says where; the file's own and the context's stay
// what they are. Nobody reads any more.
func (s *stream) wrong(err error) error {
	if s.err != nil {
		return s.err
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	packing, _ := PackingOf(s.f.Name)
	return &PackError{Name: s.f.Name, Packing: packing, Offset: s.taken.Load() - int64(s.Buffered()), Err: words(err)}
}

// words says what is wrong in words that help the owner of the file.
func words(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &corrupt):
		return errors.New("corrupt DEFLATE data")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the packed data ends too early: it is cut off")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("no gzip member begins here: want the bytes 1f 8b 08")
	case errors.Is(err, gzip.ErrChecksum):
		return errors.New("the content does not have the checksum and length that the member says")
	case errors.Is(err, zstd.ErrMagicMismatch):
		return errors.New("no zstd frame begins here: want the bytes 28 b5 2f fd")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("the frame wants a window of more than %d bytes", maxZstdWindow)
	}
	return err
}

// Temp is a temporary file without a name, which is gone when it is closed. It may have holes.
type Temp struct {
	*os.File
	name    string // of the packed file, for errors
	dir     string
	limit   int64
	size    atomic.Int64 // bytes written, without holes
	checked atomic.Int64 // size up to which there is room
}

// NewTemp makes a temporary file for the content of a named file. u bounds its bytes.
func NewTemp(name string, u UnpackOptions) (*Temp, error) {
	u = u.withDefaults()
	f, err := system.Nameless(u.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(u.Dir, 0o700); err == nil {
			f, err = system.Nameless(u.Dir)
		}
	}
	if system.Full(err) {
		return nil, &RoomError{Name: name, Disk: filepath.Clean(u.Dir)}
	}
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, name: name, dir: filepath.Clean(u.Dir), limit: u.MaxBytes}, nil
}

// write appends a piece. One goroutine writes.
func (t *Temp) write(p []byte) error { return t.Put(p, t.size.Load()) }

// Put writes a piece at an offset where nothing was written before. Several goroutines may write.
// Beyond the limit, or the room on the disk, it returns a *RoomError.
func (t *Temp) Put(p []byte, off int64) error {
	if err := t.Reserve(int64(len(p))); err != nil {
		return err
	}
	_, err := t.WriteAt(p, off)
	if system.Full(err) {
		err = &RoomError{Name: t.name, Limit: t.size.Load(), Disk: t.dir}
	}
	return err
}

// cut removes all bytes but the first n.
func (t *Temp) cut(n int64) error {
	t.size.Store(n)
	return t.Truncate(n)
}

// Reserve counts n more bytes that will be written. Beyond the limit, or the room on the disk, it
// returns a *RoomError.
func (t *Temp) Reserve(n int64) error {
	size := t.size.Add(n)
	if size > t.limit {
		return &RoomError{Name: t.name, Limit: t.limit}
	}
	if size <= t.checked.Load() {
		return nil
	}
	free, err := system.Free(t.dir)
	if err != nil {
		return err
	}
	if free < freeReserve+roomStep {
		return &RoomError{Name: t.name, Limit: size - n, Disk: t.dir}
	}
	t.checked.Store(size + roomStep)
	return nil
}
