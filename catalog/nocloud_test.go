//go:build nocloud

package catalog

import "github.com/vibeflight/vibeflight/readers/remote"

// cloudOpeners is empty: the build has no clients of object stores.
var cloudOpeners = remote.Openers{}
