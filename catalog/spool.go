package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// spool keeps the chunks of one parse: in memory as long as they fit a budget, those that come
// later in a file of the cache. A chunk stays where it is, since others may be reading it; finish
// brings those in memory to the file.
type spool struct {
	archive *archive // nil: there is no cache
	name    string   // of the entry
	budget  int64    // bytes of chunks in memory
	most    int64    // the same, where the cache has no place for a file

	shared int   // most is one of so many parts of the memory; 0: it is all
	bytes  int64 // in memory
	none   error // why there is no file
	temp   *cachedir.Temp
	file   *tablefile.Writer
}

// Keep gives the rows back as they are or as views of the file.
func (s *spool) Keep(c *geoarrow.Columns) (*geoarrow.Columns, error) {
	bytes := c.Bytes()
	if s.file == nil && s.none == nil && s.bytes+bytes > s.budget {
		s.none = s.begin(2 * (s.bytes + bytes))
	}
	if s.file != nil {
		there, err := s.file.Append(c)
		if err != nil {
			return nil, s.error(err)
		}
		return there, nil
	}
	if s.bytes += bytes; s.bytes > s.most {
		return nil, s.tooLarge()
	}
	return c, nil
}

// begin makes the file.
func (s *spool) begin(need int64) error {
	temp, err := s.archive.create(need)
	if err == nil {
		s.temp, s.file = temp, tablefile.NewWriter(evictingTemp{temp, s.archive})
	}
	return err
}

// Reserve makes sure that the file can grow by so many bytes before any of them is written.
func (s *spool) Reserve(bytes int64) error {
	if s.file == nil {
		return nil
	}
	if err := (evictingTemp{s.temp, s.archive}).Reserve(s.file.Bytes() + bytes); err != nil {
		return s.error(err)
	}
	return nil
}

// finish gives the table, completed in its file if there is one.
func (s *spool) finish(ctx context.Context, t *readers.Table) (*tableData, error) {
	if s.file == nil {
		return &tableData{table: t}, nil
	}
	if err := s.file.Finish(ctx, t); err != nil {
		return nil, s.error(err)
	}
	f, err := tablefile.Open(s.temp)
	if err != nil {
		return nil, s.error(err)
	}
	l := &tableData{table: f.Table(), file: f, temp: s.temp}
	s.temp = nil
	return l, nil
}

// close ends what is unfinished. A table that finish gave stays.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
	if s.temp != nil {
		_ = s.temp.Abort()
	}
}

// spool is for the parse of a job, which reads src. What is kept in memory leaves room for the
// parse itself.
func (c *Catalog) spool(j job, src *source.File) *spool {
	most := max(0, c.cfg.MemoryBytes)
	s := &spool{archive: c.archive, name: j.entry.Name, budget: most / 2, most: most}
	if c.archive == nil {
		s.none, s.most = errNoCache, max(most, leastAlone, timesAlone*bytesOf(src))
	}
	return s
}

// share leaves the spool the part of the memory that it has as one of n.
func (s *spool) share(n int) {
	s.budget, s.most = s.budget/int64(n), s.most/int64(n)
	s.shared = n
}

// A table that has no other place is in memory, larger than the budget too: as a file of many
// records is. What few bytes become when they name very many columns, or the same memo again and
// again, is not of that kind.
const (
	timesAlone = 16 // the file's bytes. A field of two bytes becomes four, an empty one too
	leastAlone = 64 << 20
)

var errNoCache = errors.New("there is none")

// bytesOf is the size of a file and of those that belong to it.
func bytesOf(src *source.File) int64 {
	bytes := src.Size
	for _, s := range src.Siblings() {
		bytes += s.Identity.Size
	}
	return bytes
}

func (s *spool) tooLarge() error {
	flag := "--memory"
	if s.shared > 0 {
		flag = fmt.Sprintf("--memory, which %d files that are sent share (--max-exchanges)", s.shared)
	}
	return &readers.LimitError{What: fmt.Sprintf("%s: the table, which has no place in the cache either (%v),",
		s.name, s.none), Flag: flag, Limit: s.most}
}

// error says of which entry the table is that could not be written. What is beyond the cache's
// budget is beyond a limit.
func (s *spool) error(err error) error {
	var full *cachedir.FullError
	if errors.As(err, &full) {
		return &readers.LimitError{
			What: fmt.Sprintf("%s: the parsed table (%v)", s.name, full),
			Flag: "--cache-bytes", Limit: full.Budget,
		}
	}
	return fmt.Errorf("%s: keep the parsed table: %w", s.name, err)
}
