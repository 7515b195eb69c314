// Package audit writes one line for each call to a file: a JSON object. A call never waits for the
// file. Lines that the queue has no room for are counted, and the file says how many are missing.
//
// Lines have no credentials: headers are not written, and a user and password in a URL are removed
// from the text of a statement.
package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Record is a call that has ended. Times of phases are in milliseconds.
type Record struct {
	Time      time.Time   `json:"time"` // of its end, UTC
	User      string      `json:"user,omitempty"`
	Groups    []string    `json:"groups,omitempty"`
	Login     string      `json:"login,omitempty"` // method by which the user was identified
	Address   string      `json:"address,omitempty"`
	UserAgent string      `json:"user_agent,omitempty"`
	Method    string      `json:"method"`
	Action    string      `json:"action,omitempty"` // of DoAction
	Entry     string      `json:"entry,omitempty"`  // or the name of the Flight SQL message
	SQL       string      `json:"sql,omitempty"`
	Columns   []string    `json:"columns,omitempty"` // absent: all
	Where     string      `json:"where,omitempty"`
	Box       *[4]float64 `json:"box,omitempty"`
	Rows      int64       `json:"rows"`
	Bytes     int64       `json:"bytes"`
	Queue     float64     `json:"queue_ms"`                 // until the handler began
	Open      float64     `json:"open_ms,omitempty"`        // from then until the table or the result was open
	First     float64     `json:"first_batch_ms,omitempty"` // from then until the first batch was handed to gRPC
	Send      float64     `json:"send_ms,omitempty"`        // sum of the waits for the client and the network
	Total     float64     `json:"ms"`
	Code      string      `json:"code"`
	Error     string      `json:"error,omitempty"`
	Trace     string      `json:"trace_id,omitempty"`
	// replica to which the call was forwarded, and that which has forwarded it, as the call says
	ForwardedTo string `json:"forwarded_to,omitempty"`
	ForwardedBy string `json:"forwarded_by,omitempty"`
}

// Config configures a log.
type Config struct {
	File     string // "-" is the standard error output
	MaxBytes int64  // of the file, before it is rotated; default 100 MiB
	MaxFiles int    // rotated files that are kept; default 10
	Log      zerolog.Logger
}

// Defaults of Config.
const (
	DefaultMaxBytes = 100 << 20
	DefaultMaxFiles = 10
)

const (
	queueLength = 4096    // records
	maxText     = 4 << 10 // bytes of a statement, an entry's name, or the column names of a record
	// time between the first record in the queue and its line in the file; records gather meanwhile,
	// so that few of them wake the writer
	flushAfter = 200 * time.Millisecond
)

// Stats are the numbers of a log since Open.
type Stats struct{ Written, Dropped int64 }

// Log is an audit log. It is safe for concurrent use.
type Log struct {
	cfg              Config
	out              io.WriteCloser
	wake             chan struct{} // the queue is not empty any more, or is half full
	stop, done       chan struct{}
	written, dropped atomic.Int64

	mu    sync.Mutex
	queue []Record
	spare []Record // for the next queue

	// Of the writer's goroutine.
	reported int64     // dropped lines that the file tells of
	failed   time.Time // last logged failure
}

// Open opens the file and starts to write. The caller closes the log.
func Open(cfg Config) (*Log, error) {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.MaxFiles <= 0 {
		cfg.MaxFiles = DefaultMaxFiles
	}
	var out io.WriteCloser = noClose{os.Stderr}
	if cfg.File != "-" {
		f, err := openRotating(cfg.File, cfg.MaxBytes, cfg.MaxFiles)
		if err != nil {
			return nil, err
		}
		out = f
	}
	return start(cfg, out), nil
}

func start(cfg Config, out io.WriteCloser) *Log {
	l := &Log{
		cfg: cfg, out: out, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go l.write()
	return l
}

// Add queues a record. It does not block: the record is dropped if the queue is full. It does
// nothing on nil.
func (l *Log) Add(r Record) {
	if l == nil {
		return
	}
	l.mu.Lock()
	n := len(l.queue)
	if n == queueLength {
		l.mu.Unlock()
		l.dropped.Add(1)
		return
	}
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	if n == 0 || n == queueLength/2 {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// take returns the queue, which is empty after that.
func (l *Log) take() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.queue
	l.queue, l.spare = l.spare[:0], all
	return all
}

// Stats returns the current numbers.
func (l *Log) Stats() Stats { return Stats{l.written.Load(), l.dropped.Load()} }

// Close writes the queue, at most until ctx ends, and closes the file. It does nothing on nil.
func (l *Log) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	close(l.stop)
	select {
	case <-l.done:
		return l.out.Close()
	case <-ctx.Done(): // a write hangs
		return ctx.Err()
	}
}

// write writes the queued records until Close.
func (l *Log) write() {
	defer close(l.done)
	w := bufio.NewWriterSize(l.out, 64<<10)
	pending := int64(0) // lines in w
	flush := func() {
		if err := w.Flush(); err != nil {
			l.fail(err, pending)
			w.Reset(l.out)
		} else {
			l.written.Add(pending)
		}
		pending = 0
	}
	add := func(v any) {
		line, err := json.Marshal(v)
		if err != nil { // no record has such a value
			l.fail(err, 1)
			return
		}
		if len(line) >= w.Available() {
			flush()
		}
		_, _ = w.Write(append(line, '\n')) // flush reports the error
		pending++
	}
	for open := true; open; {
		select {
		case <-l.wake:
			open = l.gather()
		case <-l.stop:
			open = false
		}
		l.noteDropped(add) // what the last write lost
		all := l.take()
		for i := range all {
			all[i].Clip()
			add(&all[i])
		}
		clear(all)
		l.noteDropped(add)
		flush()
	}
}

// gather waits until the queue is half full or its first record has waited for flushAfter. It
// returns false if the log is closed.
func (l *Log) gather() bool {
	late := time.NewTimer(flushAfter)
	defer late.Stop()
	select {
	case <-l.wake: // half full
	case <-late.C:
	case <-l.stop:
		return false
	}
	return true
}

// gap is the line that tells of lost lines.
type gap struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Dropped int64     `json:"dropped"`
}

// noteDropped adds a line about the records that were dropped since the last such line.
func (l *Log) noteDropped(add func(any)) {
	if n := l.dropped.Load(); n > l.reported {
		add(gap{time.Now().UTC(), "dropped", n - l.reported})
		l.reported = n
	}
}

// fail counts lost lines, and logs the reason at most once a minute.
func (l *Log) fail(err error, lines int64) {
	l.dropped.Add(lines)
	if time.Since(l.failed) > time.Minute {
		l.failed = time.Now()
		l.cfg.Log.Error().Err(err).Str("file", l.cfg.File).Msg("lines of the audit log are lost")
	}
}

// userInfo is a user, and perhaps a password, in a URL.
var userInfo = regexp.MustCompile(`://[^/?#'"\s@]+@`)

// Clip bounds the texts of clients, and removes credentials from URLs.
func (r *Record) Clip() {
	for _, text := range []*string{&r.Action, &r.Entry, &r.SQL, &r.Where, &r.Error, &r.UserAgent, &r.User} {
		if strings.Contains(*text, "://") { // the expression takes longer than the rest of a line
			*text = userInfo.ReplaceAllString(*text, "://…@")
		}
		*text = clip(*text)
	}
	n := 0
	for i, c := range r.Columns {
		if n += len(c); n > maxText {
			r.Columns = append(r.Columns[:i:i], "…")
			break
		}
	}
}

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText] + "…"
}

type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }
