// Package store keeps what the catalog knows about each file across restarts: which version of the
// file was parsed, how, and with which result.
//
// A store is only a cache: a missing record costs a parse and nothing else. So what is damaged is
// removed and never repaired. The caller compares a record with the current file.
//
//	store/sqlite    the records of a host, in a file
//	store/postgres  those of several hosts, in a database
//	store/shared    both as one store, for a database that may be away
//
// Texts are UTF-8. Only the statistics of columns may contain NUL. Other texts are rejected,
// because JSON and other databases cannot hold them.
package store

import (
	"context"
	"errors"
)

// ErrClosed is the error of calls on a closed store.
var ErrClosed = errors.New("the store is closed")

// Store keeps records by key. It is safe for concurrent use, also by several processes.
// A call returns an error for an invalid name or record before it reads or writes. A canceled call
// changes nothing.
type Store interface {
	// Get returns the record of a key, or false. The caller owns the record.
	Get(ctx context.Context, key Key) (Record, bool, error)

	// Put stores a record and replaces the one with its key. It stores the whole record or nothing.
	// The record survives a crash of the process, but maybe not one of the machine. After an error
	// the older record is still stored.
	Put(ctx context.Context, r Record) error

	// Delete removes the record of a key. A missing record is not an error.
	Delete(ctx context.Context, key Key) error

	// All calls yield for each record in order of name, then of options. It stops at the first
	// error of yield and returns it. Names are ordered by their bytes. yield may use the store,
	// because no lock is held. Records that are put or deleted during the call may be missing.
	All(ctx context.Context, yield func(Record) error) error

	// Of is All for the records of one name.
	Of(ctx context.Context, name string, yield func(Record) error) error

	// Newest returns at most n records of the files that were parsed last, latest first. It returns
	// fewer if they are very large. The caller owns them.
	Newest(ctx context.Context, n int) ([]Record, error)

	// Layered is All for the records that have layers.
	Layered(ctx context.Context, yield func(Record) error) error

	// Prune removes all records of each name for which keep returns false. It returns how many it
	// removed, also with an error. keep is called once for each name and may use the store.
	Prune(ctx context.Context, keep func(name string) bool) (int, error)

	// Close closes the store after the calls in progress. Later calls return ErrClosed, but Close
	// does not.
	Close() error
}
