package settings

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// CacheDirFlag adds --cache-dir. Its help describes the default, which depends on the user.
func CacheDirFlag(f *pflag.FlagSet, dir *string, usage string) {
	f.StringVar(dir, "cache-dir", DefaultCacheDir(), usage+" (default: vibeflight in $XDG_CACHE_HOME or ~/.cache)")
	f.Lookup("cache-dir").DefValue = ""
}

// NoCache is the value of --cache-dir for no cache. An empty value means it too, but an empty
// environment variable is ignored.
const NoCache = "none"

// DefaultCacheDir returns the user's folder for caches ($XDG_CACHE_HOME or ~/.cache); empty if
// there is none.
func DefaultCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "vibeflight")
}

// CacheDir returns the folder that a value of --cache-dir means; empty for no cache.
func CacheDir(dir string) string {
	if dir == NoCache {
		return ""
	}
	return dir
}
