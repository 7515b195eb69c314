// Package geojson reads GeoJSON (RFC 7946, with the crs member of the 2008 specification) and
// GeoJSON text sequences (RFC 8142, and newline-delimited features without record separators).
//
// It accepts, strictly by RFC 8259, with any blanks and any order of members:
//
//	file      FeatureCollection | Feature | geometry | array of Features | sequence, each after an optional
//	          byte order mark
//	sequence  Features and geometries, each after any blanks and record separators; a file whose name does not
//	          promise a sequence is one if its
//	          second value is on a line of its own
//
// Repeated names: the last one counts, but a FeatureCollection has features once. Members that no
// column holds are counted by name and dropped. Fourth and later ordinates are ignored and counted.
// Every other violation of a rule is a *readers.ParseError. Valid but unusual geometries (open
// rings, short lines) are kept and counted. docs/formats/geojson.md has the whole list, and what
// GDAL does.
package geojson

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

var sequenceExtensions = []string{".geojsonl", ".geojsons", ".geojsonseq", ".ndjson", ".jsonl", ".ndgeojson"}

// Format returns GeoJSON in all its forms.
func Format() readers.Format {
	return readers.Format{
		Name:       "geojson",
		Extensions: append([]string{".geojson"}, sequenceExtensions...),
		Unit:       "feature",
		Version:    2,
		Sniff:      sniff,
		Open:       open,
		CPU:        func(l readers.Layout) readers.Parser { return parser{layout: l} },
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{layout: l, device: e}
			})
		},
	}
}

func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	ext := strings.ToLower(path.Ext(src.Name))
	return readers.Layout{Options: opts, Dialect: slices.Contains(sequenceExtensions, ext)}, nil
}

// sniff accepts text that begins as JSON and has a type of GeoJSON, or a member that only GeoJSON
// has.
func sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n\x1e")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	for _, member := range []string{`"features"`, `"coordinates"`, `"geometries"`} {
		if bytes.Contains(head, []byte(member)) {
			return true
		}
	}
	for rest := head; ; {
		_, after, found := bytes.Cut(rest, []byte(`"type"`))
		if !found {
			return false
		}
		rest = after
		value := bytes.TrimLeft(rest, " \t\r\n:")
		if bytes.HasPrefix(value, []byte(`"Feature"`)) || bytes.HasPrefix(value, []byte(`"FeatureCollection"`)) {
			return true
		}
	}
}
