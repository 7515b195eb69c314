package prompt

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/peterh/liner"
)

// history is a file with the statements that were typed, one a line. What can't be read or written is
// left out: a prompt works without.
type history struct{ path string }

// openHistory returns the history of this user.
func openHistory(lookup func(string) (string, bool)) history {
	folder, ok := lookup("XDG_STATE_HOME")
	if runtime.GOOS == "windows" {
		folder, ok = lookup("LOCALAPPDATA")
	}
	if !ok || !filepath.IsAbs(folder) { // the XDG specification ignores relative paths
		home, err := os.UserHomeDir()
		if err != nil {
			return history{}
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return history{filepath.Join(folder, "vibeflight", "history")}
}

// load returns the last statements, the oldest one first. It shortens a file that has become long.
func (h history) load() []string {
	text, err := os.ReadFile(h.path)
	if h.path == "" || err != nil {
		return nil
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	last := all[max(0, len(all)-liner.HistoryLimit):]
	if len(all) > 2*liner.HistoryLimit {
		_ = os.WriteFile(h.path, []byte(strings.Join(last, "\n")+"\n"), 0o600)
	}
	return last
}

// add appends a statement. The file is for its user alone: a statement may hold secrets.
func (h history) add(line string) {
	if h.path == "" || line == "" || os.MkdirAll(filepath.Dir(h.path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Chmod(0o600) // another program may have made it
	_, _ = f.WriteString(line + "\n")
	_ = f.Close()
}
