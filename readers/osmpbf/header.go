package osmpbf

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// file is what is known before any row.
type file struct {
	data int64 // offset of the first blob after the header
}

// knownFeatures are the required features of a file that this parser reads.
var knownFeatures = []string{"OsmSchema-V0.6", "DenseNodes"}

// readHeader reads the OSMHeader blob, which is the first one.
func readHeader(src *source.File) (*file, error) {
	if src.Size == 0 {
		return nil, errorAt(src, 0, faultf(0, "the file is empty, expected OSM PBF"))
	}
	all := frames{src: src}
	f, _, err := all.read()
	if err != nil {
		return nil, err
	}
	if f.kind != kindHeader {
		return nil, errorAt(src, f.at, faultf(0, "the first blob is of type %s, expected %s", f.kind, kindHeader))
	}
	var r inflater
	defer r.close()
	content, err := r.read(src, f)
	if err != nil {
		return nil, err
	}
	if err := checkFeatures(src, f, content); err != nil {
		return nil, err
	}
	return &file{data: all.next}, nil
}

// checkFeatures refuses a file that requires what this parser does not know.
func checkFeatures(src *source.File, f frame, content []byte) error {
	w := wire{b: content, end: len(content)}
	for {
		number, kind, ok := w.next()
		if !ok {
			break
		}
		if number != 4 { // the others are the box, optional features and the writing program
			w.skip(kind)
			continue
		}
		if !w.expect("required_features", kind, wireBytes) {
			break
		}
		s := w.bytes()
		if feature := string(content[s.from:s.to]); w.fault == nil && !slices.Contains(knownFeatures, feature) {
			return blockError(src, f, faultf(s.from,
				"the file requires the feature %q, which is not read: known are %q", feature, knownFeatures))
		}
	}
	if w.fault != nil {
		return blockError(src, f, w.fault)
	}
	return nil
}

// blockError returns the error for a defect of a blob's content. Its offset is that of the blob.
func blockError(src *source.File, f frame, bad *fault) *readers.ParseError {
	e := errorAt(src, f.at, bad)
	e.Err = fmt.Errorf("byte %d of the block's content: %w", bad.at, bad.err)
	return e
}
