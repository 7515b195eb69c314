// Package sqlite reads the tables of an SQLite 3 database file (https://www.sqlite.org/fileformat2.html).
//
//	database  pages of equal size; page 1 begins with the header of 100 bytes
//	table     a B-tree: interior pages lead to leaf pages, which hold the rows in the order of their rowids
//	row       size of the payload, rowid, payload; what does not fit in the page is in a chain of overflow pages
//	payload   size of the header, serial types, values
//	wal       the file next to the database with pages that were committed and not yet copied into it
//
// It runs no SQL and reads no index. Interior pages are read first, and only once: they give the list of
// leaf pages, of which several goroutines can read disjoint runs.
//
// Nothing in a file is trusted. Each page belongs to one place of one tree, all leaves have the
// same depth, and the cells of a page have no more bytes than the page. So every walk ends. A
// violation is a *Fault with its offset in the file. Tables WITHOUT ROWID are not read.
package sqlite
