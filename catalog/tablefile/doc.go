// Package tablefile is the file of one parsed table: an Arrow IPC file of version 5 whose record
// batches lie there as geoarrow.Columns holds them in memory. It is written batch by batch and read
// by mapping it: every slice of a table is a view of the mapping, nothing is copied or decoded, and
// what works on a table in memory works on this one, byte for byte. Any Arrow reader opens it and
// sees the table.
//
//	0            "ARROW1" 0 0, zeros up to 64
//	64           messages, each at a multiple of 64, one a batch, in any order:
//	               ff ff ff ff | length, int32 | Message, a flatbuffer | zeros up to a multiple of 64
//	               buffers, each at a multiple of 64 and followed by zeros, uncompressed
//	               the geometry's Kinds, which no Arrow buffer points to
//	             ff ff ff ff 00 00 00 00, the end of the stream
//	             spatial indices, each at a multiple of 64, one a batch that has a box
//	             Footer, a flatbuffer: schema, blocks, and our description of the table, JSON, under the key "vibeflight"
//	             tail (tail.go), which ends as an Arrow file has to: length of Footer and tail, int32 | "ARROW1"
//
// The head has no schema message, since the types are known at the end: readers of the stream
// format need the footer. A message that Finish found to have other types than the table stays
// where it is, and nothing points to it.
//
// CRC-32C guards every byte that is read. The tail holds its own sum and that of the footer, the
// footer those of the messages and of the indices. Open reads tail and footer; a message is
// verified by Check, before its slices are read, and an index by Search, once each. Offsets in a
// verified message are trusted, since we wrote them. A sum finds accidents; it stops nobody who
// means harm and can write to the file.
//
// The package refuses what a canonical table does not have (readertest.Canonical): slices of other
// lengths than their type asks for, batches of different columns, names that are not UTF-8. It
// knows nothing of what the file is called or when it goes. Cutting a file off while it is mapped
// kills the process (SIGBUS); a file that was cut off before Open is found out.
package tablefile
