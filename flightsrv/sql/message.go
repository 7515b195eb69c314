package sql

import (
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/uploads"
)

// parameterRules are what messages of parameters may be.
var parameterRules = uploads.Rules{Flat: true, Rows: maxParameterRows, SchemaBytes: maxSchemaBytes, Fields: maxParameters}

// What a schema of parameters may have.
const (
	maxSchemaBytes = 64 << 10
	maxParameters  = 1024
)

// checkMessage checks an IPC message of parameters before Arrow's reader gets it, and gives a batch's rows.
func checkMessage(d *flight.FlightData) (n int64, err error) {
	_, n, err = uploads.Check(d, parameterRules)
	if err != nil {
		return 0, &RequestError{"parameters", err}
	}
	return n, nil
}
