//go:build !nocloud

// Package cloud opens folders of S3, Google Cloud Storage and Azure Blob Storage for package remote.
//
//	s3://bucket/prefix?region=…&endpoint=…&profile=…&anonymous=true&use_path_style=true
//	gs://bucket/prefix?anonymous=true
//	az://container/prefix?storage_account=…&anonymous=true
//
// Credentials come from each provider's own chain: environment, files, the machine's role. Where
// there are none, requests are anonymous, and errors say so.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// provider is what differs between the stores. The functions of "As" get typed views of requests
// and answers.
type provider interface {
	// listed returns the version of an object in a list.
	listed(o *blob.ListObject) source.ObjectVersion
	// described returns the version of a described object.
	described(a *blob.Attributes) source.ObjectVersion
	// pin makes a read one of a version.
	pin(as func(any) bool, version source.ObjectVersion) error
	// answered returns the version and the bytes [from, to) of an answer. to < 0: not told.
	answered(r *blob.Reader) (version source.ObjectVersion, encoding string, from, to int64)
	// failure classifies an error that has a meaning of its own; nil: it has none.
	failure(err error) *remote.Failure
	// unreadable reports whether the key of an object would be changed on its way to the store.
	unreadable(r rune) bool
	// hint is what an operator can do if access is denied.
	hint() string
}

// bucket is a folder of a bucket as a remote.Store.
type bucket struct {
	provider
	blob      *blob.Bucket
	prefix    string // "" or "a/b/"
	transport *http.Transport
}

// folderOf returns the prefix of the keys below the path of a URL.
func folderOf(path string) string {
	if path = strings.Trim(path, "/"); path == "" {
		return ""
	}
	return path + "/"
}

const pageKeys = 1000

// bucketPlace is the remote.Place of a page.
type bucketPlace struct {
	token []byte
	seen  map[string]bool // tokens, against a list that leads back to itself
}

// List implements remote.Store.
func (b *bucket) List(ctx context.Context, prefix string, at remote.Place) ([]remote.Object, remote.Place, error) {
	place, ok := at.(bucketPlace)
	if !ok {
		place = bucketPlace{blob.FirstPageToken, map[string]bool{}}
	}
	page, next, err := b.blob.ListPage(ctx, place.token, pageKeys, &blob.ListOptions{Prefix: b.prefix + prefix})
	if err != nil {
		return nil, nil, b.failed(err)
	}
	if place.seen[string(next)] {
		err := errors.New("the list leads back to a page that it had")
		return nil, nil, &remote.Failure{Kind: remote.Transient, Err: err}
	}
	objects := make([]remote.Object, 0, len(page))
	for _, o := range page {
		key, ok := strings.CutPrefix(o.Key, b.prefix)
		if !ok || o.IsDir || strings.IndexFunc(key, b.unreadable) >= 0 {
			continue
		}
		objects = append(objects, remote.Object{Key: key, Size: o.Size, Modified: o.ModTime, Version: b.listed(o)})
	}
	if len(next) == 0 {
		return objects, nil, nil
	}
	place.seen[string(next)] = true
	return objects, bucketPlace{next, place.seen}, nil
}

// Stat implements remote.Store.
func (b *bucket) Stat(ctx context.Context, key string) (remote.Object, error) {
	if strings.IndexFunc(key, b.unreadable) >= 0 {
		return remote.Object{}, &remote.Failure{Err: fmt.Errorf("the key %q has a character that can't be sent", key)}
	}
	a, err := b.blob.Attributes(ctx, b.prefix+key)
	if err != nil {
		return remote.Object{}, b.failed(err)
	}
	if f := remote.CheckEncoding(a.ContentEncoding); f != nil {
		return remote.Object{}, f
	}
	return remote.Object{Key: key, Size: a.Size, Modified: a.ModTime, Version: b.described(a)}, nil
}

// Read implements remote.Store.
func (b *bucket) Read(ctx context.Context, o remote.Object, from, to int64) (io.ReadCloser, error) {
	r, err := b.blob.NewRangeReader(ctx, b.prefix+o.Key, from, to-from, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return b.pin(as, o.Version) },
	})
	if err != nil {
		err := b.failed(err)
		if f := new(remote.Failure); errors.As(err, &f) && f.Kind == remote.Missing {
			f.Kind = remote.Changed // it was there a moment ago
		}
		return nil, err
	}
	version, encoding, first, end := b.answered(r)
	wrong := remote.CheckEncoding(encoding)
	switch {
	case wrong != nil:
	case version != o.Version:
		wrong = &remote.Failure{Kind: remote.Changed, Err: fmt.Errorf("was %s, is %s", o.Version, version)}
	case first != from || end >= 0 && end != to:
		wrong = &remote.Failure{Kind: remote.Transient, Err: fmt.Errorf("the answer has bytes %d to %d, not %d to %d",
			first, end, from, to)}
	case r.Size() != o.Size:
		wrong = &remote.Failure{Kind: remote.Changed, Err: fmt.Errorf("was %d bytes, is %d", o.Size, r.Size())}
	default:
		return body{r, b}, nil
	}
	_ = r.Close()
	return nil, wrong
}

// Close implements remote.Store.
func (b *bucket) Close() error {
	err := b.blob.Close()
	b.transport.CloseIdleConnections() // providers leave a client that they were given open
	return err
}

// body is the body of an answer. Its errors are *remote.Failure.
type body struct {
	*blob.Reader
	bucket *bucket
}

func (r body) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.bucket.failed(err)
	}
	return n, err
}

// failed classifies the error of a request.
func (b *bucket) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if f := b.failure(err); f != nil {
		return f
	}
	f := &remote.Failure{Kind: remote.Transient, Err: b.brief(err)}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		f.Kind = remote.Missing
	case gcerrors.PermissionDenied:
		f.Kind, f.Hint = remote.Denied, b.hint()
	case gcerrors.FailedPrecondition:
		f.Kind = remote.Changed
	case gcerrors.ResourceExhausted:
		f.Kind = remote.Throttled
	case gcerrors.InvalidArgument, gcerrors.Unimplemented:
		f.Kind = remote.Permanent
	}
	return f
}

// brief returns an error without the key and the stack that package blob adds.
func (b *bucket) brief(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return briefError{addedByBlob.ReplaceAllString(text, ""), err}
}

// addedByBlob is what package blob writes before the text of a store.
var addedByBlob = regexp.MustCompile(`^blob( \(key ".*?"\))?( \(code=\w+\))?: `)

type briefError struct {
	text  string
	cause error
}

func (e briefError) Error() string { return e.text }
func (e briefError) Unwrap() error { return e.cause }

// statusFailure classifies an HTTP status and its Retry-After.
func statusFailure(status int, header http.Header, err error, hint string) *remote.Failure {
	f := &remote.Failure{Err: err}
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		f.Kind = remote.Throttled
	case status >= 500 || status == http.StatusRequestTimeout:
		f.Kind = remote.Transient
	case status == http.StatusNotFound:
		f.Kind = remote.Missing
	case status == http.StatusPreconditionFailed || status == http.StatusRequestedRangeNotSatisfiable:
		f.Kind = remote.Changed
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Kind, f.Hint = remote.Denied, hint
	}
	f.RetryAfter = remote.RetryAfter(header.Get("Retry-After"))
	return f
}

// credentialsWait bounds the search for credentials: a machine outside of a cloud has no metadata
// server that would answer.
const credentialsWait = 5 * time.Second

// newTransport returns the connections of one bucket.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = remote.DefaultRequests
	t.DisableCompression = true
	t.ForceAttemptHTTP2 = false
	return t
}

// rangeOf parses the Content-Range "bytes 0-99/1000" into [0, 100). to is 0 if it cannot be parsed.
func rangeOf(text string) (from, to int64) {
	var last, total int64
	if n, err := fmt.Sscanf(text, "bytes %d-%d/%d", &from, &last, &total); n != 3 || err != nil {
		return -1, 0
	}
	return from, last + 1
}
