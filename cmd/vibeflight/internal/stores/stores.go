// Package stores says which object stores this build reads.
package stores

import (
	"context"
	"net/url"
	"sync"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// openers are those of s3, gs and az, unless the build has the tag nocloud.
var openers = remote.Openers{}

// Openers returns what opens the folders of stores.
func Openers() remote.Openers { return openers }

var (
	mu    sync.Mutex
	files = map[string]remoteFile{} // by URL: a command opens a file several times
)

type remoteFile struct {
	root *remote.Root
	key  string
}

// Open opens the file of a URL, with the siblings that have one of the extensions. Its name in
// errors is the URL without user, password and options. All reads end with ctx.
func Open(ctx context.Context, text string, siblings ...string) (*source.File, error) {
	root, key, err := File(ctx, text)
	if err != nil {
		return nil, err
	}
	return root.Open(ctx, remote.Address(text), key, siblings...)
}

// File opens the folder of the file of a URL, and returns the key of the file.
func File(ctx context.Context, text string) (*remote.Root, string, error) {
	u, err := url.Parse(text)
	if err == nil {
		u.Fragment = ""
		text = u.String()
	}
	mu.Lock()
	defer mu.Unlock()
	if f, ok := files[text]; ok {
		return f.root, f.key, nil
	}
	root, key, err := openers.OpenFile(ctx, text, remote.Options{})
	if err == nil {
		files[text] = remoteFile{root, key}
	}
	return root, key, err
}
