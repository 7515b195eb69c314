package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/remote"
)

// Root is a folder whose files the catalog lists.
type Root struct {
	Alias string // prefix of the names of its entries, followed by '/'; "": no prefix
	Dir   string
	// URL of a folder of an object store or a web server, in place of Dir
	URL     string
	Refresh time.Duration // between two lists of a URL; 0: DefaultStoreRefresh
	// Unlisted files have no entries of their own: they are members of datasets. Alias is then any
	// text that begins the names in errors.
	Unlisted bool
	// Only is the name of the one file of Dir that is served; "": all of them.
	Only string
	// NamedOnly files are found by their names alone, hidden ones too: the folder is never listed.
	NamedOnly bool
}

// OpenStore opens the folder of a URL.
type OpenStore func(ctx context.Context, url string) (*remote.Root, error)

// place returns the root for messages.
func (r Root) place() string {
	if r.URL != "" {
		return remote.Address(r.URL)
	}
	return r.Dir
}

// ParseRoot parses the value of --data: "DIR" or "ALIAS=DIR", or a URL or a file in place of DIR. An
// alias has ASCII letters, digits, '.', '_' and '-', and does not begin with '.'. A folder whose own
// name contains '=' is written with a '/' before the '=', as "./year=2024". Dir of the result is
// absolute. The root of a file is its folder, of which it is the only file.
func ParseRoot(s string) (Root, error) {
	r := Root{Dir: s}
	if i := strings.IndexByte(s, '='); i >= 0 && !strings.Contains(s[:i], "/") {
		r = Root{Alias: s[:i], Dir: s[i+1:]}
		if r.Alias == "" {
			return Root{}, fmt.Errorf("%q: the alias before '=' is empty: write ALIAS=DIR or DIR", s)
		}
	}
	if remote.IsURL(r.Dir) {
		r.URL, r.Dir = r.Dir, ""
	}
	if info, err := os.Stat(r.Dir); err == nil && info.Mode().IsRegular() {
		r = r.OfFile()
	}
	if err := r.check(); err != nil {
		return Root{}, fmt.Errorf("%q: %w", s, withoutPath(err))
	}
	if r.URL != "" {
		return r, nil
	}
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return Root{}, fmt.Errorf("%q: %w", s, withoutPath(err))
	}
	r.Dir = abs
	return r, nil
}

// OfFile returns the root of the file at Dir, or of a folder that is one file.
func (r Root) OfFile() Root {
	r.Dir, r.Only = filepath.Dir(r.Dir), filepath.Base(r.Dir)
	return r
}

func (r Root) check() error {
	if r.Unlisted {
		return r.checkDir()
	}
	for _, b := range []byte(r.Alias) {
		if !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '.' || b == '_' || b == '-') {
			return fmt.Errorf("alias %q: only letters, digits, '.', '_' and '-' are allowed", r.Alias)
		}
	}
	if strings.HasPrefix(r.Alias, ".") {
		return fmt.Errorf("alias %q: it must not begin with '.'", r.Alias)
	}
	return r.checkDir()
}

// checkDir returns an error unless there is a folder.
func (r Root) checkDir() error {
	if r.URL != "" {
		return nil
	}
	if r.Dir == "" {
		return errors.New("the folder is empty: write DIR or ALIAS=DIR")
	}
	info, err := os.Stat(r.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", r.Dir)
	}
	return nil
}

// name returns the catalog's name of the file at rel below the root.
func (r Root) name(rel string) string {
	return r.head() + escape(rel)
}

// head returns what the names of all entries below the root begin with. Names in the root of the file
// system are absolute paths.
func (r Root) head() string {
	switch {
	case r.Alias != "":
		return r.Alias + "/"
	case r.NamedOnly && r.Dir == "/":
		return "/"
	}
	return ""
}

// Rel returns the path below the root that a name stands for. It returns false for a name that no
// file below the root can have: of another alias, not escaped as escape does it, absolute, or with
// an empty, hidden, "." or ".." component. Of a root of one file, it is the name of that file.
func (r Root) Rel(name string) (string, bool) {
	name, ok := strings.CutPrefix(name, r.head())
	if !ok {
		return "", false
	}
	rel, ok := unescape(name)
	if !ok || len(rel) > MaxNameBytes || strings.IndexByte(rel, 0) >= 0 {
		return "", false
	}
	for part := range strings.SplitSeq(rel, "/") {
		if hidden(part) && (!r.NamedOnly || part == "" || part == "." || part == "..") {
			return "", false
		}
	}
	return rel, r.Only == "" || rel == r.Only
}

// MaxNameBytes bounds a path below a root; PATH_MAX of Linux.
const MaxNameBytes = 4096

// hidden reports whether a path component is not listed: it is empty or begins with a dot.
func hidden(part string) bool { return part == "" || part[0] == '.' }

// escape writes '#', which separates a layer, '%', and bytes that are not UTF-8, which no Flight
// message can carry, as %XX.
//
//	"a#b 50%.csv" -> "a%23b 50%25.csv"    "caf\xe9.csv" -> "caf%E9.csv"
func escape(path string) string {
	if utf8.ValidString(path) && !strings.ContainsAny(path, "#%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == '#' || r == '%' || r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", path[i])
		} else {
			b.WriteString(path[i : i+n])
		}
		i += n
	}
	return b.String()
}

// unescape is the inverse of escape. It returns false for text that escape never writes, so that a
// file has exactly one name.
func unescape(name string) (string, bool) {
	if !strings.ContainsAny(name, "#%") {
		return name, utf8.ValidString(name)
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b = append(b, name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		hi, lo := strings.IndexByte(upperHex, name[i+1]), strings.IndexByte(upperHex, name[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b = append(b, byte(hi<<4|lo))
		i += 2
	}
	path := string(b)
	return path, escape(path) == name
}

const upperHex = "0123456789ABCDEF"

// withoutPath returns the cause of an error of the file system about a path that the caller names.
func withoutPath(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}
