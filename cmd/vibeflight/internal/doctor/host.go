package doctor

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/host"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/internal/system/process"
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
	limit, err := process.OpenFiles()
	if err != nil {
		return Finding{Name: "files", Found: err.Error()}
	}
	f := Finding{Name: "files", OK: limit >= enoughFiles, Found: units.Count(limit) + " may be open at once"}
	if limit == math.MaxInt64 {
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
	probe, err := fsnotify.NewWatcher()
	if err != nil {
		f.Found = err.Error()
		return f
	}
	_ = probe.Close() // nothing was asked of it
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return Finding{Name: "watches", OK: true, Found: "folders can be watched; their maximum is not known"}
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
	probe, err := system.Nameless(dir)
	if err == nil {
		err = probe.Close()
	}
	if err != nil {
		return 0, err
	}
	return system.Free(dir)
}
