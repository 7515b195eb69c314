//go:build !nocloud

package catalog

import (
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/cloud"
)

// cloudOpeners are those of object stores that tests of datasets read.
var cloudOpeners = remote.Openers{"s3": cloud.OpenS3}
