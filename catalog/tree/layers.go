package tree

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/source"
)

// A file of a layered format is one entry, under its own name, until a parse reports its layers. If
// there are several, each of them is an entry then:
//
//	trips.kml   ->   trips.kml#Stops   trips.kml#Tracks
//
// The same holds for an archive of several tables, whose layers may have different formats. The
// file's name stays valid and means the first layer, so both of its names have the same table. The
// layers of a file are known for one identity of it.

// layerList is the layers of a file, as a parse reported them.
type layerList struct {
	identity source.Identity
	layers   []string
	set      map[string]bool // the same: a file may have very many
}

func newLayerList(identity source.Identity, layers []string) layerList {
	l := layerList{identity, layers, make(map[string]bool, len(layers))}
	for _, layer := range layers {
		l.set[layer] = true
	}
	return l
}

// SplitName returns the file's name and the layer of an entry's name; layer is "" if it names none.
// It returns false for a layer that is not escaped as escape does it.
func SplitName(name string) (file, layer string, ok bool) {
	file, rest, named := strings.Cut(name, "#")
	if !named {
		return file, "", true
	}
	layer, ok = unescape(rest)
	return file, layer, ok && layer != ""
}

// LayerName returns the name of the entry of a layer.
func LayerName(file, layer string) string { return file + "#" + escape(layer) }

// recall reads the layers that an earlier process has found.
func (t *Tree) recall(ctx context.Context) {
	if t.cfg.Layers == nil {
		return
	}
	err := t.cfg.Layers(ctx, func(location string, id source.Identity, layers []string) {
		t.layers[location] = newLayerList(id, layers)
	})
	if err != nil && ctx.Err() == nil {
		t.cfg.Log.Warn().Err(err).Msg("the layers of files are known again when the files are parsed")
	}
}

// SetLayers records and lists the layers of the file of an entry.
func (t *Tree) SetLayers(e Entry, layers []string) {
	if len(layers) == 0 {
		return
	}
	t.indexMu.Lock()
	defer t.indexMu.Unlock()
	at := e.Location()
	if old := t.layers[at]; old.identity == e.Identity && slices.Equal(old.layers, layers) {
		return
	}
	t.layers[at] = newLayerList(e.Identity, layers)
	x := *t.index.Load()
	if listed, ok := x.find(e.File()); !ok || listed.Identity != e.Identity {
		return // the next walk lists it
	}
	x.layers = maps.Clone(x.layers)
	delete(x.layers, e.File())
	if len(layers) > 1 {
		x.layers[e.File()] = layers
	}
	x.addExtra()
	t.setIndex(&x)
}

// expand adds the known layers to a new index; t.indexMu is held. The layers of files that no
// longer exist are forgotten.
func (t *Tree) expand(x *index) {
	x.layers = map[string][]string{}
	defer x.addExtra()
	if len(t.layers) == 0 {
		return
	}
	present := map[string]layerList{}
	merge(x.cursors("", false), nil, func(c *cursor) bool {
		p := c.page()
		if format, _ := t.cfg.Formats.ByName(c.l.formats[p.formats[c.at.file]-1]); !format.Layered && p.tables == nil {
			return true
		}
		e := c.entry()
		if known, ok := t.layers[e.Location()]; ok && t.Layered(e) && x.datasets[c.name] == nil {
			present[e.Location()] = known
			if known.identity == e.Identity && len(known.layers) > 1 {
				x.layers[c.name] = known.layers
			}
		}
		return true
	})
	t.layers = present
}

// addExtra makes the entries of datasets and layers. A layer whose name is longer than a path may be
// is left out: XML allows names of megabytes, and clients could not receive the list.
func (x *index) addExtra() {
	x.extra, x.replaced = nil, map[string]bool{}
	for _, e := range x.datasets {
		x.extra = append(x.extra, e)
	}
	for file, layers := range x.layers {
		for _, layer := range layers {
			if len(layer) <= MaxNameBytes {
				x.extra = append(x.extra, x.ofLayer(file, layer))
				x.replaced[file] = true
			}
		}
	}
	slices.SortFunc(x.extra, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
}

// ofLayer returns the entry of a layer of a file that is known to have several.
func (x *index) ofLayer(file, layer string) *Entry {
	e, _ := x.find(file)
	e.Name = LayerName(file, layer)
	if x.layers[file][0] != layer {
		e.Layer = layer
	}
	if e.tables != nil {
		e.Format = e.tables.formats[layer]
	}
	return &e
}

// Layered reports whether the entry's file may have several layers.
func (t *Tree) Layered(e Entry) bool {
	f, _ := t.cfg.Formats.ByName(e.Format) // none for a dataset
	return f.Layered || e.tables != nil
}

// Layers returns the layers of the entry's file. It returns false if no parse has reported them.
func (t *Tree) Layers(e Entry) ([]string, bool) {
	t.indexMu.Lock()
	defer t.indexMu.Unlock()
	known := t.layers[e.Location()]
	return known.layers, known.set != nil && known.identity == e.Identity
}

// ofLayer returns the entry of a layer of the file of e, "" being the first one. It returns false
// if the file is known not to have the layer.
func (t *Tree) ofLayer(e Entry, layer string) (Entry, bool) {
	if layer == "" {
		return e, true
	}
	if !t.Layered(e) {
		return e, false
	}
	if e.tables != nil {
		format, ok := e.tables.formats[layer]
		if !ok {
			return e, false
		}
		e.Format = format
	}
	t.indexMu.Lock()
	known := t.layers[e.Location()]
	t.indexMu.Unlock()
	e.Name, e.Layer = LayerName(e.File(), layer), layer
	if known.identity == e.Identity {
		if known.layers[0] == layer {
			e.Layer = ""
		}
		return e, known.set[layer]
	}
	return e, true
}
