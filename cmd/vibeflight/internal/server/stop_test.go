package server

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestExitAfter ends a process that does not end by itself, and no other one.
func TestExitAfter(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	exits := make(chan int, 1)
	exit := func(code int) { exits <- code }
	done := exitAfter(ctx, time.Millisecond, exit, zerolog.Nop())
	select {
	case <-exits:
		t.Error("the process ends before it is told to")
	case <-time.After(20 * time.Millisecond):
	}
	stop()
	if code := <-exits; code != 1 {
		t.Errorf("status %d", code)
	}
	done()

	ctx, stop = context.WithCancel(t.Context())
	done = exitAfter(ctx, 50*time.Millisecond, exit, zerolog.Nop())
	stop()
	done()
	select {
	case <-exits:
		t.Error("a process that has ended in order is ended")
	case <-time.After(200 * time.Millisecond):
	}
}

// fakeSystemd is the socket of NOTIFY_SOCKET.
func fakeSystemd(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

func received(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 1000)
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	n, err := conn.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestNotify(t *testing.T) {
	notify("READY=1") // without systemd, nothing happens
	conn := fakeSystemd(t)
	notify("READY=1")
	if s := received(t, conn); s != "READY=1" {
		t.Errorf("%q", s)
	}
	notifyReloading()
	if s := received(t, conn); !strings.HasPrefix(s, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("%q", s)
	}
	c := &Config{Drain: 5 * time.Minute, DrainDelay: 5 * time.Second}
	notifyStopping(c.stopTime())
	if s := received(t, conn); s != "STOPPING=1\nEXTEND_TIMEOUT_USEC=316000000" {
		t.Errorf("%q", s)
	}
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "1") // of another process
	keepWatchdog(t.Context())
	t.Setenv("WATCHDOG_PID", "")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		keepWatchdog(ctx)
		close(ended)
	}()
	for range 3 {
		if s := received(t, conn); s != "WATCHDOG=1" {
			t.Errorf("%q", s)
		}
	}
	stop()
	<-ended
}

// TestHangups sends SIGHUP to a process with and without a terminal.
func TestHangups(t *testing.T) {
	conn := fakeSystemd(t)
	for _, terminal := range []bool{false, true} {
		if terminal && hasTerminal() {
			t.Skip("the tests run on a terminal, which can't be closed")
		}
		ctx, stop := context.WithCancel(t.Context())
		var r reloads
		ran := make(chan string, 3)
		r.add("first", func(context.Context) error {
			ran <- "first"
			return os.ErrInvalid
		})
		r.add("second", func(context.Context) error {
			ran <- "second"
			return nil
		})
		hangup := make(chan os.Signal, 1)
		ended := make(chan struct{})
		go func() {
			r.serveHangups(ctx, hangup, terminal, stop, zerolog.Nop())
			close(ended)
		}()
		hangup <- syscall.SIGHUP
		if terminal { // it is closed
			<-ctx.Done()
		} else {
			if got := []string{<-ran, <-ran}; !slices.Equal(got, []string{"first", "second"}) {
				t.Errorf("%v ran", got)
			}
			if s := received(t, conn); !strings.HasPrefix(s, "RELOADING=1\n") {
				t.Errorf("%q", s)
			}
			if s := received(t, conn); s != "READY=1" {
				t.Errorf("%q", s)
			}
		}
		stop()
		<-ended
		if len(ran) > 0 {
			t.Errorf("%s ran", <-ran)
		}
	}
}

// TestUnit has systemd check the unit in deploy/systemd.
func TestUnit(t *testing.T) {
	unit, err := os.ReadFile("../../../../deploy/systemd/vibeflight.service")
	if err != nil {
		t.Fatal(err)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	text := strings.ReplaceAll(string(unit), "/usr/local/bin/vibeflight", "/bin/true") // it is not installed here
	path := filepath.Join(t.TempDir(), "vibeflight.service")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "verify", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), "vibeflight.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
