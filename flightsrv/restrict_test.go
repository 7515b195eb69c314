package flightsrv

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// anyone is a login without credentials.
type anyone struct{}

func (anyone) Authenticate(context.Context) (*auth.Principal, error) {
	return &auth.Principal{Name: "ann"}, nil
}

func (anyone) Handshake(context.Context) (*auth.Principal, string, error) {
	return &auth.Principal{Name: "ann"}, "Bearer none", nil
}

func (anyone) Watch(ctx context.Context, _ *auth.Principal) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// sameRights has one restriction for every caller and entry.
type sameRights struct{ restriction *access.Restriction }

func (r sameRights) Scope(*auth.Principal) access.Scope {
	return restrictedScope{access.All, r.restriction}
}

type restrictedScope struct {
	access.Scope
	restriction *access.Restriction
}

func (s restrictedScope) Restriction(string) *access.Restriction { return s.restriction }

// below keeps the rows whose n is less than 5, whatever the filter says.
type below struct{ restrict.Evaluator }

func (below) Filter(_ context.Context, t *readers.Table, _ string) ([][]int32, error) {
	kept := make([][]int32, len(t.Batches))
	for i, b := range t.Batches {
		for row, n := range geoarrow.View[int32](b.Attributes[0].Values) {
			if n < 5 {
				kept[i] = append(kept[i], int32(row))
			}
		}
	}
	return kept, nil
}

// TestHiddenRowsInAnswers looks for hidden rows, whose text and positions no other row has, in the
// answers of all calls on a table.
func TestHiddenRowsInAnswers(t *testing.T) {
	rules := &access.Restriction{Filter: "n < 5", Hidden: []string{"s"}}
	f := serveCatalog(t, map[string]string{"a.fake": "rows=300000 pad=3"},
		catalog.Config{Restricted: true, Limits: readers.Limits{BatchRows: 1000}}, func(c *Config) {
			c.Login, c.Grants = anyone{}, sameRights{rules}
		})
	f.catalog.SetEvaluator(below{}, nil)
	info := f.info(t, pathOf("a.fake"))
	if info.TotalRecords != 5 || len(info.Endpoint) != 1 || info.TotalBytes > 1000 {
		t.Errorf("%d rows, %d bytes, %d endpoints", info.TotalRecords, info.TotalBytes, len(info.Endpoint))
	}
	answers := []string{string(info.AppMetadata), string(info.Endpoint[0].AppMetadata)}
	for _, ticket := range []string{
		string(info.Endpoint[0].Ticket.Ticket), "a.fake", `{"name":"a.fake","rows":[0,300000]}`,
		`{"name":"a.fake","bbox":[-1e9,-1e9,1e9,1e9]}`, `{"name":"a.fake","limit":100000}`,
	} {
		g, err := f.get(t, ticket)
		if err != nil || g.rows != 5 || g.cols != 2 || len(g.batches) != 1 {
			t.Errorf("%s: %+v, error %v", ticket, g, err)
		}
	}
	g, err := f.get(t, `{"name":"a.fake","rows":[5,300000]}`)
	if err != nil || g.rows != 0 {
		t.Errorf("%+v, error %v", g, err)
	}
	_, err = f.get(t, `{"name":"a.fake","columns":["s"]}`)
	wantStatus(t, err, codes.InvalidArgument, `no column "s"`)
	_, err = f.get(t, `{"name":"a.fake","options":{"letter":"y"}}`)
	wantStatus(t, err, codes.PermissionDenied)
	poll, err := f.client.PollFlightInfo(t.Context(), pathOf("a.fake"))
	if err != nil {
		t.Fatal(err)
	}
	answers = append(answers, string(poll.Info.AppMetadata))
	if poll.Info.TotalRecords != 5 {
		t.Errorf("%d rows by a poll", poll.Info.TotalRecords)
	}
	list, err := f.client.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := list.Recv()
	if err != nil || listed.TotalRecords != 5 || listed.TotalBytes != info.TotalBytes {
		t.Errorf("listed %v, error %v", listed, err)
	}
	answers = append(answers, string(listed.AppMetadata))
	described, err := f.client.DoAction(t.Context(), &flight.Action{Type: "describe", Body: []byte("a.fake")})
	if err != nil {
		t.Fatal(err)
	}
	about, err := described.Recv()
	if err != nil {
		t.Fatal(err)
	}
	answers = append(answers, string(about.Body))
	for _, a := range answers {
		var body map[string]any
		if err := json.Unmarshal([]byte(a), &body); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{
			"skipped", "unclosed_rings", "ignored_ordinates", "foreign_members", "file_bytes",
		} {
			if v, ok := body[key]; ok && v != 0.0 && len(v.(map[string]any)) > 0 {
				t.Errorf("%s tells %s", a, key)
			}
		}
		if strings.Contains(a, "299999") || strings.Contains(a, "300000") || strings.Contains(a, `"s"`) {
			t.Errorf("%s tells of hidden rows", a)
		}
	}
	if _, err := list.Recv(); err != io.EOF { //nolint:errorlint // as gRPC returns it
		t.Error(err)
	}
}
