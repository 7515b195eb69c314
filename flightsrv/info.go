package flightsrv

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
)

// GetFlightInfo describes the table that the descriptor selects. It parses the file if that was
// never done. If the table was evicted since, it starts a parse and does not wait.
func (s *service) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if ok, err := s.isSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		if to, err := s.remoteOfCommand(ctx, d.GetCmd()); err != nil {
			return nil, err
		} else if to != nil {
			return forwardUnary[flight.FlightInfo](ctx, s, to, "GetFlightInfo", d)
		}
		return s.sql.Info(ctx, d)
	}
	t, err := ticket.ParseDescriptor(d)
	if err == nil {
		err = s.resolve(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	o, err := s.openInfo(ctx, t, true)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	t.Version = o.Version
	return s.info(ctx, d, t, o)
}

// GetSchema returns the schema that DoGet sends first, byte for byte.
func (s *service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	if ok, err := s.isSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		if to, err := s.remoteOfCommand(ctx, d.GetCmd()); err != nil {
			return nil, err
		} else if to != nil {
			return forwardUnary[flight.SchemaResult](ctx, s, to, "GetSchema", d)
		}
		schema, err := s.sql.Schema(ctx, d)
		if err != nil {
			return nil, err
		}
		return schemaResult(schema)
	}
	t, err := ticket.ParseDescriptor(d)
	if err == nil {
		err = s.resolve(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	t.Where, t.BBox, t.Limit = "", nil, nil // the schema does not depend on the rows
	o, err := s.openInfo(ctx, t, false)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	return schemaResult(o.scan.Schema())
}

func schemaResult(schema *arrow.Schema) (*flight.SchemaResult, error) {
	b, err := frame.EncapsulatedSchema(schema)
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: b}, nil
}

// info describes the selection of the scan from a table. t has the version of the file.
//
// total_bytes counts the selected columns as the cache holds them: with native geometries, before
// encoding and compression. It is -1 if a bbox or a limit excludes rows.
func (s *service) info(ctx context.Context, d *flight.FlightDescriptor, t ticket.Ticket, o tableScan) (
	*flight.FlightInfo, error,
) {
	info, err := s.infoAt(ctx, d, t, listedTable{o.Table, o.scan, o.Cached}, s.placementOf(ctx, o.Entry, t, true))
	if err == nil {
		s.countSent(info)
	}
	return info, err
}

// listedTable is a table that is described without a use of it.
type listedTable struct {
	*readers.Table
	scan   *catalog.Scan
	cached bool
}

// infoAt is info with the placement of the table.
func (s *service) infoAt(ctx context.Context, d *flight.FlightDescriptor, t ticket.Ticket, of listedTable,
	at placement,
) (*flight.FlightInfo, error) {
	table, scan := of.Table, of.scan
	schema, err := frame.EncapsulatedSchema(scan.Schema())
	if err != nil {
		return nil, err
	}
	about := metadata.OfTable(table, of.cached)
	if !access.KnowsAll(s.cfg.Catalog.Scope(ctx), t.Name) {
		about = about.WithoutDetails()
	}
	metadata, err := metadata.Marshal(about)
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
	var endpoints []*flight.FlightEndpoint
	if table.Format == catalog.DatasetFormat {
		endpoints, err = s.datasetEndpoints(ctx, t, table, scan, rows, bytes)
	} else {
		endpoints, err = s.endpoints(ctx, t, table, scan, rows, bytes, at)
	}
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{
		Schema: schema, FlightDescriptor: d, Endpoint: endpoints,
		TotalRecords: rows, TotalBytes: total,
		Ordered: true, AppMetadata: metadata,
	}, nil
}

// ListFlights sends one FlightInfo per entry and parses nothing. An entry that is not parsed has no
// schema and totals of -1.
func (s *service) ListFlights(c *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	want, err := ticket.ParseCriteria(c.GetExpression())
	if err != nil {
		return err
	}
	for e := range s.cfg.Catalog.Entries(stream.Context(), want.Prefix, want.Format) {
		if err := stream.Context().Err(); err != nil {
			return err
		}
		info, err := s.entryInfo(stream.Context(), *e)
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

func (s *service) entryInfo(ctx context.Context, e catalog.Entry) (*flight.FlightInfo, error) {
	d := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{e.Name}}
	t := ticket.Ticket{Name: e.Name}
	table, scan, version, err := s.cfg.Catalog.Peek(ctx, e.Name, s.cfg.selection(t))
	if err != nil {
		return nil, err
	}
	if scan != nil {
		t.Version = version
		return s.infoAt(ctx, d, t, listedTable{table, scan, true}, s.placementOf(ctx, e, t, false))
	}
	metadata, err := metadata.Marshal(metadata.Entry{Format: e.Format})
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{
		FlightDescriptor: d, Endpoint: []*flight.FlightEndpoint{endpoint(t, s.placementByName(t, "").of(0))},
		TotalRecords: -1, TotalBytes: -1,
		Ordered: true, AppMetadata: metadata,
	}, nil
}
