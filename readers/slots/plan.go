package slots

import "fmt"

// Plan is what each device allocates.
type Plan struct {
	ChunkBytes int64 // of a chunk's text
	Slots      int   // chunks whose text is being copied or is complete
	Work       int   // those among them that kernels work on
	ArenaBytes int64 // device memory for each of those; 0: it comes from the device as it is needed
}

const (
	// where n are worked on as largeAtOnce: a twentieth less of kernels' time than of the
	// next size
	largeChunkBytes = 40 << 20
	chunkBytes      = 32 << 20 // elsewhere, and a half, a quarter, ... of it where that does not fit
	minChunkBytes   = 1 << 20
	slackBytes      = 1 << 20 // after a chunk, for the rest of its last row
	// at least, for what formats keep on the device from chunk to chunk: without any, no chunk is
	// read
	spareBytes = 1 << 18
	// chunks that kernels work on at the same time, at most: two wait for the host or for a copy
	workAtOnce  = 4
	largeAtOnce = 3
	slotsAhead  = 4 // next to them, whose text comes
	// quarters of a byte that kernels take for each byte of text: 22 in GML files, 20 of points in
	// GeoJSON, 13 of polygons
	workQuarters = 23
)

// text returns the device memory of a slot.
func (p Plan) text() int64 { return p.ChunkBytes + slackBytes }

// work returns the device memory for the work on a chunk.
func (p Plan) work() int64 { return p.ChunkBytes / 4 * workQuarters }

// planFor divides the memory, except what is reserved.
func planFor(memory int64) (Plan, error) {
	memory -= spareBytes
	p := Plan{ChunkBytes: largeChunkBytes}
	if memory < p.text()+largeAtOnce*(p.text()+p.work()) {
		p.ChunkBytes = chunkBytes
	}
	for ; memory < 2*p.text()+p.work(); p.ChunkBytes /= 2 {
		if p.ChunkBytes == minChunkBytes {
			return p, fmt.Errorf("%d bytes of device memory are too few; %d would do", memory+spareBytes,
				2*p.text()+p.work()+spareBytes)
		}
	}
	p.ArenaBytes = p.work()
	p.Work = int(min(workAtOnce, (memory-p.text())/(p.ArenaBytes+p.text())))
	p.Slots = p.Work + int(min(slotsAhead, (memory-int64(p.Work)*(p.ArenaBytes+p.text()))/p.text()))
	return p, nil
}
