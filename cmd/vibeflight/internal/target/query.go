package target

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
)

// Query runs an SQL query on the server.
func (r *Remote) Query(ctx context.Context, text string) (RowStream, error) {
	client := flightsql.Client{Client: r.client}
	info, err := client.Execute(ctx, text)
	if err != nil {
		return nil, r.problem(err)
	}
	s := &remoteRows{remote: r, total: info.GetTotalRecords()}
	for _, e := range info.GetEndpoint() {
		s.tickets = append(s.tickets, e.GetTicket())
	}
	if len(s.tickets) == 0 {
		return nil, fmt.Errorf("%s: the server gave no endpoint for the query", r.address)
	}
	return s, s.open(ctx)
}
