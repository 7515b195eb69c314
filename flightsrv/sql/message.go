package sql

import (
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/uploads"
)

// parameterRules are what messages of parameters may be. Unions are how flightsql-dbapi, and
// SQLAlchemy with it, sends values.
var parameterRules = uploads.Rules{
	Flat: true, Unions: true, Rows: maxParameterRows, SchemaBytes: maxSchemaBytes,
	Fields: maxParameters,
}

// What a schema of parameters may have.
const (
	maxSchemaBytes = 64 << 10
	maxParameters  = 1024
)

// checkMessage checks the next IPC message of parameters before Arrow's reader gets it, and gives a
// batch's rows.
func checkMessage(c *uploads.Checker, d *flight.FlightData) (n int64, err error) {
	if _, n, err = c.Check(d); err != nil {
		return 0, &RequestError{"parameters", err}
	}
	return n, nil
}
