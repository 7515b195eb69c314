// Package host is what the process may use of the machine: memory and processors.
package host

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Memory is how many bytes this process may have: the machine's memory, or less where its
// control group allows less (memory.max of cgroup v2, memory.limit_in_bytes of v1, as a container
// sees its own).
func Memory() (int64, error) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, os.NewSyscallError("sysinfo", err)
	}
	total := int64(info.Totalram) * int64(info.Unit)
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the other version, or none
		}
		// "max" is no number: no limit.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			total = min(total, limit)
		}
	}
	return total, nil
}
