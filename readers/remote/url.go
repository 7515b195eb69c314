package remote

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Openers open folders of stores, by the scheme of their URLs.
type Openers map[string]func(ctx context.Context, u *url.URL) (Store, error)

// schemes are those of all stores, whether this program has an opener or not.
var schemes = []string{"s3", "gs", "az", "http", "https"}

// IsURL reports whether a text is the URL of a store, or of a file in one.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && slices.Contains(schemes, scheme)
}

// Open opens the folder of a URL. The folder of a file on a web server has this file alone.
func (o Openers) Open(ctx context.Context, text string, options Options) (*Root, error) {
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return o.open(ctx, u, options)
	}
	if strings.HasSuffix(u.Path, "/") || path.Ext(u.Path) == "" {
		return NewRoot(OpenHTTP(u, false), address(u), options), nil
	}
	root, key, err := o.OpenFile(ctx, text, options)
	if err == nil {
		root.single = key
	}
	return root, err
}

// OpenFile opens the folder of the file of a URL, and returns the file's key in it.
func (o Openers) OpenFile(ctx context.Context, text string, options Options) (*Root, string, error) {
	u, err := parse(text)
	if err != nil {
		return nil, "", err
	}
	slash := strings.LastIndexByte(u.Path, '/')
	key := u.Path[slash+1:]
	if slash < 0 || key == "" {
		return nil, "", fmt.Errorf("%s: the URL names no file", address(u))
	}
	folder := cloneURL(u)
	folder.Path, folder.RawPath = u.Path[:slash+1], ""
	if u.Scheme == "http" || u.Scheme == "https" {
		return NewRoot(OpenHTTP(u, true), address(folder), options), key, nil
	}
	root, err := o.open(ctx, folder, options)
	return root, key, err
}

func (o Openers) open(ctx context.Context, u *url.URL, options Options) (*Root, error) {
	open, ok := o[u.Scheme]
	if !ok {
		return nil, fmt.Errorf("%s: this build reads no %s:// URLs; it has %s", address(u), u.Scheme,
			strings.Join(append(slices.Sorted(maps.Keys(o)), "http", "https"), ", "))
	}
	store, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address(u), err)
	}
	return NewRoot(store, address(u), options), nil
}

// parse parses a URL. Its fragment is not used.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil { // its text may have a password
		return nil, fmt.Errorf("%.20s…: not a URL", text)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("%s://: the URL names no bucket or host", u.Scheme)
	}
	u.Fragment = ""
	return u, nil
}

// address returns a URL without its user, password and options, for messages and as a key.
func address(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Address returns the URL of a store without its user, password and options.
func Address(text string) string {
	u, err := parse(text)
	if err != nil {
		return text
	}
	return address(u)
}
