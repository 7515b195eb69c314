package uploads

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Fields of BodyCompression, and its codecs.
const (
	compressionCodec, compressionMethod = 0, 1

	codecLZ4, codecZstd byte = 0, 1
)

// maxWindow bounds the window of a Zstandard frame, which its decoder allocates first. The window
// of frames that are compressed at once, as Arrow's libraries do, is their own length.
const maxWindow = 64 << 20

// prefixBytes is the length of the prefix of each compressed buffer: its decompressed length, or -1
// if it is not compressed.
const prefixBytes = 8

// decompressor decompresses the buffers of a body to check their lengths, and drops the result.
// Arrow's reader decompresses them again. It allocates the stated length, and truncates longer
// buffers.
type decompressor struct {
	body []byte
	left int64 // bytes that may still be decompressed
	lz4  *lz4.Reader
	zstd *zstd.Decoder
}

// ErrUnpacked is the error of a compressed batch that is too large when decompressed.
var ErrUnpacked = errors.New("the batch takes more than --max-message-bytes when it is unpacked: send fewer rows at " +
	"a time")

// newDecompressor reads the compression of a batch.
func newDecompressor(compression table, body []byte, maxBytes int64) (*decompressor, error) {
	u := &decompressor{body: body, left: maxBytes}
	codec, method := compression.byte(compressionCodec), compression.byte(compressionMethod)
	switch {
	case method != 0:
		return nil, fmt.Errorf("the batch is compressed by the unknown method %d", method)
	case codec == codecLZ4:
		u.lz4 = lz4.NewReader(nil)
	case codec == codecZstd:
		var err error
		if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow)); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("the batch is compressed by codec %d: want LZ4 frames or Zstandard", codec)
	}
	return u, nil
}

func (u *decompressor) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// check decompresses a buffer of the body.
func (u *decompressor) check(at, length int64) error {
	if length == 0 {
		return nil
	}
	if length < prefixBytes {
		return fmt.Errorf("%d bytes are no compressed buffer", length)
	}
	b := u.body[at : at+length]
	says, packed := int64(binary.LittleEndian.Uint64(b)), b[prefixBytes:]
	if says == -1 {
		says = int64(len(packed))
		packed = nil
	}
	if says < 0 {
		return fmt.Errorf("it says that it has %d bytes when it is unpacked", says)
	}
	if u.left -= says; u.left < 0 {
		return ErrUnpacked
	}
	if packed == nil || says == 0 {
		return nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(u.reader(packed), says+1))
	switch {
	case err != nil:
		return fmt.Errorf("it does not unpack: %w", err)
	case n < says:
		return fmt.Errorf("it has %d bytes when it is unpacked, and says %d", n, says)
	case n > says:
		return fmt.Errorf("it has more bytes when it is unpacked than the %d it says", says)
	}
	return nil
}

func (u *decompressor) reader(packed []byte) io.Reader {
	in := bytes.NewReader(packed)
	if u.lz4 != nil {
		u.lz4.Reset(in)
		return u.lz4
	}
	if err := u.zstd.Reset(in); err != nil {
		return failingReader{err}
	}
	return u.zstd
}

// failingReader returns an error for each read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
