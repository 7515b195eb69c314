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

// mostWindow bounds what a frame of Zstandard may have its decoder look back to, which that one
// allocates ahead of all else. Frames that are compressed in one go, as Arrow's libraries do, look
// back to their own beginning.
const mostWindow = 64 << 20

// prefixBytes is the length of what stands in front of each compressed buffer: its own length when
// it is unpacked, or -1 if it is not packed.
const prefixBytes = 8

// unpacker unpacks the buffers of a body, to see that they are as long as they say, and drops them.
// Arrow's reader, which unpacks them once more, allocates what they say, and takes the beginning of
// those that are longer.
type decompressor struct {
	body []byte
	left int64 // bytes that may still be unpacked
	lz4  *lz4.Reader
	zstd *zstd.Decoder
}

// ErrUnpacked says that a compressed batch is larger than it may be when it is unpacked.
var ErrUnpacked = errors.New("the batch takes more than --max-message-bytes when it is unpacked: send fewer rows at " +
	"a time")

// newUnpacker reads what a batch says of its compression.
func newUnpacker(compression table, body []byte, most int64) (*decompressor, error) {
	u := &decompressor{body: body, left: most}
	codec, method := compression.byte(compressionCodec), compression.byte(compressionMethod)
	switch {
	case method != 0:
		return nil, fmt.Errorf("the batch is compressed by method %d, which nobody knows", method)
	case codec == codecLZ4:
		u.lz4 = lz4.NewReader(nil)
	case codec == codecZstd:
		var err error
		if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(mostWindow)); err != nil {
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

// check unpacks the buffer at a place of the body.
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

// failingReader is what can't be read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
