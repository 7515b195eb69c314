// Package host reports the memory and the CPUs that the process may use.
package host

import (
	"os"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/internal/system/process"
)

// Memory returns how many bytes this process may use: the machine's memory, or the limit of its
// control group (memory.max of cgroup v2, memory.limit_in_bytes of v1, as a container sees them).
func Memory() (int64, error) {
	total, err := process.Memory()
	if err != nil {
		return 0, err
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the other version, or no limit
		}
		// "max" is not a number, and means no limit.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			total = min(total, limit)
		}
	}
	return total, nil
}
