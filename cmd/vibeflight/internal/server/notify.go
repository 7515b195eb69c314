package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/vibeflight/vibeflight/internal/system/process"
)

// notify tells systemd the state of the service, in the form of sd_notify(3). It does nothing unless
// systemd has started the process with Type=notify.
func notify(state string) {
	path := os.Getenv("NOTIFY_SOCKET") // of systemd, not a setting
	if path == "" {
		return
	}
	// "@" begins an abstract name, for Go too.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return // systemd reports the service as late
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}

// notifyReloading begins a reload; READY=1 ends it. systemd wants the time, to tell reloads apart.
func notifyReloading() {
	if now, ok := process.Monotonic(); ok {
		notify(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Microseconds()))
	}
}

// notifyStopping begins the end, which takes up to limit. So TimeoutStopSec need not be set for
// long drains.
func notifyStopping(limit time.Duration) {
	notify(fmt.Sprintf("STOPPING=1\nEXTEND_TIMEOUT_USEC=%d", (limit + time.Second).Microseconds()))
}

// keepWatchdog tells systemd that the process runs, until ctx ends, if the unit has WatchdogSec.
func keepWatchdog(ctx context.Context) {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || usec < 2 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	tick := time.NewTicker(time.Duration(usec) * time.Microsecond / 2)
	defer tick.Stop()
	for {
		notify("WATCHDOG=1")
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
