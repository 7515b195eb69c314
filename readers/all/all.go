// Package all lists the formats that this build reads.
package all

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
)

// Formats is every format, in the order in which they are asked whether a file is theirs.
func Formats() readers.Registry {
	return readers.Registry{
		geojson.Format(),
	}
}
