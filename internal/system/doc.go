// Package system has the calls of the operating system that Go's library lacks: file mappings,
// locks, identities of files, free room, memory and limits. It knows nothing of their use.
//
// Each call has one file with its contract and one for each system that does it differently. Linux
// has every call. Elsewhere a call that only saves time does nothing, and one that can't be had says
// so in its result.
package system
