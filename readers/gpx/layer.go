package gpx

// layer is one of the layers of a file.
type layer uint8

// The layers, in GDAL's order.
const (
	waypoints layer = iota
	routes
	tracks
	routePoints
	trackPoints

	layers
	noLayer // not a layer of GPX
)

var layerNames = [layers]string{"waypoints", "routes", "tracks", "route_points", "track_points"}

const rootName = "gpx"

// Depths of open elements.
const (
	inRoot    = 1 + iota
	inPath    // in a rte or a trk of a layer of points
	inSegment // in a trkseg of track_points
)

// rowElements are the elements that are rows.
var rowElements = [layers]struct {
	name  string
	depth int    // at which they are
	path  string // the child of the root around them; "": none
}{
	waypoints:   {name: "wpt", depth: inRoot},
	routes:      {name: "rte", depth: inRoot},
	tracks:      {name: "trk", depth: inRoot},
	routePoints: {name: "rtept", depth: inPath, path: "rte"},
	trackPoints: {name: "trkpt", depth: inSegment, path: "trk"},
}

// isPoints reports whether the rows of the layer are positions, with their attributes.
func (l layer) isPoints() bool { return l == waypoints || l == routePoints || l == trackPoints }

// isNumbered reports whether the rows of the layer have columns of the numbers of the elements
// around them.
func (l layer) isNumbered() bool { return l == routePoints || l == trackPoints }

// layerOf returns the layer of a name.
func layerOf(name string) layer {
	for l, known := range layerNames {
		if known == name {
			return layer(l)
		}
	}
	return noLayer
}

// firstLayer returns the layer whose rows are the children of the root with a name.
func firstLayer(name string) (first layer, ok bool) {
	switch name {
	case "wpt":
		return waypoints, true
	case "rte":
		return routes, true
	case "trk":
		return tracks, true
	}
	return 0, false
}

// layerList returns the names of all layers, of which the given one is the first: that of the first
// wpt, rte or trk.
func layerList(first layer) []string {
	list := []string{layerNames[first]}
	for l, name := range layerNames {
		if layer(l) != first {
			list = append(list, name)
		}
	}
	return list
}
