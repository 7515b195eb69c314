// Package faults is a reverse proxy that answers for an object store as stores do on bad days.
//
// A test puts a Proxy in front of any server of S3, GCS, Azure or plain HTTP, or of an http.Handler.
// A Plan says which requests get which Fault. The same plan gives the same faults to the same
// requests, in whatever order they come. The proxy keeps the Host header that clients sign. Requests to
// S3 name the bucket in their path.
//
// The package is for tests, and knows nothing of the reader that it tests.
package faults

import (
	"slices"
	"time"
)

// Kind names a fault.
type Kind string

// The kinds of faults. kinds, below, says for each which requests can have it.
const (
	SlowDown           Kind = "503"                      // 503 SlowDown
	SlowDownRetryAfter Kind = "503 with Retry-After"     // 503 and Fault.RetryAfter
	TooManyRequests    Kind = "429"                      // 429
	TooManyRetryAfter  Kind = "429 with Retry-After"     // 429 and Fault.RetryAfter
	InternalError      Kind = "500"                      // 500 InternalError
	Drop               Kind = "drop"                     // the connection is closed without an answer
	Hang               Kind = "hang"                     // no answer until the client leaves
	Reset              Kind = "reset"                    // TCP reset after at most Fault.Bytes of the body
	ShortBody          Kind = "short body"               // full Content-Length, and an end after Fault.Bytes
	Trickle            Kind = "trickle"                  // one byte of the body in each Fault.Interval
	WholeBody          Kind = "200 for 206"              // 200 with the whole object for a ranged request
	WrongContentRange  Kind = "wrong Content-Range"      // 206 with the range that begins one byte later
	GzipEncoding       Kind = "gzip Content-Encoding"    // 206 with the requested bytes, compressed
	ETagChanged        Kind = "ETag changed"             // 206 with another ETag and other bytes, from now on
	PreconditionFailed Kind = "412"                      // as ETagChanged, by a server that looks at If-Match
	WrongSize          Kind = "wrong size"               // HEAD with a Content-Length that is wrong by Fault.Delta
	RedirectTemporary  Kind = "307"                      // 307 with the Location of Proxy.RedirectTo
	RedirectRegion     Kind = "301"                      // 301 with x-amz-bucket-region and no Location
	ExpiredToken       Kind = "403 ExpiredToken"         // new credentials are needed
	TimeTooSkewed      Kind = "403 RequestTimeTooSkewed" // the client's clock is wrong
	LoopingToken       Kind = "looping token"            // a page that names itself as the next, from now on
	DuplicateKeys      Kind = "duplicate keys"           // a page that has its first key twice
)

// Fault is one fault, with what it needs to know.
type Fault struct {
	Kind       Kind
	Bytes      int64         // Reset, ShortBody: bytes of the body that are sent; negative for half of them
	RetryAfter time.Duration // with Retry-After: the delay, in whole seconds
	Interval   time.Duration // Trickle: time for a byte; 0 for a second
	Delta      int64         // WrongSize: what is added to the size; 0 for 1
}

// Outcome is what a correct reader makes of a fault.
type Outcome int

const (
	// Succeeds: the read gives the right bytes, after another request.
	Succeeds Outcome = iota
	// MayFail: the read gives the right bytes or an error.
	MayFail
	// Fails: the read of this version gives an error. A read that begins later gives the new version.
	Fails
)

// Recoverable reports whether a correct reader must succeed. No fault excuses wrong bytes.
func (k Kind) Recoverable() bool { return k.Outcome() == Succeeds }

// Outcome returns what a correct reader makes of the fault.
func (k Kind) Outcome() Outcome { return kinds[k].outcome }

// Kinds returns all kinds that a request of the class can have, sorted.
func Kinds(class Class) []Kind {
	var list []Kind
	for k, rule := range kinds {
		if slices.Contains(rule.classes, class) {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

// Class is the kind of a request, by what it is for.
type Class string

// The classes of requests. Faults are for the first three.
const (
	Read  Class = "read"  // GET of an object
	Head  Class = "head"  // HEAD of an object, or its attributes in JSON
	List  Class = "list"  // one page of a listing
	Other Class = "other" // writes, and requests for buckets
)

// rule says which requests can have a fault.
type rule struct {
	outcome Outcome
	classes []Class
	ranged  bool      // only requests with a Range header
	only    []dialect // nil for all
}

var (
	any3     = []Class{Read, Head, List}
	reads    = []Class{Read}
	listings = []Class{List}

	kinds = map[Kind]rule{
		SlowDown:           {Succeeds, any3, false, nil},
		SlowDownRetryAfter: {Succeeds, any3, false, nil},
		TooManyRequests:    {Succeeds, any3, false, nil},
		TooManyRetryAfter:  {Succeeds, any3, false, nil},
		InternalError:      {Succeeds, any3, false, nil},
		Drop:               {Succeeds, any3, false, nil},
		Hang:               {Succeeds, any3, false, nil},
		Reset:              {Succeeds, []Class{Read, List}, false, nil},
		ShortBody:          {Succeeds, []Class{Read, List}, false, nil},
		Trickle:            {Succeeds, reads, false, nil},
		WholeBody:          {Succeeds, reads, true, nil},
		WrongContentRange:  {Succeeds, reads, true, nil},
		GzipEncoding:       {Succeeds, reads, true, nil},
		ETagChanged:        {Fails, reads, true, nil},
		PreconditionFailed: {Fails, reads, true, nil},
		WrongSize:          {MayFail, []Class{Head}, false, nil},
		RedirectTemporary:  {Succeeds, any3, false, []dialect{s3, plain}},
		RedirectRegion:     {MayFail, any3, false, []dialect{s3}},
		ExpiredToken:       {Succeeds, any3, false, []dialect{s3, gcs, azure}},
		TimeTooSkewed:      {Succeeds, any3, false, []dialect{s3}},
		LoopingToken:       {Fails, listings, false, []dialect{s3, gcs, azure}},
		DuplicateKeys:      {Succeeds, listings, false, []dialect{s3, gcs, azure}},
	}
)

// applies reports whether a request can have the fault.
func (k Kind) applies(r Request) bool {
	rule, ok := kinds[k]
	return ok && slices.Contains(rule.classes, r.Class) && (!rule.ranged || r.Range != "") &&
		(rule.only == nil || slices.Contains(rule.only, r.dialect))
}
