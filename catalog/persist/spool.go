package persist

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

// Spool collects the chunks of one parse: in memory while they fit a budget, later ones in a file
// of the cache. A chunk is never moved, because others may be reading it; Finish copies those in
// memory to the file.
type Spool struct {
	archive *Archive
	name    string // of the entry
	budget  int64  // bytes of chunks in memory
	max     int64  // the same if the cache has no room for a file

	shared int   // the number of spools that share the memory; 0: this one alone
	bytes  int64 // in memory
	noFile error // why there is no file
	temp   *cachedir.Temp
	file   *tablefile.Writer
}

// NewSpool returns a spool for the parse of src, the file of the named entry. The chunks in memory
// take half of memory bytes, so that the other half is left for the parse.
func (a *Archive) NewSpool(name string, memory int64, src *source.File) *Spool {
	memory = max(0, memory)
	s := &Spool{archive: a, name: name, budget: memory / 2, max: memory}
	if !a.OnDisk() {
		s.noFile, s.max = errNoCache, max(memory, minAlone, timesAlone*bytesOf(src))
	}
	return s
}

// Share gives the spool the memory that it has as one of n.
func (s *Spool) Share(n int) {
	s.budget, s.max = s.budget/int64(n), s.max/int64(n)
	s.shared = n
}

// Budget returns the bytes of chunks that are kept in memory.
func (s *Spool) Budget() int64 { return s.budget }

// Keep implements readers.Keeper. It returns the rows as they are, or as views of the file.
func (s *Spool) Keep(c *geoarrow.Columns) (*geoarrow.Columns, error) {
	bytes := c.Bytes()
	if s.file == nil && s.noFile == nil && s.bytes+bytes > s.budget {
		s.noFile = s.begin(2 * (s.bytes + bytes))
	}
	if s.file != nil {
		view, err := s.file.Append(c)
		if err != nil {
			return nil, s.error(err)
		}
		return view, nil
	}
	if s.bytes += bytes; s.bytes > s.max {
		return nil, s.tooLarge()
	}
	return c, nil
}

// begin makes the file.
func (s *Spool) begin(need int64) error {
	temp, err := s.archive.create(need)
	if err == nil {
		s.temp, s.file = temp, tablefile.NewWriter(evictingTemp{temp, s.archive})
	}
	return err
}

// Reserve implements readers.Keeper: it makes sure that the file can grow by the given bytes.
func (s *Spool) Reserve(bytes int64) error {
	if s.file == nil {
		return nil
	}
	if err := (evictingTemp{s.temp, s.archive}).Reserve(s.file.Bytes() + bytes); err != nil {
		return s.error(err)
	}
	return nil
}

// Finish returns the table, completed in its file if there is one.
func (s *Spool) Finish(ctx context.Context, t *readers.Table) (*Data, error) {
	if s.file == nil {
		return &Data{Table: t}, nil
	}
	if err := s.file.Finish(ctx, t); err != nil {
		return nil, s.error(err)
	}
	f, err := tablefile.Open(s.temp)
	if err != nil {
		return nil, s.error(err)
	}
	l := &Data{Table: f.Table(), file: f, temp: s.temp}
	s.temp = nil
	return l, nil
}

// Close discards an unfinished file. A table returned by Finish stays valid.
func (s *Spool) Close() {
	if s.file != nil {
		_ = s.file.Close()
	}
	if s.temp != nil {
		_ = s.temp.Abort()
	}
}

// Without a cache a table may be larger than the memory budget, as the table of a large file is. A
// small file whose table is very large, because it names very many columns or repeats one memo, is
// not allowed to be.
const (
	timesAlone = 16 // the file's bytes: a field of two bytes becomes four, and so does an empty one
	minAlone   = 64 << 20
)

var errNoCache = errors.New("there is none")

// bytesOf returns the size of a file and its siblings.
func bytesOf(src *source.File) int64 {
	bytes := src.Size
	for _, s := range src.Siblings() {
		bytes += s.Identity.Size
	}
	return bytes
}

func (s *Spool) tooLarge() error {
	flag := "--memory"
	if s.shared > 0 {
		flag = fmt.Sprintf("--memory, which %d files that are sent share (--max-exchanges)", s.shared)
	}
	return &readers.LimitError{What: fmt.Sprintf("%s: the table, which has no place in the cache either (%v),",
		s.name, s.noFile), Flag: flag, Limit: s.max}
}

// error adds the entry's name to an error of the cache. A full cache is a *readers.LimitError.
func (s *Spool) error(err error) error {
	var full *cachedir.FullError
	if errors.As(err, &full) {
		return &readers.LimitError{
			What: fmt.Sprintf("%s: the parsed table (%v)", s.name, full),
			Flag: "--cache-bytes", Limit: full.Budget,
		}
	}
	return fmt.Errorf("%s: keep the parsed table: %w", s.name, err)
}
