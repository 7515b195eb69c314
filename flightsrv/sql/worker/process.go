//go:build linux

package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

const (
	grace        = 500 * time.Millisecond // from the end of a context to the end of a worker that ignores it
	startTimeout = 30 * time.Second
	stackBytes   = 64 << 20  // of each thread of a worker; pages are allocated on use
	extraBytes   = 512 << 20 // of data, for the Go runtime and DuckDB itself, in addition to queries and stacks
	keptFiles    = 1024      // that an unused worker keeps mapped
	stderrBytes  = 4 << 10
)

// process is a worker as the server sees it.
type process struct {
	pool   *Pool
	cmd    *exec.Cmd
	peer   *peer
	spill  string
	base   int64        // anonymous memory after the start
	stderr prefixWriter // the beginning of its stderr

	ended chan struct{} // closed when the process has ended and its files are removed

	mu          sync.Mutex
	busy        bool
	killReason  error // the reason for which the server ended it
	calls       map[uint64]*call
	relations   map[uint64]duck.Relation
	scans       map[uint64]*scan
	last        uint64
	files       map[File]int64 // that the worker has mapped
	lastFile    int64
	resting     time.Time
	open        int       // results with open rows
	requests    int       // requests in progress
	lastRequest time.Time // time of the last start or end of a request
}

// call is a request in progress, or the rows of one.
type call struct {
	ctx context.Context
	err error // the first error of the server itself in this call
}

// scan is a scan of a relation for a worker.
type scan struct {
	duck.Batches
	using sync.RWMutex
	done  bool

	sending sync.Mutex
	sent    int // number of batches that were sent
}

// prefixWriter keeps the beginning of what is written to it.
type prefixWriter struct {
	mu   sync.Mutex
	text []byte
}

func (t *prefixWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), stderrBytes-len(t.text))]...)
	return len(b), nil
}

func (t *prefixWriter) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.text, []byte("?")))
}

// start starts a worker. It is in use.
func (p *Pool) start(ctx context.Context) (*process, error) {
	w := &process{
		pool: p, busy: true, ended: make(chan struct{}), calls: map[uint64]*call{},
		relations: map[uint64]duck.Relation{},
		scans:     map[uint64]*scan{}, files: map[File]int64{},
	}
	if p.cfg.SpillDir != "" {
		var err error
		if w.spill, err = os.MkdirTemp(p.cfg.SpillDir, "worker-"); err != nil {
			return nil, err
		}
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("socketpair", err), w.removeSpill())
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "server"), os.NewFile(uintptr(pair[1]), "worker")
	err = w.spawn(theirs)
	err = errors.Join(err, theirs.Close())
	if err == nil {
		w.peer, err = newPeer(ours, w.handle)
	}
	err = errors.Join(err, ours.Close())
	if err != nil {
		if w.cmd != nil && w.cmd.Process != nil {
			_ = w.cmd.Process.Kill()
			_ = w.cmd.Wait()
		}
		return nil, errors.Join(err, w.removeSpill())
	}
	w.peer.ordered = w.handleNotice
	go func() {
		w.peer.run()
		w.finish()
	}()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var reply startReply
	err = w.ask(ctx, opStart, startRequest{
		MemoryBytes: p.cfg.QueryBytes, Threads: p.cfg.Threads, SpillDir: w.spill, SpillBytes: p.cfg.SpillBytes,
		Spatial: p.cfg.Spatial, Macros: p.cfg.Macros,
	}, &reply)
	if err == nil {
		err = w.limit()
	}
	if err != nil {
		w.kill(err)
		return nil, fmt.Errorf("a worker for SQL: %w", err)
	}
	w.base = anonymousBytes(w.cmd.Process.Pid)
	p.setInfo(reply)
	return w, nil
}

// spawn starts the process from a thread that may open only a worker's files, and that ends
// afterwards.
func (w *process) spawn(socket *os.File) error {
	p := w.pool
	cmd := exec.Command(p.cfg.Command[0], p.cfg.Command[1:]...)
	cmd.Env = append([]string{"GOTRACEBACK=none"}, p.cfg.Env...)
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{socket}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, &w.stderr
	cmd.WaitDelay = time.Second
	files := append([]string{p.cfg.Command[0]}, readable...)
	if p.cfg.Spatial != "" {
		files = append(files, p.cfg.Spatial)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // without an unlock: the thread ends with this goroutine
		ok, err := restrictThread(files, w.spill)
		if err == nil {
			p.landlock.Store(ok)
			err = cmd.Start()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return err
	}
	w.cmd = cmd
	return nil
}

// limit limits the memory of a worker after its start: DuckDB briefly starts 80 threads to check
// the signature of the spatial extension.
func (w *process) limit() error {
	cfg := &w.pool.cfg
	data := uint64(cfg.QueryBytes) + extraBytes + uint64(cfg.Threads+32)*stackBytes
	for which, n := range map[int]uint64{unix.RLIMIT_DATA: data, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 4096} {
		if err := unix.Prlimit(w.cmd.Process.Pid, which, &unix.Rlimit{Cur: n, Max: n}, nil); err != nil {
			return os.NewSyscallError("prlimit", err)
		}
	}
	return nil
}

// finish waits for the end of a process, and releases its resources.
func (w *process) finish() {
	_ = w.peer.conn.Close()
	_ = w.cmd.Process.Kill() // it has closed its socket, or has ended
	_ = w.cmd.Wait()         // its stderr has the reason
	w.mu.Lock()
	relations, scans := w.relations, w.scans
	w.relations, w.scans = nil, nil
	unasked := w.killReason == nil
	if unasked {
		w.killReason = w.exitError()
	}
	why := w.killReason
	w.mu.Unlock()
	for _, s := range scans {
		s.close()
	}
	for _, r := range relations {
		r.Release()
	}
	_ = w.removeSpill() // the rest is removed with the folder of the pool
	w.pool.remove(w)
	if unasked {
		w.pool.cfg.Log.Warn().Err(why).Int("pid", w.cmd.Process.Pid).Str("stderr",
			w.stderr.String()).Msg("a worker for SQL has crashed")
	}
	close(w.ended)
}

// exitError is the error of a worker that ended by itself.
func (w *process) exitError() error {
	state := w.cmd.ProcessState
	how := "it ended"
	if s := state.String(); s != "" {
		how = s
	}
	stderr := w.stderr.String()
	short := func(words string) bool { return strings.Contains(stderr, words) }
	if slices.ContainsFunc([]string{"out of memory", "bad_alloc", "annot allocate memory", "pthread_create failed"},
		short) {
		return &duck.Error{
			Kind: duck.Memory, Message: "the statement needs more memory than --sql-memory allows",
			Position: -1,
		}
	}
	return &duck.Error{Kind: duck.Internal, Message: "DuckDB crashed while it ran this statement (" +
		how + "); other statements go on", Position: -1}
}

// kill ends the process.
func (w *process) kill(why error) {
	w.mu.Lock()
	if w.killReason == nil {
		w.killReason = why
	}
	w.mu.Unlock()
	_ = w.cmd.Process.Kill() // it may have ended
}

func (w *process) removeSpill() error {
	if w.spill == "" {
		return nil
	}
	return os.RemoveAll(w.spill)
}

func (w *process) reason() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killReason != nil {
		return w.killReason
	}
	return errEnded
}

// begin registers a request.
func (w *process) begin(ctx context.Context) (uint64, *call) {
	id, c := w.peer.number(), &call{ctx: ctx}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[id] = c
	return id, c
}

func (w *process) end(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, id)
}

// ask sends a request without a body and decodes the head of its reply.
func (w *process) ask(ctx context.Context, op operation, head, reply any) error {
	id, c := w.begin(ctx)
	defer w.end(id)
	m, err := w.request(c, id, op, head, nil)
	if err != nil {
		return err
	}
	defer m.close()
	if reply == nil {
		return nil
	}
	return m.read(reply)
}

// request sends a request and waits for its reply, which the caller closes. If ctx ends first, it
// cancels the request, and kills a worker that does not reply within the grace period.
func (w *process) request(c *call, id uint64, op operation, head any, b *body) (*message, error) {
	w.addRequests(1)
	defer w.addRequests(-1)
	wait := w.peer.wait(id)
	if err := w.peer.send(op, id, head, b); err != nil {
		w.kill(err) // without effect if it has ended
		<-w.ended
		return nil, w.errorOf(c, w.reason())
	}
	m := w.reply(c, id, wait)
	if m == nil {
		<-w.ended
		return nil, w.errorOf(c, w.reason())
	}
	var f failure
	if err := m.read(&f); err == nil && f.Detail != nil {
		m.close()
		if f.Detail.Broken {
			w.kill(f.error())
		}
		return nil, w.errorOf(c, f.error())
	}
	return m, nil
}

// addResults counts the results with open rows.
func (w *process) addResults(results int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += results
}

// addRequests counts the requests in progress.
func (w *process) addRequests(requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests += requests
	w.lastRequest = time.Now()
}

func (w *process) reply(c *call, id uint64, wait <-chan *message) *message {
	select {
	case m := <-wait:
		return m
	case <-c.ctx.Done():
	}
	_ = w.peer.send(opCancel, 0, handle{id}, nil) // a process that has ended closes wait
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case m := <-wait:
		return m
	case <-timer.C:
		w.kill(context.Cause(c.ctx))
		return <-wait
	}
}

// errorOf returns the server's own error, or that of the context, in preference to the worker's.
func (w *process) errorOf(c *call, err error) error {
	w.mu.Lock()
	own := c.err
	w.mu.Unlock()
	if errors.Is(err, errAsked) && own != nil {
		return own
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// anonymousBytes returns the anonymous memory of a process in bytes; 0 if it has ended.
func anonymousBytes(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(fields[1], 10, 64)
	shared, _ := strconv.ParseInt(fields[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
