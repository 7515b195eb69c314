package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// commandOf reads a descriptor. The components of a path are joined, so that one component may hold
// the whole name.
func commandOf(d *flight.FlightDescriptor) (Ticket, error) { return descriptorOf(d, ParseCommand) }

// descriptorOf is commandOf with the parser of commands.
func descriptorOf(d *flight.FlightDescriptor, parse func([]byte) (Ticket, error)) (Ticket, error) {
	switch d.GetType() {
	case flight.DescriptorPATH:
		name := strings.Join(d.GetPath(), "/")
		if name == "" {
			return Ticket{}, fmt.Errorf("descriptor: %w", &TicketError{"path", errors.New("is empty")})
		}
		if err := checkSize([]byte(name)); err != nil {
			return Ticket{}, fmt.Errorf("descriptor: path: %w", err)
		}
		return Ticket{Name: name}, nil
	case flight.DescriptorCMD:
		return parse(d.GetCmd())
	}
	return Ticket{}, fmt.Errorf("descriptor: %w", &TicketError{"type", fmt.Errorf("want PATH or CMD, have %v",
		d.GetType())})
}

// GetFlightInfo describes what the descriptor selects. It parses the file unless that was done
// once; if the table was lost since, it has a parse begin.
func (s *service) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if ok, err := s.forSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		return s.sql.Info(ctx, d)
	}
	t, err := commandOf(d)
	if err != nil {
		return nil, err
	}
	o, err := s.outline(ctx, t, true)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	t.Version = o.Version
	return s.info(ctx, d, t, o.Table, o.scan, o.Cached)
}

// GetSchema gives the schema that DoGet sends first, byte for byte.
func (s *service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	if ok, err := s.forSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		schema, err := s.sql.Schema(ctx, d)
		if err != nil {
			return nil, err
		}
		return schemaResult(schema)
	}
	t, err := commandOf(d)
	if err != nil {
		return nil, err
	}
	t.BBox, t.Limit = nil, nil // which rows there are is nothing to the schema
	o, err := s.outline(ctx, t, false)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	return schemaResult(o.scan.Schema())
}

func schemaResult(schema *arrow.Schema) (*flight.SchemaResult, error) {
	b, err := encapsulatedSchema(schema)
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: b}, nil
}

// info describes what t, with its version, selects of table through scan.
//
// total_bytes counts the slices of the selected columns as the cache holds them: native geometries,
// before any other encoding and before compression. It is -1 where a bbox or a limit leaves rows
// out.
func (s *service) info(ctx context.Context, d *flight.FlightDescriptor, t Ticket, table *readers.Table,
	scan *catalog.Scan, cached bool,
) (*flight.FlightInfo, error) {
	schema, err := encapsulatedSchema(scan.Schema())
	if err != nil {
		return nil, err
	}
	metadata, err := jsonBody(factsOf(table, cached))
	if err != nil {
		return nil, err
	}
	rows, err := scan.Rows(ctx)
	if err != nil {
		return nil, err
	}
	bytes := scan.Bytes()
	total := bytes
	if rows < table.Rows {
		total = -1
		bytes = int64(float64(bytes) * float64(rows) / float64(table.Rows))
	}
	return &flight.FlightInfo{
		Schema: schema, FlightDescriptor: d, Endpoint: s.endpoints(t, table, scan, rows, bytes),
		TotalRecords: rows, TotalBytes: total,
		Ordered: true, AppMetadata: metadata,
	}, nil
}

// criteria is what ListFlights can be asked for.
type criteria struct{ prefix, format string }

func criteriaOf(b []byte) (criteria, error) {
	var c criteria
	if len(b) == 0 {
		return c, nil
	}
	err := readObject(b, map[string]*string{"prefix": &c.prefix, "format": &c.format})
	if err != nil {
		return criteria{}, fmt.Errorf("criteria: %w", err)
	}
	return c, nil
}

// ListFlights gives one FlightInfo per entry and parses nothing. An entry that is not parsed has no
// schema and totals of -1.
func (s *service) ListFlights(c *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	want, err := criteriaOf(c.GetExpression())
	if err != nil {
		return err
	}
	for _, e := range s.cfg.Catalog.List(want.prefix, want.format) {
		if err := stream.Context().Err(); err != nil {
			return err
		}
		info, err := s.listed(stream.Context(), *e)
		if err != nil {
			return err
		}
		if err := stream.Send(info); err != nil {
			return err
		}
		callOf(stream.Context()).rows++
	}
	return nil
}

func (s *service) listed(ctx context.Context, e catalog.Entry) (*flight.FlightInfo, error) {
	d := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{e.Name}}
	t := Ticket{Name: e.Name}
	if table, version, ok := s.cfg.Catalog.Peek(e.Name); ok {
		scan, err := catalog.NewScan(table, s.cfg.selection(t))
		if err != nil {
			return nil, err
		}
		t.Version = version
		return s.info(ctx, d, t, table, scan, true)
	}
	metadata, err := jsonBody(unparsed{Format: e.Format})
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{
		FlightDescriptor: d, Endpoint: []*flight.FlightEndpoint{s.endpoint(t)}, TotalRecords: -1, TotalBytes: -1,
		Ordered: true, AppMetadata: metadata,
	}, nil
}
