// Package system has the calls of the operating system that Go's library lacks, for files: mappings,
// locks, identities, free room, classes of errors. It knows nothing of their use.
//
// Each call has one file with its contract and one for each system that does it differently. Linux
// has every call. Elsewhere a call that only saves time does nothing, and one that can't be had says
// so in its result.
package system
