package load

import (
	"errors"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
)

// Report describes a parse that has ended.
type Report struct {
	Format string        // by name
	Engine string        // "cpu" or "cuda"; "": the parse ended before one was chosen
	Bytes  int64         // of the file, unpacked, that were read
	Queued time.Duration // wait for a slot
	Took   time.Duration // the parse itself
	Err    error         // nil: the table was made
}

var errPanicked = errors.New("panic while parsing")

// report tells Config.Parsed the end of a parse.
func (c *Loader) report(j job.Job, engine string, bytes int64, queued, took time.Duration, err error) {
	if c.Parsed != nil {
		c.Parsed(Report{Format: j.Format.Name, Engine: engine, Bytes: bytes, Queued: queued, Took: took, Err: err})
	}
}
