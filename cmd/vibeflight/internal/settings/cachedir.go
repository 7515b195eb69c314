package settings

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// CacheDirFlag adds --cache-dir. Its help says where the default is in words: the folder itself is
// another one for each user.
func CacheDirFlag(f *pflag.FlagSet, dir *string, usage string) {
	f.StringVar(dir, "cache-dir", DefaultCacheDir(), usage+" (default: vibeflight in $XDG_CACHE_HOME or ~/.cache)")
	f.Lookup("cache-dir").DefValue = ""
}

// NoCache is what --cache-dir says for no cache; an empty value says it too, but an empty
// environment variable is as good as none.
const NoCache = "none"

// DefaultCacheDir is the user's folder for caches ($XDG_CACHE_HOME, or .cache of the home), empty
// where there is none.
func DefaultCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "vibeflight")
}

// CacheDir is what --cache-dir says, empty for no cache.
func CacheDir(dir string) string {
	if dir == NoCache {
		return ""
	}
	return dir
}
