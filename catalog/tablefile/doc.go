// Package tablefile reads and writes the file of one parsed table: an Arrow IPC file of version 5.
// Its record batches have the layout of geoarrow.Columns in memory. The file is written batch by
// batch and read by mapping it. Every slice of a table is a view of the mapping, without a copy.
// Code for tables in memory works on this table too, with the same bytes. Any Arrow reader can open
// the file.
//
//	0            "ARROW1" 0 0, zeros up to 64
//	64           messages, each at a multiple of 64, one for each batch, in any order:
//	               ff ff ff ff | length, int32 | Message, a flatbuffer | zeros up to a multiple of 64
//	               buffers, each at a multiple of 64 and followed by zeros, uncompressed
//	               the geometry's Kinds, which no Arrow buffer refers to
//	             ff ff ff ff 00 00 00 00, the end of the stream
//	             spatial indices, each at a multiple of 64, one for each batch that has a box
//	             Footer, a flatbuffer: schema, blocks, and under the key "vibeflight"
//	               our description of the table, in JSON
//	             tail (tail.go), which ends like every Arrow file:
//	               length of Footer and tail, int32 | "ARROW1"
//
// The file does not start with a schema message, because the types are only known at the end.
// Readers of the stream format therefore need the footer. A message whose types turn out to differ
// from the table's stays in the file without a reference.
//
// CRC-32C protects every byte that is read. The tail has its own sum and the sum of the footer. The
// footer has the sums of the messages and the indices. Open reads tail and footer. Check verifies a
// message once, before its slices are read, and Search verifies an index once. Offsets in a
// verified message are trusted, because this package wrote them. A sum detects accidents, but not
// an attacker who can write to the file.
//
// The package rejects tables that are not canonical (readertest.Canonical): slices whose lengths do
// not match their types, batches with different columns, names that are not UTF-8. It does not know
// the name of the file or when it is removed. Truncating a mapped file kills the process (SIGBUS).
// Open detects a file that was truncated earlier.
package tablefile
