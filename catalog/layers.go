package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// A file of a layered format is one entry, of its own name, until a parse has told its layers. If
// they are several, each of them is an entry then:
//
//	trips.kml   ->   trips.kml#Stops   trips.kml#Tracks
//
// So it is with an archive of several tables, whose layers may be of different formats. The file's
// name stays valid and means the first layer, so both of its names have one table. What was learned
// holds for one identity of the file.

// layerList is what a parse told of the layers of a file.
type layerList struct {
	identity source.Identity
	layers   []string
	has      map[string]bool // the same: a file may have very many
}

func newLearned(identity source.Identity, layers []string) layerList {
	l := layerList{identity, layers, make(map[string]bool, len(layers))}
	for _, layer := range layers {
		l.has[layer] = true
	}
	return l
}

// splitName gives the file's name and the layer of an entry's name; layer is "" where it has none.
// It reports false for a layer that is not escaped as escape does it.
func splitName(name string) (file, layer string, ok bool) {
	file, rest, named := strings.Cut(name, "#")
	if !named {
		return file, "", true
	}
	layer, ok = unescape(rest)
	return file, layer, ok && layer != ""
}

func layerName(file, layer string) string { return file + "#" + escape(layer) }

// recall reads from the store which layers files had when they were parsed last.
func (c *Catalog) recall(ctx context.Context) {
	if c.archive == nil || !slices.ContainsFunc(c.cfg.Formats, func(f readers.Format) bool { return f.Layered }) {
		return
	}
	err := c.archive.store.Layered(ctx, func(r store.Record) error {
		if f, ok := c.cfg.Formats.ByName(r.Format); ok && f.Version == r.FormatVersion {
			c.layers[r.Name] = newLearned(r.Identity, r.Layers)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		c.cfg.Log.Warn().Err(err).Msg("the layers of files are known again when the files are parsed")
	}
}

// learn notes which layers the file of an entry has, and lists them.
func (c *Catalog) learn(e Entry, layers []string) {
	if len(layers) == 0 {
		return
	}
	c.indexMu.Lock()
	defer c.indexMu.Unlock()
	if old := c.layers[storeName(e)]; old.identity == e.Identity && slices.Equal(old.layers, layers) {
		return
	}
	c.layers[storeName(e)] = newLearned(e.Identity, layers)
	x := *c.index.Load()
	if listed := x.files[e.File()]; listed == nil || listed.Identity != e.Identity {
		return // the next look at the folder lists it
	}
	names := make([]string, 0, len(x.names)+len(layers))
	for _, name := range x.names {
		if file, _, _ := strings.Cut(name, "#"); file != e.File() {
			names = append(names, name)
		}
	}
	x.layers = maps.Clone(x.layers)
	x.names = x.list(names, e.File(), layers)
	x.arrange()
	c.index.Store(&x)
}

// expand puts the layers that are known into a new index; c.indexMu is held. What is known of files
// that are gone is forgotten.
func (c *Catalog) expand(x *index) {
	x.layers = map[string][]string{}
	defer x.arrange()
	if len(c.layers) == 0 {
		return
	}
	there := map[string]layerList{}
	var names []string
	for _, name := range x.names {
		e := *x.files[name]
		if !c.layered(e) {
			names = append(names, name)
			continue
		}
		known, ok := c.layers[storeName(e)]
		if ok {
			there[storeName(e)] = known
		}
		if known.identity != e.Identity {
			known.layers = nil
		}
		names = x.list(names, name, known.layers)
	}
	c.layers, x.names = there, names
}

// list appends the names of a file's entries. A layer whose name is longer than a path may be is
// none: with a name of megabytes, which XML allows, the list would be more than clients take.
func (x *index) list(names []string, file string, layers []string) []string {
	delete(x.layers, file)
	if len(layers) < 2 {
		return append(names, file)
	}
	x.layers[file] = layers
	before := len(names)
	for _, layer := range layers {
		if len(layer) <= maxNameBytes {
			names = append(names, layerName(file, layer))
		}
	}
	if len(names) == before {
		names = append(names, file)
	}
	return names
}

// ofLayer gives the entry of a layer that the index has.
func (x *index) ofLayer(name string) *Entry {
	file, layer, _ := splitName(name)
	e := *x.files[file]
	e.Name = name
	if layers := x.layers[file]; len(layers) > 0 && layers[0] != layer {
		e.Layer = layer
	}
	if e.tables != nil {
		e.Format = e.tables.formats[layer]
	}
	return &e
}

// layered reports whether a file may have several layers.
func (c *Catalog) layered(e Entry) bool {
	f, _ := c.cfg.Formats.ByName(e.Format)
	return f.Layered || e.tables != nil
}

// ofLayer gives the entry of a layer of the file of e, "" being the first, and whether it may have
// that layer: as long as nobody knows, it may.
func (c *Catalog) ofLayer(e Entry, layer string) (Entry, bool) {
	if layer == "" {
		return e, true
	}
	if !c.layered(e) {
		return e, false
	}
	if e.tables != nil {
		format, ok := e.tables.formats[layer]
		if !ok {
			return e, false
		}
		e.Format = format
	}
	c.indexMu.Lock()
	known := c.layers[storeName(e)]
	c.indexMu.Unlock()
	e.Name, e.Layer = layerName(e.File(), layer), layer
	if known.identity == e.Identity {
		if known.layers[0] == layer {
			e.Layer = ""
		}
		return e, known.has[layer]
	}
	return e, true
}

// layersOf tells the layers that the parse of a job found, and gives the job of the layer that it
// read: the first one goes by no name. The error for a layer that is not there becomes the one for
// an entry that is not.
func (c *Catalog) layersOf(j job, l *tableData, err error) (job, error) {
	var none *readers.NoLayerError
	switch {
	case errors.As(err, &none):
		c.learn(j.entry, none.Layers)
		return j, c.notFound(j.entry.Name)
	case err == nil && c.layered(j.entry):
		layers := l.table.Summary.Layers
		c.learn(j.entry, layers)
		if len(layers) > 0 && layers[0] == j.entry.Layer {
			j = j.ofLayer("")
		}
	}
	return j, err
}

// layerOptions is what stands for the options of a job in its key: with those of the format, the
// layer.
func layerOptions(options [32]byte, layer string) [32]byte {
	if layer == "" {
		return options
	}
	return sha256.Sum256(append(options[:], layer...))
}

// recordIs reports whether a record is of a layer, "" being the first one.
func recordIs(f readers.Format, r store.Record, layer string) bool {
	options, ok := recordOptions(f, r)
	return ok && layerOptions(options, layer) == r.Options
}

// recordLayer is the layer that a record is of, if its file has several.
func recordLayer(f readers.Format, r store.Record) (layer string, ok bool) {
	options, ok := recordOptions(f, r)
	if !ok || len(r.Layers) < 2 {
		return "", false
	}
	for i, layer := range r.Layers {
		of := layer
		if i == 0 {
			of = ""
		}
		if layerOptions(options, of) == r.Options {
			return layer, true
		}
	}
	return "", false
}

// recordOptions is the digest of the options of a record, as the format understands them now.
func recordOptions(f readers.Format, r store.Record) (digest [32]byte, ok bool) {
	var given map[string]any
	if err := json.Unmarshal([]byte(r.OptionsJSON), &given); err != nil {
		return digest, false
	}
	options, err := f.ParseOptions(given)
	return options.Digest(), err == nil
}

// notFound is the error for a name that is of no entry.
func (c *Catalog) notFound(name string) error {
	return &NotFoundError{Name: name, Closest: closest(name, c.index.Load().names, 3)}
}
