package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// lz4Raw is LZ4_RAW of parquet-format, "Compression": one block of LZ4 without a frame, which most
// writers mean by "lz4". Arrow v17 knows only its number.
const lz4Raw = compress.Compression(7)

// registerCodecs makes Arrow's code unpack a page to exactly the bytes in its header. By itself it
// trusts the compressed data: a page of Snappy or Zstandard that claims gigabytes allocates them.
// It is called before any file is read.
var registerCodecs = sync.OnceFunc(func() {
	for packing, unpack := range map[compress.Compression]func(dst, src []byte) ([]byte, error){
		compress.Codecs.Snappy: unpackSnappy, compress.Codecs.Zstd: unpackZstd,
		compress.Codecs.Gzip: unpackGzip, compress.Codecs.Brotli: unpackBrotli,
	} {
		codec, err := compress.GetCodec(packing)
		if err != nil {
			panic(err) // Arrow's own
		}
		compress.RegisterCodec(packing, pageCodec{codec, unpack})
	}
	compress.RegisterCodec(lz4Raw, pageCodec{noWriter{}, unpackLZ4})
})

// pageCodec is a codec whose Decode fills dst, or panics.
type pageCodec struct {
	compress.Codec
	unpack func(dst, src []byte) ([]byte, error)
}

func (c pageCodec) Decode(dst, src []byte) []byte {
	if len(dst)+len(src) == 0 { // as some writers have a page of nulls
		return dst
	}
	out, err := c.unpack(dst, src)
	if err == nil && len(out) != len(dst) {
		err = errLength
	}
	if err != nil {
		panic(fmt.Errorf("%d packed bytes of a page of %d: %w", len(src), len(dst), err))
	}
	return out
}

var errLength = errors.New("they have another length")

func unpackSnappy(dst, src []byte) ([]byte, error) {
	if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
		return nil, errors.Join(err, errLength)
	}
	return snappy.Decode(dst, src)
}

// unpacker is used by all goroutines.
var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

func unpackZstd(dst, src []byte) ([]byte, error) {
	d, err := unpacker()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(src, dst[:0:len(dst)])
}

func unpackGzip(dst, src []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	return unpackStream(dst, r)
}

func unpackBrotli(dst, src []byte) ([]byte, error) {
	return unpackStream(dst, brotli.NewReader(bytes.NewReader(src)))
}

// unpackStream reads to the end, after which gzip has a checksum.
func unpackStream(dst []byte, r io.Reader) ([]byte, error) {
	if _, err := io.ReadFull(r, dst); err != nil {
		return nil, err
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return nil, errLength
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return dst, nil
}

func unpackLZ4(dst, src []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, err
	}
	return dst[:n], nil
}

// noWriter is a codec without compression or streams.
type noWriter struct{}

var errNoStream = errors.New("LZ4_RAW has no streams, and is not written")

func (noWriter) NewReader(io.Reader) io.ReadCloser                     { panic(errNoStream) }
func (noWriter) NewWriter(io.Writer) io.WriteCloser                    { panic(errNoStream) }
func (noWriter) NewWriterLevel(io.Writer, int) (io.WriteCloser, error) { return nil, errNoStream }
func (noWriter) Encode([]byte, []byte) []byte                          { panic(errNoStream) }
func (noWriter) EncodeLevel([]byte, []byte, int) []byte                { panic(errNoStream) }
func (noWriter) Decode([]byte, []byte) []byte                          { panic(errNoStream) }
func (noWriter) CompressBound(n int64) int64                           { return int64(lz4.CompressBlockBound(int(n))) }
