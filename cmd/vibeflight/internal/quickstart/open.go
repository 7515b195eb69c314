package quickstart

import (
	"errors"
	"net"
	"os/exec"
	"runtime"
	"syscall"
)

// Address returns an address to listen on: the preferred one, or its host with a free port if another
// program has that port.
func Address(preferred string) (string, error) {
	l, err := net.Listen("tcp", preferred)
	if errors.Is(err, syscall.EADDRINUSE) {
		var host string
		if host, _, err = net.SplitHostPort(preferred); err == nil {
			l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
		}
	}
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// OpenBrowser opens a page in the browser of this desktop, and reports whether there is one.
func OpenBrowser(url string, lookup func(string) (string, bool)) bool {
	var command []string
	switch runtime.GOOS {
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	case "darwin":
		command = []string{"open", url}
	default:
		display, _ := lookup("DISPLAY")
		wayland, _ := lookup("WAYLAND_DISPLAY")
		if display == "" && wayland == "" {
			return false
		}
		command = []string{"xdg-open", url}
	}
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // a browser may outlive this program
	return true
}
