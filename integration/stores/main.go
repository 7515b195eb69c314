// Command stores runs one object store on loopback for tests: S3, GCS, Azure or plain HTTP over a folder.
//
//	stores s3    --root DIR [--bucket b] [--public] [--versioning] [--region r] [--latency 10ms] [--log FILE]
//	stores s3    --root DIR --port N
//	stores s3    --backend memory --keys 1000000 [--bucket b]
//	stores gcs   --root DIR [--bucket b] [--latency 10ms]
//	stores http  --root DIR [--no-ranges] [--no-etag] [--no-last-modified] [--gzip] [--latency 10ms]
//	stores azure --root DIR [--bucket b] [--public]
//	stores moto  --root DIR [--bucket b]
//
// A store that is ready prints one line of JSON, an Announcement, on standard output. It exits when
// its standard input reaches end of file. The test holds the other end of that pipe, so the store
// also exits if the test crashes.
//
// The files in DIR are the objects. Replace a file by a rename: a store never shows half of a write.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Announcement is the line that a store prints when it is ready, or when it cannot run.
type Announcement struct {
	Kind     string `json:"kind"`
	URL      string `json:"url,omitempty"`      // names the bucket, as a user of vibeflight writes it
	Endpoint string `json:"endpoint,omitempty"` // scheme, host and port
	Bucket   string `json:"bucket,omitempty"`   // or container, in Azure
	Region   string `json:"region,omitempty"`

	AccessKey string `json:"access_key,omitempty"` // or storage account, in Azure
	SecretKey string `json:"secret_key,omitempty"`

	Env map[string]string `json:"env,omitempty"` // what the provider's own clients need in the environment
	PID int               `json:"pid"`

	Skip string `json:"skip,omitempty"` // why the store cannot run on this machine, and what to install
}

// options are the flags of all kinds of store.
type options struct {
	root    string
	bucket  string
	region  string
	latency time.Duration
	log     string
	port    int // 0 is a free one

	public     bool
	versioning bool
	backend    string
	keys       int

	noRanges       bool
	noETag         bool
	noLastModified bool
	gzip           bool

	azurite string
	moto    string
	scratch string // a folder that is removed at the end
}

// store is a server that runs until stop is called.
type store struct {
	Announcement
	stop   func()
	failed <-chan error // receives the error of a server that ends by itself
}

// installError is the error of a store whose server is not installed.
type installError struct{ what string }

func (e installError) Error() string { return e.what }

func main() {
	// Children get a signal when the thread that started them ends, so main keeps its thread.
	runtime.LockOSThread()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stores:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	starts := map[string]func(context.Context, options) (*store, error){
		"s3": startS3, "gcs": startGCS, "http": startHTTP, "azure": startAzure, "moto": startMoto,
	}
	if len(args) == 0 || starts[args[0]] == nil {
		return errors.New("usage: stores s3|gcs|http|azure|moto --root DIR [flags]")
	}
	kind := args[0]
	o, err := parse(kind, args[1:])
	if err != nil {
		return err
	}
	if o.scratch, err = os.MkdirTemp("", "stores-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(o.scratch) }()

	// Libraries write to os.Stdout, which is the announcement's alone.
	stdout := os.Stdout
	os.Stdout = os.Stderr

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	s, err := starts[kind](ctx, o)
	if missing := (installError{}); errors.As(err, &missing) {
		return json.NewEncoder(stdout).Encode(Announcement{Kind: kind, Skip: missing.what, PID: os.Getpid()})
	}
	if err != nil {
		return err
	}
	defer s.stop()
	s.Kind, s.PID = kind, os.Getpid()
	if err := json.NewEncoder(stdout).Encode(s.Announcement); err != nil {
		return err
	}

	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	case err := <-s.failed:
		return fmt.Errorf("%s: the server ended: %w", kind, err)
	}
	return nil
}

// parse reads the flags of one kind of store.
func parse(kind string, args []string) (options, error) {
	var o options
	tools := os.Getenv("VIBEFLIGHT_STORES_TOOLS")
	if tools == "" {
		if self, err := os.Executable(); err == nil {
			tools = filepath.Join(filepath.Dir(filepath.Dir(self)), ".tools")
		}
	}
	f := flag.NewFlagSet("stores "+kind, flag.ContinueOnError)
	f.StringVar(&o.root, "root", "", "folder whose files are the objects")
	f.DurationVar(&o.latency, "latency", 0, "wait this long before each answer")
	if kind != "http" {
		f.StringVar(&o.bucket, "bucket", "data", "bucket, or container in Azure")
	}
	switch kind {
	case "s3":
		f.StringVar(&o.log, "log", "", "append a line for each request to this file: method, path, status, "+
			"range, bytes sent")
		f.IntVar(&o.port, "port", 0, "port on loopback, for a store that is started again; 0 is a free one")
		f.StringVar(&o.region, "region", "us-east-1", "region that signatures must name")
		f.BoolVar(&o.public, "public", false, "allow anonymous reads")
		f.BoolVar(&o.versioning, "versioning", false, "keep earlier versions of objects")
		f.StringVar(&o.backend, "backend", "folder", "folder, or memory for --keys generated objects")
		f.IntVar(&o.keys, "keys", 1000, "number of generated objects with --backend memory")
	case "http":
		f.BoolVar(&o.noRanges, "no-ranges", false, "answer every request with the whole file")
		f.BoolVar(&o.noETag, "no-etag", false, "send no ETag")
		f.BoolVar(&o.noLastModified, "no-last-modified", false, "send no Last-Modified")
		f.BoolVar(&o.gzip, "gzip", false, "compress whole files for clients that accept gzip")
	case "azure":
		f.BoolVar(&o.public, "public", false, "allow anonymous reads")
		f.StringVar(&o.azurite, "azurite", filepath.Join(tools, "azurite-"+azuriteVersion), "folder of npm's azurite")
	case "moto":
		f.StringVar(&o.moto, "moto", filepath.Join(tools, "moto-"+motoVersion), "Python environment with moto")
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.backend == "memory" {
		return o, nil
	}
	if info, err := os.Stat(o.root); err != nil || !info.IsDir() {
		return o, fmt.Errorf("--root %q is not a folder", o.root)
	}
	var err error
	o.root, err = filepath.Abs(o.root)
	return o, err
}
