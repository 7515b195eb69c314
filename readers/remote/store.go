// Package remote reads data files where they are: in object stores and on web servers.
//
//	Store    what a store can do: list objects, describe one, read a range of one version
//	Root     a folder of a store, as a URL names it, with its retries and its limit of requests
//	Folder   the same as a source.Folder, so that every format reads it like a local file
//
// A file is read as one version of an object. Each ranged read names that version, and the answer
// is compared with it: a file that changes while it is read is an error, never a mixed table.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Object describes one version of an object.
type Object struct {
	Key      string // below the folder that the store was opened for
	Size     int64  // bytes
	Modified time.Time
	Version  source.ObjectVersion
}

// identity returns the identity of the object without siblings.
func (o Object) identity() source.Identity { return source.IdentityOf(objectInfo{o}) }

// Store is one kind of object store, opened for a folder of it. It makes one request per call and
// does not retry. It is safe for concurrent use. Its errors are *Failure.
type Store interface {
	// List returns a page of the objects whose keys begin with a prefix, in no particular order, and
	// the place where the next page begins; nil: there is none. The first page is at nil. A page can
	// be requested again.
	List(ctx context.Context, prefix string, at Place) (page []Object, next Place, err error)
	// Stat describes the present version of an object.
	Stat(ctx context.Context, key string) (Object, error)
	// Read reads bytes [from, to) of a version. The result has exactly these bytes, or its Read
	// returns an error.
	Read(ctx context.Context, o Object, from, to int64) (io.ReadCloser, error)
	// Close ends the connections that are not in use.
	Close() error
}

// Place is where a page of a list begins, in the terms of one store.
type Place any

// Kind classifies a failed request.
type Kind int

// The kinds of failures.
const (
	Permanent Kind = iota // repeating the request would give the same
	Transient             // the same request may succeed: a reset, a 5xx status
	Throttled             // the store asks for fewer requests: 429, 503
	Missing               // there is no such object
	Denied                // the credentials do not allow it
	Changed               // the object no longer has the requested version
	NoRanges              // the server sends whole objects only
	Encoded               // the answer has a Content-Encoding: its bytes are not those of the file
	Exists                // there is an object of this key already
)

// CheckEncoding returns a failure if an answer with the Content-Encoding has other bytes than the
// file. A range of compressed bytes cannot be unpacked, and the size of the file is not known.
func CheckEncoding(encoding string) *Failure {
	switch strings.ToLower(encoding) {
	case "", "identity", "aws-chunked": // the last one is left over from an upload to some stores
		return nil
	}
	return &Failure{
		Kind: Encoded, Err: fmt.Errorf("it is sent with the Content-Encoding %.40q", encoding),
		Hint: "store it without that header; a file named .gz or .zst is unpacked when it is read",
	}
}

// Failure is the error of a request.
type Failure struct {
	Kind       Kind
	RetryAfter time.Duration // that the store asked for; 0: it did not
	Hint       string        // what the operator can do; may be empty
	Err        error
}

func (e *Failure) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v: %s", e.Err, e.Hint)
}

// Unwrap returns the causes: that of the store, and the error of the same meaning for a file.
func (e *Failure) Unwrap() []error {
	switch e.Kind {
	case Changed:
		return []error{source.ErrChanged, e.Err}
	case Missing:
		return []error{fs.ErrNotExist, e.Err}
	case Denied:
		return []error{fs.ErrPermission, e.Err}
	case Exists:
		return []error{fs.ErrExist, e.Err}
	}
	return []error{e.Err}
}

// kindOf returns the kind of a failed request. An error of the connection is transient.
func kindOf(err error) (Kind, time.Duration) {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return Permanent, 0
	}
	var f *Failure
	if errors.As(err, &f) {
		return f.Kind, f.RetryAfter
	}
	return Transient, 0
}

// objectInfo is an object as a fs.FileInfo. Its Sys is the source.ObjectVersion.
type objectInfo struct{ Object }

func (i objectInfo) Name() string       { return path.Base(i.Key) }
func (i objectInfo) Size() int64        { return i.Object.Size }
func (i objectInfo) Mode() fs.FileMode  { return 0o444 }
func (i objectInfo) ModTime() time.Time { return i.Modified }
func (i objectInfo) IsDir() bool        { return false }
func (i objectInfo) Sys() any           { return i.Version }
