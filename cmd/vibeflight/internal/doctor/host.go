package doctor

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/host"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
)

// examineHost reports the cores and the memory.
func examineHost() Finding {
	f := Finding{Name: "host", OK: true, Found: fmt.Sprintf("%d cores", runtime.GOMAXPROCS(0))}
	memory, err := host.Memory()
	if err != nil {
		return Finding{Name: "host", Found: err.Error()}
	}
	f.Found += fmt.Sprintf(", %s of memory, of which parsed tables may take %s (--memory)", units.Bytes(memory),
		units.Bytes(memory/4))
	return f
}

// enoughFiles is a sufficient limit of open files: one for each connection, each mapped table and
// each parse.
const enoughFiles = 4096

// examineOpenFiles reports how many files the process may open. Go has raised the limit to its
// maximum.
func examineOpenFiles() Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return Finding{Name: "files", Found: os.NewSyscallError("getrlimit", err).Error()}
	}
	f := Finding{Name: "files", OK: limit.Cur >= enoughFiles, Found: units.Count(int64(min(limit.Cur, 1<<62))) +
		" may be open at once"}
	if limit.Cur == unix.RLIM_INFINITY {
		f.Found = "any number may be open at once"
	}
	if !f.OK {
		f.Advice = "each connection and each table of the cache needs one: ulimit -Hn, LimitNOFILE= of systemd or " +
			"--ulimit nofile= of Docker raises the limit"
	}
	return f
}

// examineWatches reports how many folders can be watched, and whether that is enough for those
// below --data.
func examineWatches(folders int64) Finding {
	f := Finding{Name: "watches", Advice: "folders that can't be watched are read periodically: sysctl " +
		"fs.inotify.max_user_watches and max_user_instances limit their number"}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		f.Found = os.NewSyscallError("inotify", err).Error()
		return f
	}
	_ = unix.Close(fd) // nothing was asked of it
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return Finding{Name: "watches", OK: true, Found: "inotify, of unknown extent"}
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		f.Found = "max_user_watches: " + err.Error()
		return f
	}
	f.Found = units.Count(limit) + " folders can be watched"
	if folders > 0 {
		f.Found += "; below --data: " + units.Count(folders)
	}
	if f.OK = folders <= limit; f.OK {
		f.Advice = ""
	}
	return f
}

// examineTemporary reports whether the folder for temporary files can be written, and its free
// space.
func examineTemporary() Finding {
	free, err := roomIn(os.TempDir())
	if err != nil {
		return Finding{
			Name: "temporary", Found: output.ErrorText(err),
			Advice: "packed files (.gz, .zst, .zip, .kmz) can't be read without it: TMPDIR names a folder that can " +
				"be written",
		}
	}
	return Finding{Name: "temporary", OK: true, Found: fmt.Sprintf("%s, %s free", os.TempDir(), units.Bytes(free))}
}

// roomIn writes to a folder, and returns the free space of its disk.
func roomIn(dir string) (int64, error) {
	probe, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return 0, err
	}
	defer probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return 0, err
	}
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(probe.Fd()), &disk); err != nil {
		return 0, os.NewSyscallError("statfs", err)
	}
	return int64(disk.Bavail) * disk.Bsize, nil
}
