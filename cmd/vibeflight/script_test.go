package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vibeflight": main})
}

// TestScripts runs testdata/*.txtar. Next to testscript's own commands they have:
//
//	answers ADDRESS          waits until a server listens on a unix socket or on host:port
//	certificate CERT KEY     writes a certificate for 127.0.0.1, signed by itself, and its key
//	arrow file|stream NAME   reads a file of Arrow IPC and prints its schema and rows on stdout
func TestScripts(t *testing.T) {
	// What nohup, or a shell in the background, has the tests ignore, the commands of scripts would
	// ignore too; a signal with a handler they don't ignore.
	for _, ignored := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(ignored) {
			signal.Notify(make(chan os.Signal, 1), ignored)
		}
	}
	p := scripts
	p.Dir = "testdata"
	testscript.Run(t, p)
}

// scripts is what scripts have.
var scripts = testscript.Params{
	RequireExplicitExec: true,
	Setup: func(env *testscript.Env) error { // no script leaves tables in a user's cache
		env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		env.Setenv("FREE", free.Addr().String()) // an address without a server
		return free.Close()
	},
	Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"answers":     answers,
		"certificate": certificate,
		"arrow":       printArrow,
	},
}

func answers(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: answers ADDRESS")
	}
	network, address := "tcp", args[0]
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		network, address = "unix", path
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial(network, address)
		if err == nil {
			ts.Check(conn.Close())
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("nobody listens on %s: %v", args[0], err)
		}
	}
}

// certificate writes that of httptest.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: certificate CERT KEY")
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: pair.Certificate[0],
	}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
}

func printArrow(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: arrow file|stream NAME")
	}
	f, err := os.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	defer f.Close()
	w := ts.Stdout()
	if args[0] == "stream" {
		r, err := ipc.NewReader(f)
		ts.Check(err)
		defer r.Release()
		printTo(ts, w, r.Schema())
		for r.Next() {
			printTo(ts, w, r.Record())
		}
		ts.Check(r.Err())
		return
	}
	r, err := ipc.NewFileReader(f)
	ts.Check(err)
	defer r.Close()
	printTo(ts, w, r.Schema())
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		ts.Check(err)
		printTo(ts, w, rec)
	}
}

func printTo(ts *testscript.TestScript, w io.Writer, v any) {
	_, err := fmt.Fprintln(w, v)
	ts.Check(err)
}
