package flatgeobuf

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/source"
)

// defaultNodeSize is the number of entries in a node of the index if the header does not state it.
const defaultNodeSize = 16

// indexItemBytes is the size of a node of the index: xmin, ymin, xmax, ymax, offset.
const indexItemBytes = 40

// afterIndex returns the offset of the first feature.
func (h *header) afterIndex(src *source.File) (int64, error) {
	if h.count == 0 || h.nodeSize == 0 {
		return h.index, nil
	}
	if h.nodeSize < 2 {
		return 0, errorAt(src, int64(headerStart), -1, fmt.Errorf("the index has %d entry a node, expected 2 at least",
			h.nodeSize))
	}
	left := src.Size - h.index
	if h.count > left/indexItemBytes {
		return 0, errorAt(src, h.index, -1, fmt.Errorf(
			"the file ends inside of the index: %d features need %d bytes, of which %d are there", h.count,
			indexItemBytes*h.count, left,
		))
	}
	bytes := indexItemBytes * h.indexNodes()
	if bytes > left {
		return 0, errorAt(src, h.index, -1, fmt.Errorf(
			"the file ends inside of the index: it has %d bytes, of which %d are there", bytes, left,
		))
	}
	return h.index + bytes, nil
}

// indexNodes returns how many nodes the index has: one for each feature, and level by level one for
// each node's worth, up to a single one.
func (h *header) indexNodes() int64 {
	nodes := h.count
	for n := h.count; ; {
		n = (n + h.nodeSize - 1) / h.nodeSize
		nodes += n
		if n == 1 {
			return nodes
		}
	}
}
