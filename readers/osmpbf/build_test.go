package osmpbf_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
)

// message is the fields of a protocol buffer.
type message []byte

func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) signed(field int, v int64) message { return m.number(field, zigzag(v)) }

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	return append(binary.AppendUvarint(m, uint64(len(b))), b...)
}

func (m message) text(field int, s string) message { return m.bytes(field, []byte(s)) }

func (m message) numbers(field int, v ...uint64) message {
	var packed []byte
	for _, n := range v {
		packed = binary.AppendUvarint(packed, n)
	}
	return m.bytes(field, packed)
}

// deltas appends the differences of numbers.
func (m message) deltas(field int, v ...int64) message {
	var last int64
	var packed []uint64
	for _, n := range v {
		packed = append(packed, zigzag(n-last))
		last = n
	}
	return m.numbers(field, packed...)
}

func zigzag(v int64) uint64 { return uint64(v<<1 ^ v>>63) }

// table returns a StringTable, whose first string is empty.
func table(s ...string) message {
	m := message{}.text(1, "")
	for _, text := range s {
		m = m.text(1, text)
	}
	return m
}

// raw returns a Blob that is not packed.
func raw(content []byte) []byte { return message{}.bytes(1, content) }

// packed returns a Blob that is packed with zlib.
func packed(content []byte) []byte {
	return message{}.number(2, uint64(len(content))).bytes(3, deflated(content))
}

func deflated(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// framed returns a blob after its header.
func framed(kind string, blob []byte) []byte {
	head := message{}.text(1, kind).number(3, uint64(len(blob)))
	out := binary.BigEndian.AppendUint32(nil, uint32(len(head)))
	return append(append(out, head...), blob...)
}

// osmFile returns a file of the contents of data blobs, not packed.
func osmFile(blocks ...[]byte) []byte {
	out := framed("OSMHeader", raw(message{}.text(4, "OsmSchema-V0.6").text(4, "DenseNodes")))
	for _, b := range blocks {
		out = append(out, framed("OSMData", raw(b))...)
	}
	return out
}

// block returns a PrimitiveBlock of groups.
func block(texts message, groups ...[]byte) message {
	m := message{}.bytes(1, texts)
	for _, g := range groups {
		m = m.bytes(2, g)
	}
	return m
}

// square is a file with an object of every kind:
//
//	nodes      1 to 4, corners of a square of 1 degree; 5 and 6, of which 5 is a café
//	ways       10, a road from 1 to 2; 11, a closed building; 12 and 13, halves of a square
//	relations  20, a multipolygon of 12 and 13 with the hole 11; 21, a route of 10; 22, a site of 5 and 11
func square() []byte {
	nodes := block(
		table("amenity", "cafe", "name", "Zoë", "created_by", "JOSM"),
		message{}.bytes(2, message{}.deltas(1, 1, 2, 3, 4, 5, 6).deltas(8, 0, 0, 1e7, 1e7, 5e6, 5000001).
			deltas(9, 0, 1e7, 1e7, 0, 5e6, 2e6).numbers(10, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 5, 6, 0)),
		message{}.bytes(1, message{}.signed(1, 7).signed(8, 2e6).signed(9, 3e6).numbers(2, 1).numbers(3, 2)).
			bytes(1, message{}.signed(1, 8).signed(8, 2e6).signed(9, 2e6)).
			bytes(1, message{}.signed(1, 9).signed(8, 3e6).signed(9, 3e6)),
	)
	ways := block(
		table("highway", "primary", "building", "yes", "layer", "-1", "name", "a \"b\"\n"),
		message{}.
			bytes(3, message{}.number(1, 10).numbers(2, 1, 5, 7).numbers(3, 2, 6, 8).deltas(8, 1, 2)).
			bytes(3, message{}.number(1, 11).numbers(2, 3).numbers(3, 4).deltas(8, 7, 8, 9, 7)).
			bytes(3, message{}.number(1, 12).deltas(8, 1, 2, 3)).
			bytes(3, message{}.number(1, 13).deltas(8, 1, 4, 3)).
			bytes(3, message{}.number(1, 14).numbers(2, 3).numbers(3, 4).deltas(8, 7, 8, 9, 7)),
	)
	relations := block(
		table("type", "multipolygon", "outer", "inner", "natural", "water", "route", "site", "ref"),
		message{}.
			bytes(4, message{}.number(1, 20).numbers(2, 1, 5).numbers(3, 2, 6).numbers(8, 3, 3, 4).
				deltas(9, 12, 13, 11).numbers(10, 1, 1, 1)).
			bytes(4, message{}.number(1, 21).numbers(2, 1, 9).numbers(3, 7, 9).numbers(8, 0).deltas(9, 10).
				numbers(10, 1)).
			bytes(4, message{}.number(1, 22).numbers(2, 1).numbers(3, 8).numbers(8, 0, 0, 0).deltas(9, 5, 11, 10).
				numbers(10, 0, 1, 1)).
			bytes(4, message{}.number(1, 23).numbers(2, 1).numbers(3, 2).numbers(8, 3).deltas(9, 14).numbers(10, 1)).
			bytes(4, message{}.number(1, 24).numbers(2, 1).numbers(3, 2).numbers(8, 3).deltas(9, 99).numbers(10, 1)),
	)
	return osmFile(nodes, ways, relations)
}
