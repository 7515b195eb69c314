package flightsrv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Exchange is what the command of a DoExchange says: what file the client sends, and what it wants
// of it. It is a ticket without rows and version.
type Exchange struct {
	Ticket
	Format string         // "": the one that the name promises
	Layer  string         // "": the first one
	Size   int64          // bytes of the file; -1: the client does not say
	Shape  *readers.Shape // of the table, as an earlier exchange gave it; nil: not known
}

// defaultExchangeName is what errors call a file that has no name.
const defaultExchangeName = "exchange"

// exchangeOf reads the descriptor of a DoExchange.
func (s *service) exchangeOf(d *flight.FlightDescriptor) (Exchange, error) {
	x, err := parseExchange(d)
	if err != nil {
		return Exchange{}, fmt.Errorf("exchange: %w", err)
	}
	if x.Format == "" {
		packing, inner := source.PackingOf(x.Name)
		if packing == source.KMZ {
			inner = "doc.kml"
		}
		if x.Format = s.cfg.Catalog.FormatOf(inner); x.Format == "" {
			return Exchange{}, fmt.Errorf("exchange: %w", &TicketError{
				"format",
				errors.New("is missing, and no name tells it"),
			})
		}
	}
	var unknown *catalog.UnknownFormatError
	var none *readers.NoLayerError
	switch err := s.cfg.Catalog.CheckSent(x.sent()); {
	case errors.As(err, &unknown):
		return Exchange{}, fmt.Errorf("exchange: %w", &TicketError{"format", err})
	case errors.As(err, &none):
		return Exchange{}, fmt.Errorf("exchange: %w",
			&TicketError{"layer", fmt.Errorf("files of the format %s have none", x.Format)})
	case err != nil:
		return Exchange{}, err
	}
	return x, nil
}

func parseExchange(d *flight.FlightDescriptor) (Exchange, error) {
	if d.GetType() != flight.DescriptorCMD {
		return Exchange{}, &TicketError{
			"type",
			errors.New(`want a descriptor with a command, such as {"format": "geojson"}, in the first message`),
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

// set is that of Ticket with what only exchanges have.
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
		err = errors.New("stands in tickets only")
	case "name", "columns", "bbox", "limit", "geometry_encoding", "coords", "compression", "crs", "options":
		err = x.Ticket.set(m)
	default:
		err = errors.New("is unknown; known are format, name, layer, size, shape, columns, bbox, limit, " +
			"geometry_encoding, coords, compression, crs, options")
	}
	return err
}

// shapeOf reads what an earlier answer gave.
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

func (x Exchange) sent() catalog.Upload {
	return catalog.Upload{Format: x.Format, Options: x.Options, Layer: x.Layer}
}
