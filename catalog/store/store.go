// Package store knows what the catalog learned of each file, across restarts: which version of the
// file was parsed, how, and what came out.
//
// It is a memory, not the truth: a record that is absent costs a parse and nothing else. So
// whatever is damaged, of another program or of a newer version is set aside and forgotten, never
// repaired. What a record says is for the caller to compare with the file as it is now.
//
// Texts are UTF-8, and without NUL but in the statistics of columns. Others are refused: they have
// no place in JSON, or in other databases.
package store

import (
	"context"
	"errors"
)

// ErrClosed is what a closed store answers.
var ErrClosed = errors.New("the store is closed")

// Store keeps records by key. It is safe for use by several goroutines, and by several processes on
// one host. Errors of an invalid name or record are told before anything is read or written; a
// canceled context leaves what was there.
type Store interface {
	// Get gives the record of a key, and false if there is none. The caller owns it.
	Get(ctx context.Context, key Key) (Record, bool, error)

	// Put stores a record in place of the one of its key. It is stored whole or not at all, and a
	// crash of the process does not undo it; one of the machine may. After an error the older
	// record is there.
	Put(ctx context.Context, r Record) error

	// Delete removes the record of a key. It is no error if there is none.
	Delete(ctx context.Context, key Key) error

	// All calls yield for each record in order of name, then of options, and stops at its first
	// error, which it gives. Names are ordered by their bytes. yield may use the store: no lock is
	// held. A record that is put or deleted meanwhile may be seen or not.
	All(ctx context.Context, yield func(Record) error) error

	// Of is All of the records of a name.
	Of(ctx context.Context, name string, yield func(Record) error) error

	// Newest gives the records of the files that were parsed last, n at most, fewer where they are
	// very large. The last one is first, and the caller owns them.
	Newest(ctx context.Context, n int) ([]Record, error)

	// Layered is All of the records that have layers.
	Layered(ctx context.Context, yield func(Record) error) error

	// Prune removes all records of each name that keep says false of, and gives how many it
	// removed, also with an error. keep is asked once for a name and may use the store.
	Prune(ctx context.Context, keep func(name string) bool) (int, error)

	// Close ends the store after the calls under way. Calls that come later give ErrClosed, Close
	// does not.
	Close() error
}
