// Package job describes one table that is to be had: which file, read as which format, with which
// options and columns. It holds no state.
package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Key identifies the result of a parse.
type Key struct {
	Name     string // of the file
	Layer    string // "": the first one
	Format   string // by which the file is read
	Identity source.Identity
	Options  [32]byte // digest of the options and of the layer
	Columns  string   // readers.Projection.Key of the columns that have values
}

// WholeTable returns the key of the table with all columns.
func (k Key) WholeTable() Key {
	k.Columns = ""
	return k
}

// Job is a table to be had.
type Job struct {
	Key     Key
	Entry   tree.Entry
	Format  readers.Format
	Options readers.Options
	Columns readers.Projection
	Version string // of the file with these options, for clients

	Streamed bool // a caller reads rows while they are parsed, and waits for the first ones

	Text  []geoarrow.ColumnID // columns that are read as text, whatever their values
	Maker Maker               // makes the table in place of a parse; nil: the entry's file is parsed
}

// Maker makes a table that is not the table of one file.
type Maker interface {
	// Digest stands for all that the table is a function of, apart from the job's options.
	Digest() source.Digest
	// Make makes the table, in memory.
	Make(ctx context.Context) (*readers.Table, error)
	// Record stores what other replicas need to know of the table. It is called after Make, before they
	// can find the table.
	Record(ctx context.Context) error
}

// New checks the options given for an entry. The operator's options are used where they are silent.
func New(formats readers.Registry, operator func(name string) map[string]any, e tree.Entry,
	given map[string]any,
) (Job, error) {
	f, ok := formats.ByName(e.Format)
	if !ok {
		return Job{}, fmt.Errorf("%s: no format %q", e.Name, e.Format)
	}
	all := map[string]any{}
	if operator != nil {
		maps.Copy(all, operator(e.File()))
	}
	maps.Copy(all, given)
	f, all, err := formats.Choose(f, all)
	if err != nil {
		return Job{}, err
	}
	e.Format = f.Name
	opts, err := f.ParseOptions(all)
	if err != nil {
		return Job{}, err
	}
	return Of(e, f, opts), nil
}

// OfLayer returns the job for a layer of the same file.
func (j Job) OfLayer(layer string) Job {
	j.Entry.Layer = layer
	j.Key = Key{
		Name: j.Entry.File(), Layer: layer, Format: j.Format.Name, Identity: j.Entry.Identity,
		Options: LayerOptions(j.Options.Digest(), layer), Columns: j.Columns.Key(),
	}
	return j
}

// OfColumns returns the job for some columns of the same table.
func (j Job) OfColumns(columns readers.Projection) Job {
	j.Columns, j.Key.Columns = columns, columns.Key()
	return j
}

// LayerOptions returns the digest that stands for the options of a format and a layer.
func LayerOptions(options [32]byte, layer string) [32]byte {
	if layer == "" {
		return options
	}
	return sha256.Sum256(append(options[:], layer...))
}

// AsText returns the job for the same table with some columns as text.
func (j Job) AsText(columns []geoarrow.ColumnID) Job {
	if len(columns) == 0 {
		return j
	}
	h := sha256.New()
	h.Write(j.Key.Options[:])
	for _, id := range columns {
		h.Write(fmt.Appendf(nil, "%d %q\n", id.Role, id.Name))
	}
	j.Text, j.Key.Options = columns, [32]byte(h.Sum(nil))
	return j
}

// Of returns the job of an entry that is read as a format with checked options.
func Of(e tree.Entry, f readers.Format, opts readers.Options) Job {
	digest := opts.Digest()
	sum := sha256.Sum256(append([]byte(e.Identity.Version()), digest[:]...))
	return Job{Entry: e, Format: f, Options: opts, Version: hex.EncodeToString(sum[:12])}.OfLayer(e.Layer)
}
