package sql

import (
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/uploads"
)

// parameterRules bound the messages of parameters. flightsql-dbapi, and SQLAlchemy with it, send
// values as unions.
var parameterRules = uploads.Rules{
	Flat: true, Unions: true, Rows: maxParameterRows, SchemaBytes: maxSchemaBytes,
	Fields: maxParameters,
}

// Limits of the schema of parameters.
const (
	maxSchemaBytes = 64 << 10
	maxParameters  = 1024
)

// checkMessage checks the next IPC message of parameters before Arrow's reader gets it, and returns
// the number of rows of a batch.
func checkMessage(c *uploads.Checker, d *flight.FlightData) (n int64, err error) {
	if _, n, err = c.Check(d); err != nil {
		return 0, &RequestError{"parameters", err}
	}
	return n, nil
}
