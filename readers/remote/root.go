package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Options configures a Root. The zero value has the defaults.
type Options struct {
	Unpack   source.UnpackOptions // where fetched bytes are kept, and how many
	Requests int                  // in flight at a time; 0: DefaultRequests
	Block    int64                // bytes of one request; 0: DefaultBlock
	Deadline time.Duration        // of a request, with its repetitions, without progress; 0: DefaultDeadline
	Stall    time.Duration        // a request without a page for this time is given up; 0: a sixth of Deadline
	Hedge    time.Duration        // a block that is later than others by this is requested twice; 0: DefaultHedge
}

// Defaults of Options.
const (
	DefaultRequests = 16
	DefaultBlock    = 8 << 20
	DefaultDeadline = 30 * time.Second
	DefaultHedge    = 2 * time.Second
)

func (o Options) withDefaults() Options {
	o.Requests = cmp.Or(o.Requests, DefaultRequests)
	o.Block = max(pageBytes, cmp.Or(o.Block, DefaultBlock)/pageBytes*pageBytes)
	o.Deadline = cmp.Or(o.Deadline, DefaultDeadline)
	o.Stall = cmp.Or(o.Stall, o.Deadline/6)
	o.Hedge = cmp.Or(o.Hedge, DefaultHedge)
	return o
}

// Root is a folder of a store, or one object of it. It is safe for concurrent use.
type Root struct {
	store   Store
	address string // without credentials and options, for messages and as a key
	options Options
	limit   *limiter
	pace    pace
	stats   counters
	single  string // key of the only object; "": a folder
}

// NewRoot returns the folder that a store was opened for. address is its URL for messages.
func NewRoot(store Store, address string, o Options) *Root {
	o = o.withDefaults()
	return &Root{store: store, address: address, options: o, limit: newLimiter(o.Requests)}
}

// Close closes the store.
func (r *Root) Close() error { return r.store.Close() }

// Location returns the URL of an object, without credentials.
func (r *Root) Location(key string) string {
	if key == "" {
		return r.address
	}
	return strings.TrimSuffix(r.address, "/") + "/" + key
}

// counters are the numbers of a Root.
type counters struct{ requests, retries, hedges, bytes, changed atomic.Int64 }

// Stats are the numbers of a Root since NewRoot.
type Stats struct {
	Requests int64 `json:"requests"` // ranged reads, with their repetitions
	Retries  int64 `json:"retries"`  // requests that repeat a failed one
	Hedges   int64 `json:"hedges"`   // requests for what a slow request was to bring
	Bytes    int64 `json:"bytes"`    // received
	Changed  int64 `json:"changed"`  // files that changed while they were read
}

// Stats returns the current numbers.
func (r *Root) Stats() Stats {
	return Stats{
		Requests: r.stats.requests.Load(), Retries: r.stats.retries.Load(), Hedges: r.stats.hedges.Load(),
		Bytes: r.stats.bytes.Load(), Changed: r.stats.changed.Load(),
	}
}

// Stat describes the present version of an object.
func (r *Root) Stat(ctx context.Context, key string) (Object, error) {
	var o Object
	err := r.attempt(ctx, key, func(ctx context.Context, _ func()) (err error) {
		o, err = r.store.Stat(ctx, key)
		return err
	})
	if err == nil && !validKey(key) {
		err = fmt.Errorf("%s: the key is not a path that can be read", r.Location(key))
	}
	return o, err
}

// List calls yield for each object whose key begins with a prefix. Keys that are no paths, such as
// "a//b" and "../x", are left out, and so are empty objects that stand for folders. An error of yield
// ends the list, and is returned.
func (r *Root) List(ctx context.Context, prefix string, yield func(Object) error) error {
	if r.single != "" {
		return r.describe(ctx, []string{r.single}, yield)
	}
	var names []string // of objects without a size, which the list of a web server has
	for at := Place(nil); ; {
		var page []Object
		var next Place
		err := r.attempt(ctx, prefix, func(ctx context.Context, _ func()) (err error) {
			page, next, err = r.store.List(ctx, prefix, at)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range page {
			switch {
			case strings.HasSuffix(o.Key, "/") || !validKey(o.Key):
			case o.Size < 0:
				names = append(names, o.Key)
			default:
				if err := yield(o); err != nil {
					return err
				}
			}
		}
		if at = next; at == nil {
			return r.describe(ctx, names, yield)
		}
	}
}

func isEncoded(err error) bool {
	kind, _ := kindOf(err)
	return kind == Encoded
}

// describe calls yield for each object of a list of keys, as Stat describes it.
func (r *Root) describe(ctx context.Context, keys []string, yield func(Object) error) error {
	objects := make([]*Object, len(keys))
	running, ctx := errgroup.WithContext(ctx)
	running.SetLimit(r.options.Requests)
	for i, key := range keys {
		running.Go(func() error {
			o, err := r.Stat(ctx, key)
			switch {
			case err == nil:
				objects[i] = &o
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), isEncoded(err):
				// it has no entry
			default:
				return err
			}
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		return err
	}
	for _, o := range objects {
		if o == nil {
			continue
		}
		if err := yield(*o); err != nil {
			return err
		}
	}
	return nil
}

// attempt makes a request, and repeats it while it fails in a way that may pass. A request that
// neither ends nor calls progress for Options.Stall is given up.
func (r *Root) attempt(ctx context.Context, key string, request func(ctx context.Context, progress func()) error,
) error {
	return r.attemptFor(ctx, key, r.options.Stall, request)
}

// attemptFor is attempt with another time without progress.
func (r *Root) attemptFor(ctx context.Context, key string, stall time.Duration,
	request func(ctx context.Context, progress func()) error,
) error {
	again := newRetry(r.options.Deadline)
	for {
		err := r.limit.acquire(ctx)
		if err != nil {
			return err
		}
		err = r.watchedFor(ctx, stall, request)
		kind, _ := kindOf(err)
		r.limit.release(err != nil && kind == Throttled)
		if err == nil {
			return nil
		}
		if err = again.again(ctx, err); err != nil {
			return r.failed(key, err)
		}
		r.stats.retries.Add(1)
	}
}

// watched makes a request, and gives it up when it stalls.
func (r *Root) watched(ctx context.Context, request func(ctx context.Context, progress func()) error) error {
	return r.watchedFor(ctx, r.options.Stall, request)
}

func (r *Root) watchedFor(ctx context.Context, stall time.Duration,
	request func(ctx context.Context, progress func()) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer late.Stop()
	err := request(ctx, func() { late.Reset(stall) })
	if err != nil {
		return causeOf(ctx, err)
	}
	return nil
}

// failed adds the location of an object to an error.
func (r *Root) failed(key string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", r.Location(key), err)
}

// validKey reports whether a key is a clean path below the folder, so that a catalog's name and a
// key are the same. Control characters would not reach the store unchanged.
func validKey(key string) bool {
	if key == "" || key[0] == '/' || path.Clean(key) != key || key == ".." || strings.HasPrefix(key, "../") {
		return false
	}
	return strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}
