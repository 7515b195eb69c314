//go:build linux

package worker

import "github.com/vibeflight/vibeflight/flightsrv/sql/duck"

// The heads of requests and replies.

type startRequest struct {
	MemoryBytes int64    `json:"memory_bytes"`
	Threads     int      `json:"threads"`
	SpillDir    string   `json:"spill_dir"`
	SpillBytes  int64    `json:"spill_bytes"`
	Spatial     string   `json:"spatial"`
	Macros      []string `json:"macros"`
}

type startReply struct {
	Version     string   `json:"version"`
	Unprotected []string `json:"unprotected,omitempty"` // what the kernel has not
}

type viewRequest struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Key    string `json:"key,omitempty"`
}

// handle identifies a connection, a statement, rows, a relation or a scan.
type handle struct {
	ID uint64 `json:"id"`
}

type connText struct {
	Conn uint64 `json:"conn"`
	Text string `json:"text"`
}

type connQuery struct {
	Conn  uint64      `json:"conn"`
	Query *duck.Query `json:"query"`
}

type prepareReply struct {
	Statement  uint64 `json:"statement"`
	Schema     []byte `json:"schema"`
	Parameters []byte `json:"parameters"`
}

type planReply struct {
	Written   []byte `json:"written"`
	Optimized []byte `json:"optimized"`
}

type queryRequest struct {
	Statement uint64  `json:"statement"`
	Row       int     `json:"row"`
	Schema    []byte  `json:"schema,omitempty"` // of the parameters
	Args      *layout `json:"args,omitempty"`
}

// queryReply is the start of rows. Their number is that of the request.
type queryReply struct {
	Schema []byte    `json:"schema"`
	First  nextReply `json:"first"`
}

// nextReply has the next record, if there is one. After the last one the rows are closed.
type nextReply struct {
	Layout *layout `json:"layout,omitempty"`
	Ended  bool    `json:"ended,omitempty"`
}

type resolveRequest struct {
	Call uint64 `json:"call"`
	Key  string `json:"key"`
}

type resolveReply struct {
	Relation uint64 `json:"relation"`
	Schema   []byte `json:"schema"`
	Rows     int64  `json:"rows"`
}

type scanRequest struct {
	Call     uint64 `json:"call"`
	Relation uint64 `json:"relation"`
	Columns  []int  `json:"columns"`
}

type scanReply struct {
	Scan    uint64     `json:"scan"`
	Batches int        `json:"batches"`
	First   batchReply `json:"first"`
}

type batchRequest struct {
	Call  uint64 `json:"call"`
	Scan  uint64 `json:"scan"`
	Batch int    `json:"batch"`
}

// batchReply has a batch, and some of the following ones.
type batchReply struct {
	Batches []batchEntry `json:"batches"`
}

type batchEntry struct {
	Batch   int    `json:"batch"`
	Layout  layout `json:"layout"`
	Lasting bool   `json:"lasting"`
}

type fileNotice struct {
	Number int64 `json:"number"`
}

type forgetNotice struct {
	Numbers []int64 `json:"numbers"`
}
