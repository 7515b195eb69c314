package readers

import (
	"errors"
	"fmt"
)

// ErrNoLayer is the cause of the error if a file does not have the requested layer.
var ErrNoLayer = errors.New("there is no such layer")

// NoLayerError reports that a file does not have the requested layer. A parse returns it after it
// has read the whole file, so a malformed file gives a *ParseError instead. It wraps ErrNoLayer.
type NoLayerError struct {
	Name   string   // the catalog's name of the file
	Layer  string   // that was requested
	Layers []string // that the file has, in order of appearance
}

// Error returns `trips.kml: there is no such layer: "Stop"; the file has "Stops", "Tracks"`.
func (e *NoLayerError) Error() string {
	s := fmt.Sprintf("%s: %v: %q; the file has ", e.Name, ErrNoLayer, e.Layer)
	if len(e.Layers) == 0 {
		return s + "none"
	}
	const most = 10
	for i, layer := range e.Layers[:min(most, len(e.Layers))] {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", layer)
	}
	if more := len(e.Layers) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func (e *NoLayerError) Unwrap() error { return ErrNoLayer }
