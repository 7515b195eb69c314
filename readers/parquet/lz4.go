package parquet

import (
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"
)

// lz4Raw is LZ4_RAW of parquet-format, "Compression": one block of LZ4 without a frame, which is what "lz4" means to most writers. Arrow v17 knows its number alone.
const lz4Raw = compress.Compression(7)

// registerLZ4 makes Arrow's own code read it. It is called before any file is read.
var registerLZ4 = sync.OnceFunc(func() { compress.RegisterCodec(lz4Raw, lz4Codec{}) })

type lz4Codec struct{}

// Decode unpacks a page. dst is as long as its header says.
func (lz4Codec) Decode(dst, src []byte) []byte {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil || n != len(dst) {
		panic(fmt.Errorf("a page of LZ4 of %d bytes gives %d instead of %d: %w", len(src), n, len(dst), err))
	}
	return dst
}

// NewReader is asked for by nobody who reads pages.
func (lz4Codec) NewReader(io.Reader) io.ReadCloser { panic(errNoStream) }

var errNoStream = fmt.Errorf("LZ4_RAW has no streams, and is not written")

func (lz4Codec) NewWriter(io.Writer) io.WriteCloser                    { panic(errNoStream) }
func (lz4Codec) NewWriterLevel(io.Writer, int) (io.WriteCloser, error) { return nil, errNoStream }
func (lz4Codec) Encode([]byte, []byte) []byte                          { panic(errNoStream) }
func (lz4Codec) EncodeLevel([]byte, []byte, int) []byte                { panic(errNoStream) }
func (lz4Codec) CompressBound(n int64) int64                           { return int64(lz4.CompressBlockBound(int(n))) }
