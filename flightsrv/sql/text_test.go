package sql_test

import (
	"testing"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"query", commandBytes(t, &pb.CommandStatementQuery{Query: "SELECT 1"}), "SELECT 1"},
		{"prepare", commandBytes(t, &pb.ActionCreatePreparedStatementRequest{Query: "SELECT ?"}), "SELECT ?"},
		{"handle", commandBytes(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("h")}), ""},
		{"ticket of a name", []byte("a.csv"), ""},
		{"empty", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sql.Text(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
