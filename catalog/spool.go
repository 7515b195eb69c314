package catalog

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// spool keeps the chunks of one parse: in memory until they pass a budget, from then on in a file of the cache.
type spool struct {
	dir    *cachedir.Dir
	name   string // of the entry
	budget int64  // bytes of chunks in memory
	most   int64  // the same, where the cache has no room for a file

	bytes int64
	kept  []*geoarrow.Columns // in memory
	moved map[*geoarrow.Columns]*geoarrow.Columns
	full  error // why there is no file
	temp  *cachedir.Temp
	file  *tablefile.Writer
}

// Keep gives the rows back in memory or as views of the file.
func (s *spool) Keep(c *geoarrow.Columns) (*geoarrow.Columns, error) {
	if s.file != nil {
		return s.append(c)
	}
	s.bytes += c.Bytes()
	s.kept = append(s.kept, c)
	if s.bytes <= s.budget || s.full != nil && s.bytes <= s.most {
		return c, nil
	}
	if s.full != nil {
		return nil, s.tooLarge()
	}
	err := s.spill()
	var full *cachedir.FullError
	if errors.As(err, &full) {
		s.full = err
		if s.bytes > s.most {
			return nil, s.tooLarge()
		}
		return c, nil
	}
	if err != nil {
		return nil, s.error(err)
	}
	return s.moved[c], nil
}

// spill begins the file with the chunks that are in memory.
func (s *spool) spill() error {
	temp, err := s.dir.Create(2 * s.bytes)
	if err != nil {
		return err
	}
	s.temp, s.file = temp, tablefile.NewWriter(temp)
	s.moved = map[*geoarrow.Columns]*geoarrow.Columns{}
	for _, c := range s.kept {
		there, err := s.file.Append(c)
		if err != nil {
			return err
		}
		s.moved[c] = there
		*c = *there // whoever has c reads the file from now on
	}
	s.kept = nil
	return nil
}

func (s *spool) append(c *geoarrow.Columns) (*geoarrow.Columns, error) {
	there, err := s.file.Append(c)
	if err != nil {
		return nil, s.error(err)
	}
	return there, nil
}

// Reserve makes sure that the file can grow by so many bytes before any of them is written.
func (s *spool) Reserve(bytes int64) error {
	if s.file == nil {
		return nil
	}
	if err := s.temp.Reserve(s.file.Bytes() + bytes); err != nil {
		return s.error(err)
	}
	return nil
}

// finish gives the table, completed in its file if there is one.
func (s *spool) finish(t *readers.Table) (*loaded, error) {
	if s.file == nil {
		return &loaded{table: t}, nil
	}
	for i, b := range t.Batches {
		if there, ok := s.moved[b]; ok {
			*there = *b // with the names of the table
			t.Batches[i] = there
		}
	}
	if err := s.file.Finish(t); err != nil {
		return nil, s.error(err)
	}
	f, err := tablefile.Open(s.temp)
	if err != nil {
		return nil, s.error(err)
	}
	l := &loaded{table: f.Table(), file: f, temp: s.temp}
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

// spool is for the parse of a job. What is kept in memory leaves room for the parse itself.
func (c *Catalog) spool(j job) *spool {
	most := max(0, c.cfg.MemoryBytes)
	return &spool{dir: c.archive.dir, name: j.entry.Name, budget: most / 2, most: most}
}

func (s *spool) tooLarge() error {
	return &readers.LimitError{What: fmt.Sprintf("%s: the table, which does not fit the cache either (%v),", s.name, s.full), Flag: "--memory", Limit: s.most}
}

// error says of which entry the table is that could not be written. What is beyond the cache's budget is beyond a limit.
func (s *spool) error(err error) error {
	var full *cachedir.FullError
	if errors.As(err, &full) {
		return &readers.LimitError{What: fmt.Sprintf("%s: the parsed table (%v)", s.name, full), Flag: "--cache-bytes", Limit: full.Budget}
	}
	return fmt.Errorf("%s: keep the parsed table: %w", s.name, err)
}
