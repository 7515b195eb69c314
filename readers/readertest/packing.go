package readertest

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"slices"
)

// Packing takes the files of a format apart, so that damage reaches what compression, checksums or
// lengths would hide: a changed byte of a deflated stream is an error of the stream, never of the
// format inside of it.
type Packing struct {
	// Unpack returns the parts of a file, which a damage may change, or false for a file that has none.
	Unpack func(text []byte) (parts [][]byte, ok bool)
	// Pack returns the file with other parts. It may cut or pad a part.
	Pack func(text []byte, parts [][]byte) []byte
}

// Archive is the packing of ZIP archives: the parts are the members. Pack stores them, with new
// checksums.
var Archive = Packing{
	Unpack: func(text []byte) ([][]byte, bool) {
		_, parts, ok := members(text)
		return parts, ok
	},
	Pack: func(text []byte, parts [][]byte) []byte {
		names, _, _ := members(text)
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i, name := range names {
			if m, err := w.CreateHeader(&zip.FileHeader{Name: name}); err == nil {
				m.Write(parts[i]) //nolint:errcheck // it is memory
			}
		}
		w.Close() //nolint:errcheck // it is memory
		return b.Bytes()
	},
}

// members returns the names and contents of an archive's files.
func members(text []byte) (names []string, parts [][]byte, ok bool) {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, nil, false
	}
	for _, f := range r.File {
		m, err := f.Open()
		if err != nil {
			return nil, nil, false
		}
		part, err := io.ReadAll(m)
		if err != nil || m.Close() != nil {
			return nil, nil, false
		}
		names, parts = append(names, f.Name), append(parts, part)
	}
	return names, parts, len(parts) > 0
}

// Pages is the packing of files of pages: a damage stays in its page, whose bytes it moves, and the
// pages after it stay where the file's other pages expect them.
func Pages(size int) Packing {
	return Packing{
		Unpack: func(text []byte) ([][]byte, bool) {
			return slices.Collect(slices.Chunk(text, size)), len(text) > 0
		},
		Pack: func(text []byte, parts [][]byte) []byte {
			packed := make([]byte, 0, len(text))
			for i, part := range parts {
				want := min(size, len(text)-i*size)
				packed = append(packed, part[:min(want, len(part))]...)
				packed = append(packed, make([]byte, max(0, want-len(part)))...)
			}
			return packed
		},
	}
}

// Blobs is the packing of OpenStreetMap's PBF files: a part is the content of a blob, which Pack
// compresses again as the blob was.
var Blobs = Packing{
	Unpack: func(text []byte) ([][]byte, bool) {
		blobs := blobsOf(text)
		parts := make([][]byte, len(blobs))
		for i, b := range blobs {
			parts[i] = b.content
		}
		return parts, len(parts) > 0
	},
	Pack: func(text []byte, parts [][]byte) []byte {
		var packed []byte
		for i, b := range blobsOf(text) {
			packed = b.appendTo(packed, parts[i])
		}
		return packed
	},
}

// blob is one of a PBF file: a BlobHeader's length, the BlobHeader and the Blob.
type blob struct {
	kind       []byte // field type of BlobHeader, such as OSMData
	compressed bool
	content    []byte
}

// Fields of BlobHeader and Blob, https://wiki.openstreetmap.org/wiki/PBF_Format.
const (
	headerType     = 1
	headerDatasize = 3
	blobRaw        = 1
	blobRawSize    = 2
	blobZlib       = 3
)

// blobsOf returns the blobs of a file up to the first that it can't read.
func blobsOf(text []byte) (blobs []blob) {
	for len(text) >= 4 {
		n := int64(binary.BigEndian.Uint32(text))
		if n > int64(len(text)-4) {
			return blobs
		}
		head, rest := text[4:4+n], text[4+n:]
		kind, _ := field(head, headerType)
		_, size := field(head, headerDatasize)
		if size > uint64(len(rest)) {
			return blobs
		}
		b := blob{kind: kind}
		b.content, _ = field(rest[:size], blobRaw)
		if packed, _ := field(rest[:size], blobZlib); packed != nil {
			r, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				return blobs
			}
			if b.content, err = io.ReadAll(r); err != nil {
				return blobs
			}
			b.compressed = true
		}
		blobs, text = append(blobs, b), rest[size:]
	}
	return blobs
}

// field returns the bytes or the integer of a field of a protobuf message.
func field(message []byte, number uint64) (content []byte, value uint64) {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, 0
		}
		message = message[n:]
		v, n := binary.Uvarint(message)
		if n <= 0 || key&7 != 0 && key&7 != 2 {
			return nil, 0
		}
		message = message[n:]
		if key&7 == 2 {
			if v > uint64(len(message)) {
				return nil, 0
			}
			if key>>3 == number {
				return message[:v], 0
			}
			message = message[v:]
		} else if key>>3 == number {
			return nil, v
		}
	}
	return nil, 0
}

// appendTo appends the blob with another content.
func (b *blob) appendTo(packed, content []byte) []byte {
	var body []byte
	if b.compressed {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(content) //nolint:errcheck // it is memory
		w.Close()        //nolint:errcheck // it is memory
		body = binary.AppendUvarint(append(body, blobRawSize<<3), uint64(len(content)))
		body = appendBytes(body, blobZlib, z.Bytes())
	} else {
		body = appendBytes(body, blobRaw, content)
	}
	head := appendBytes(nil, headerType, b.kind)
	head = binary.AppendUvarint(append(head, headerDatasize<<3), uint64(len(body)))
	packed = binary.BigEndian.AppendUint32(packed, uint32(len(head))) //nolint:gosec // a few bytes
	return slices.Concat(packed, head, body)
}

func appendBytes(message []byte, number byte, content []byte) []byte {
	message = binary.AppendUvarint(append(message, number<<3|2), uint64(len(content)))
	return append(message, content...)
}
