package osmpbf

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/readers/source"
)

// inflater reads blobs, for one goroutine. Its buffers serve one blob after the other.
type inflater struct {
	blob    []byte // as in the file
	content []byte
	packed  bytes.Reader // zlib data in blob
	zlib    io.ReadCloser
	zstd    *zstd.Decoder
}

// Fields of a Blob.
const (
	blobRaw     = 1
	blobRawSize = 2
	blobZlib    = 3
	blobLZMA    = 4
	blobBzip2   = 5
	blobLZ4     = 6
	blobZstd    = 7
)

var packings = map[int]string{blobLZMA: "LZMA", blobBzip2: "bzip2", blobLZ4: "LZ4"}

// read returns the content of a blob, which is valid until the next call. A defect has its offset in
// the file.
func (r *inflater) read(src *source.File, f frame) ([]byte, error) {
	r.blob = slices.Grow(r.blob[:0], f.size)[:f.size]
	if err := readAt(src, r.blob, f.from); err != nil {
		return nil, err
	}
	b, bad := r.unpack()
	if bad != nil {
		return nil, errorAt(src, f.from+int64(bad.at), bad)
	}
	return b, nil
}

// unpack returns the content of the blob.
func (r *inflater) unpack() ([]byte, *fault) {
	w := wire{b: r.blob, end: len(r.blob)}
	packing, size, sized := 0, uint64(0), false
	var data span
	for {
		at := w.p
		number, kind, ok := w.next()
		if !ok {
			break
		}
		switch {
		case number == blobRawSize:
			if w.expect("raw_size", kind, wireVarint) {
				if size, sized = w.varint(), true; size >= maxBlobBytes {
					w.fail(at, "a blob whose content has %d bytes, expected fewer than %d", size, maxBlobBytes)
				}
			}
		case number > blobZstd:
			w.skip(kind)
		case packing != 0:
			w.fail(at, "a blob with data in fields %d and %d", packing, number)
		case w.expect("data", kind, wireBytes):
			packing, data = number, w.bytes()
		}
	}
	switch {
	case w.fault != nil:
		return nil, w.fault
	case packing == 0:
		return nil, faultf(0, "a blob without data")
	case packing == blobRaw:
		return r.blob[data.from:data.to], nil
	case packings[packing] != "":
		return nil, faultf(data.from, "a blob that is packed with %s, which is not read: expected zlib, zstd or none",
			packings[packing])
	case !sized:
		return nil, faultf(0, "a packed blob without raw_size")
	}
	r.content = slices.Grow(r.content[:0], int(size))[:size]
	if packing == blobZstd {
		return r.unzstd(data)
	}
	return r.unzlib(data)
}

// unzlib unpacks zlib data, whose content must fill r.content.
func (r *inflater) unzlib(data span) ([]byte, *fault) {
	r.packed.Reset(r.blob[data.from:data.to])
	if err := r.resetZlib(); err != nil {
		return nil, faultf(data.from, "corrupt zlib data: %w", err)
	}
	n, err := io.ReadFull(r.zlib, r.content)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, faultf(data.from, "zlib data whose content ends after %d bytes, expected %d, as raw_size says", n,
			len(r.content))
	default:
		return nil, faultf(data.from, "corrupt zlib data: %w", err)
	}
	var more [1]byte
	switch n, err := r.zlib.Read(more[:]); { // the end has the checksum
	case n > 0:
		return nil, faultf(data.from, "a blob whose content has more than the %d bytes that raw_size says",
			len(r.content))
	case !errors.Is(err, io.EOF):
		return nil, faultf(data.from, "corrupt zlib data: %w", err)
	}
	return r.content, nil
}

// resetZlib begins to read r.packed.
func (r *inflater) resetZlib() (err error) {
	if r.zlib == nil {
		r.zlib, err = zlib.NewReader(&r.packed)
		return err
	}
	return r.zlib.(zlib.Resetter).Reset(&r.packed, nil)
}

func (r *inflater) unzstd(data span) ([]byte, *fault) {
	if r.zstd == nil {
		var err error
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlobBytes))
		if err != nil {
			return nil, &fault{at: data.from, err: err}
		}
	}
	out, err := r.zstd.DecodeAll(r.blob[data.from:data.to], r.content[:0])
	switch {
	case err != nil:
		return nil, faultf(data.from, "corrupt zstd data: %w", err)
	case len(out) != len(r.content):
		return nil, faultf(data.from, "a blob whose content has %d bytes, of which raw_size says %d", len(out),
			len(r.content))
	}
	return out, nil
}

// close releases the decoders.
func (r *inflater) close() {
	if r.zstd != nil {
		r.zstd.Close()
	}
}
