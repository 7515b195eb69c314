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
	if listed := x.files[e.File()]; listed == nil || listed.Identity != e.Identity {
		return // the next walk lists it
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
	t.index.Store(&x)
}

// expand adds the known layers to a new index; t.indexMu is held. The layers of files that no
// longer exist are forgotten.
func (t *Tree) expand(x *index) {
	x.layers = map[string][]string{}
	defer x.arrange()
	if len(t.layers) == 0 {
		return
	}
	present := map[string]layerList{}
	var names []string
	for _, name := range x.names {
		e := *x.files[name]
		if !t.Layered(e) {
			names = append(names, name)
			continue
		}
		known, ok := t.layers[e.Location()]
		if ok {
			present[e.Location()] = known
		}
		if known.identity != e.Identity {
			known.layers = nil
		}
		names = x.list(names, name, known.layers)
	}
	t.layers, x.names = present, names
}

// list appends the names of a file's entries. A layer whose name is longer than a path may be is
// left out: XML allows names of megabytes, and clients could not receive the list.
func (x *index) list(names []string, file string, layers []string) []string {
	delete(x.layers, file)
	if len(layers) < 2 {
		return append(names, file)
	}
	x.layers[file] = layers
	n := len(names)
	for _, layer := range layers {
		if len(layer) <= MaxNameBytes {
			names = append(names, LayerName(file, layer))
		}
	}
	if len(names) == n {
		names = append(names, file)
	}
	return names
}

// ofLayer returns the entry of a layer that the index has.
func (x *index) ofLayer(name string) *Entry {
	file, layer, _ := SplitName(name)
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
