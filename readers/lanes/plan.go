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
	workAtOnce      = 3       // chunks that kernels work on at the same time: one waits for the host, one for a copy
	lanesAhead      = 5       // beside them, whose text comes
	workFactor      = 7       // bytes that kernels take for each byte of text, in GeoJSON files of points; polygons take 5
)

// text is the device memory of a lane.
func (p Plan) text() int64 { return p.ChunkBytes + slackBytes }

// planFor shares memory out.
func planFor(memory int64) (Plan, error) {
	p := Plan{ChunkBytes: chunkBytes}
	for ; memory < 2*p.text()+workFactor*p.ChunkBytes; p.ChunkBytes /= 2 {
		if p.ChunkBytes == leastChunkBytes {
			return p, fmt.Errorf("%d bytes of device memory are too few; %d would do", memory, 2*p.text()+workFactor*p.ChunkBytes)
		}
	}
	p.ArenaBytes = workFactor * p.ChunkBytes
	p.Work = int(min(workAtOnce, (memory-p.text())/(p.ArenaBytes+p.text())))
	p.Lanes = p.Work + int(min(lanesAhead, (memory-int64(p.Work)*(p.ArenaBytes+p.text()))/p.text()))
	return p, nil
}
