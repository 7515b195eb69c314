package lanes

import "fmt"

// Plan is what each card takes.
type Plan struct {
	ChunkBytes int64 // of a chunk's text
	Lanes      int   // chunks whose text comes or is there
	Work       int   // those among them that kernels work on
	ArenaBytes int64 // device memory for each of those; 0: it comes from the device as it is needed
}

const (
	chunkBytes      = 32 << 20 // smaller ones take more launches, larger ones more memory, and neither is faster
	leastChunkBytes = 1 << 20
	slackBytes      = 1 << 20 // behind a chunk, for the rest of its last row
	workAtOnce      = 4       // chunks that kernels work on at the same time: two wait for the host or for a copy
	lanesAhead      = 4       // beside them, whose text comes
	workQuarters    = 23      // quarters of a byte that kernels take for each byte of text: 22 in GML files, 20 of points in GeoJSON, 13 of polygons
)

// text is the device memory of a lane.
func (p Plan) text() int64 { return p.ChunkBytes + slackBytes }

// work is the device memory for the work on a chunk.
func (p Plan) work() int64 { return p.ChunkBytes / 4 * workQuarters }

// planFor shares memory out.
func planFor(memory int64) (Plan, error) {
	p := Plan{ChunkBytes: chunkBytes}
	for ; memory < 2*p.text()+p.work(); p.ChunkBytes /= 2 {
		if p.ChunkBytes == leastChunkBytes {
			return p, fmt.Errorf("%d bytes of device memory are too few; %d would do", memory, 2*p.text()+p.work())
		}
	}
	p.ArenaBytes = p.work()
	p.Work = int(min(workAtOnce, (memory-p.text())/(p.ArenaBytes+p.text())))
	p.Lanes = p.Work + int(min(lanesAhead, (memory-int64(p.Work)*(p.ArenaBytes+p.text()))/p.text()))
	return p, nil
}
