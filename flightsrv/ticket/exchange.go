package ticket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// Exchange is the command of a DoExchange: the file that the client sends, and the table that it
// requests. It is a ticket without rows and version.
type Exchange struct {
	Ticket
	Format string         // "": by the extension of the name
	Layer  string         // "": the first one
	Size   int64          // bytes of the file; -1: unknown
	Shape  *readers.Shape // of the table, from an earlier exchange; nil: unknown
}

// defaultExchangeName is the name of a file without one, for errors.
const defaultExchangeName = "exchange"

// ParseExchange reads the descriptor of a DoExchange.
func ParseExchange(d *flight.FlightDescriptor) (Exchange, error) {
	if d.GetType() != flight.DescriptorCMD {
		return Exchange{}, &Error{
			Field: "type",
			Err:   errors.New(`want a descriptor with a command, such as {"format": "geojson"}, in the first message`),
		}
	}
	x := Exchange{Size: -1}
	x.Name = defaultExchangeName
	if err := checkSize(d.GetCmd()); err != nil {
		return Exchange{}, err
	}
	ms, err := members(d.GetCmd())
	if err != nil {
		return Exchange{}, err
	}
	for _, m := range ms {
		if err := x.set(m); err != nil {
			return Exchange{}, inField(m.key, err)
		}
	}
	return x, nil
}

// set reads a field: those of a ticket, and those that only exchanges have.
func (x *Exchange) set(m member) (err error) {
	switch m.key {
	case "format":
		x.Format, err = textOf(m.value)
	case "layer":
		x.Layer, err = textOf(m.value)
	case "size":
		x.Size, err = countOf(m.value)
	case "shape":
		x.Shape, err = shapeOf(m.value)
	case "rows", "version":
		err = errors.New("is valid in tickets only")
	case "name", "columns", "bbox", "limit", "geometry_encoding", "coords", "compression", "crs", "options":
		err = x.Ticket.set(m)
	default:
		err = errors.New("is unknown; known are format, name, layer, size, shape, columns, bbox, limit, " +
			"geometry_encoding, coords, compression, crs, options")
	}
	return err
}

// shapeOf reads the shape that an earlier exchange returned.
func shapeOf(v json.RawMessage) (*readers.Shape, error) {
	dec := json.NewDecoder(bytes.NewReader(v))
	dec.DisallowUnknownFields()
	shape := &readers.Shape{}
	if err := dec.Decode(shape); err != nil {
		return nil, fmt.Errorf("is not what an exchange gave: %w", err)
	}
	if err := shape.Check(); err != nil {
		return nil, fmt.Errorf("is not what an exchange gave: %w", err)
	}
	return shape, nil
}

// Upload returns the file that the client sends, for the catalog.
func (x Exchange) Upload() catalog.Upload {
	return catalog.Upload{Format: x.Format, Options: x.Options, Layer: x.Layer}
}
