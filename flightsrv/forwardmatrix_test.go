//go:build cgo && linux && (amd64 || arm64)

package flightsrv

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
)

// TestRolesOfForwardedCalls makes each call with a handle as each role, directly and through another
// replica: the answers are equal. A handle of another user is like one that does not exist.
func TestRolesOfForwardedCalls(t *testing.T) {
	files, policy := writeMatrix(t, policyOf(), matrixContent{hiddenCSV, hiddenKML, brokenJSON})
	store := fleettest.NewMemory(time.Now)
	var servers []*matrixServer
	for i := range 2 {
		files.CacheDir = t.TempDir()
		servers = append(servers, startMatrix(t, 4, files, policy, func(c *Config) {
			c.Fleet, c.Replica, c.fleetRenew = store, fmt.Sprint("r", i), renewOfTests
		}))
	}
	home, away := servers[0], servers[1]
	(&replicas{all: []*fixture{home.fixture, away.fixture}}).await(t, 2)

	prepared := home.prepared(t, "root", "SELECT * FROM zqfile WHERE n > ?")
	ticket := home.result(t, "root", "SELECT * FROM zqfile")
	unknown := append(prepared[:8:8], make([]byte, len(prepared)-8)...)
	noTicket := packed(&pb.TicketStatementQuery{StatementHandle: unknown})
	calls := []struct {
		what string
		run  func(r rpc, handle, ticket []byte) answer
	}{
		{"GetSchema", func(r rpc, h, _ []byte) answer { return r.schema(cmdOf(ofStatement(h))) }},
		{"GetFlightInfo", func(r rpc, h, _ []byte) answer { return r.info(cmdOf(ofStatement(h))) }},
		{"DoPut", func(r rpc, h, _ []byte) answer { return r.put(cmdOf(ofStatement(h))) }},
		{"DoGet of a statement", func(r rpc, h, _ []byte) answer { return r.get([]byte(ofStatement(h))) }},
		{"PollFlightInfo", func(r rpc, _, ticket []byte) answer { return r.poll(cmdOf(string(ticket))) }},
		{"RenewFlightEndpoint", func(r rpc, _, ticket []byte) answer {
			b, _ := proto.Marshal(&flight.RenewFlightEndpointRequest{Endpoint: endpointOf(ticket)})
			return r.act(flight.RenewFlightEndpointActionType, b)
		}},
		{"ClosePreparedStatement", func(r rpc, h, _ []byte) answer {
			return r.act("ClosePreparedStatement", packed(&pb.ActionClosePreparedStatementRequest{
				PreparedStatementHandle: h,
			}))
		}},
		{"CancelFlightInfo", func(r rpc, _, ticket []byte) answer {
			b, _ := proto.Marshal(&flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{
				FlightDescriptor: cmdOf(string(ticket)), Endpoint: []*flight.FlightEndpoint{endpointOf(ticket)},
			}})
			return r.act(flight.CancelFlightInfoActionType, b)
		}},
		{"DoGet", func(r rpc, _, ticket []byte) answer { return r.get(ticket) }},
	}
	for _, role := range matrixRoles {
		direct, through := rpc{as(t.Context(), role), home.client}, rpc{as(t.Context(), role), away.client}
		for _, c := range calls {
			want, got, none := c.run(direct, prepared, ticket), c.run(through, prepared, ticket),
				c.run(through, unknown, noTicket)
			if got != want || got != none {
				t.Errorf("%s as %s: %v through another replica, %v directly, %v of a handle that does not exist",
					c.what, role, got, want, none)
			}
		}
	}

	// The owner gets the rows, until the rights change.
	sql := rpc{as(t.Context(), "sql"), away.client}
	a := sql.get(home.result(t, "sql", "SELECT * FROM zqfile"))
	if a.code != codes.OK || !strings.Contains(a.bytes, "zvalue1") {
		t.Errorf("the owner's result: %v", a)
	}
	late := home.result(t, "sql", "SELECT * FROM zqfile")
	if err := os.WriteFile(policy, []byte(strings.ReplaceAll(policyOf(), `privileges = ["sql"]`, "privileges = []")), 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, func() bool {
		_, err := home.client.GetFlightInfo(as(t.Context(), "sql"), ofQuery("SELECT * FROM zqfile"))
		return err != nil
	})
	if a := sql.get(late); a.code == codes.OK || strings.Contains(a.bytes, "zvalue") {
		t.Errorf("a result after the rights have changed: %v", a)
	}
}
