package worker

import "github.com/rs/zerolog"

// Config is the program and the limits of workers.
type Config struct {
	Command     []string // path of a program that calls Serve, and its arguments
	Env         []string // its environment
	Max         int      // maximum number of workers
	Warm        int      // unused workers that are kept
	MemoryBytes int64    // of all queries together
	QueryBytes  int64    // of memory of one query; 0: MemoryBytes
	Threads     int      // of each worker
	SpillDir    string   // folder in which each worker gets its own; "": none
	SpillBytes  int64    // of each worker
	Spatial     string   // path of spatial.duckdb_extension; "": core functions only
	Macros      []string // see duck.Config
	Locate      Locate   // finds the files that contain buffers; nil: all buffers are copied
	Log         zerolog.Logger
}

// Locate returns the mapped file that contains a buffer, and the offset in it.
type Locate func(buffer []byte) (f File, at int64, ok bool)

// File is a file that never changes.
type File struct {
	Name       string
	Dev, Inode uint64
}
