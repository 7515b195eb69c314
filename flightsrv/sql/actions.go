package sql

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// action is an action of Flight SQL, or one of Flight about sessions. Its body and its answer are
// messages.
type action struct {
	name, doc string
	run       func(s *Server, ctx context.Context, body []byte) ([]byte, error)
}

// actions returns all actions. The messages of Flight SQL are in an Any, those of Flight are not.
func actions() []action {
	const none = "refused: this server has no transactions"
	return []action{
		{flightsql.CreatePreparedStatementActionType, "prepares a query", (*Server).createPrepared},
		{flightsql.ClosePreparedStatementActionType, "gives up a prepared statement", (*Server).closePrepared},
		{flightsql.CancelQueryActionType, "ends a query; CancelFlightInfo has taken its place", (*Server).cancelQuery},
		{
			flight.SetSessionOptionsActionType, "sets the catalog and the schema in which names are looked up",
			flightAction((*Server).setSessionOptions),
		},
		{
			flight.GetSessionOptionsActionType, "gives the options of the session",
			flightAction((*Server).getSessionOptions),
		},
		{flight.CloseSessionActionType, "forgets the options of the session", flightAction((*Server).closeSession)},
		{
			flightsql.BeginTransactionActionType, none,
			unsupportedAction("transactions: this server has none; every query sees the files as they are"),
		},
		{flightsql.EndTransactionActionType, none, unsupportedAction("transactions: this server has none")},
		{flightsql.BeginSavepointActionType, none, unsupportedAction("savepoints: this server has none")},
		{flightsql.EndSavepointActionType, none, unsupportedAction("savepoints: this server has none")},
		{
			flightsql.CreatePreparedSubstraitPlanActionType, "refused: this server reads SQL only",
			unsupportedAction("Substrait plans: this server reads SQL only"),
		},
	}
}

// Actions lists the actions for ListActions.
func Actions() []*flight.ActionType {
	var out []*flight.ActionType
	for _, a := range actions() {
		out = append(out, &flight.ActionType{Type: a.name, Description: a.doc})
	}
	return out
}

// HasAction reports whether name is an action of this package.
func HasAction(name string) bool {
	return slices.ContainsFunc(actions(), func(a action) bool { return a.name == name })
}

// Action runs an action for which [HasAction] holds, and returns the body of its only result.
func (s *Server) Action(ctx context.Context, name string, body []byte) ([]byte, error) {
	all := actions()
	i := slices.IndexFunc(all, func(a action) bool { return a.name == name })
	if i < 0 {
		return nil, malformed("action %q is none of Flight SQL", name)
	}
	out, err := all[i].run(s, ctx, body)
	var request *RequestError
	if errors.As(err, &request) {
		return nil, &RequestError{"action " + name, err}
	}
	return out, err
}

// flightAction makes an action of a function on messages that are not in an Any.
func flightAction[In any, PIn interface {
	*In
	proto.Message
}, Out proto.Message](run func(*Server, context.Context, PIn) (Out, error)) func(*Server, context.Context,
	[]byte) ([]byte, error) {
	return func(s *Server, ctx context.Context, body []byte) ([]byte, error) {
		in := PIn(new(In))
		if err := proto.Unmarshal(body, in); err != nil {
			return nil, &RequestError{"body", err}
		}
		out, err := run(s, ctx, in)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(out)
	}
}

func unsupportedAction(why string) func(*Server, context.Context, []byte) ([]byte, error) {
	return func(*Server, context.Context, []byte) ([]byte, error) { return nil, &UnsupportedError{why} }
}

// createPrepared returns both schemas. Without the schema of the result, JDBC treats a query as an
// update. Without that of the parameters, it can set none.
func (s *Server) createPrepared(ctx context.Context, body []byte) ([]byte, error) {
	var m pb.ActionCreatePreparedStatementRequest
	if err := unmarshalBody(body, &m); err != nil {
		return nil, err
	}
	stmt, err := s.prepare(ctx, m.GetQuery(), m.GetTransactionId())
	if err != nil {
		return nil, err
	}
	p := &preparedStatement{
		id: s.newHandle(), client: clientOf(ctx), owner: access.OwnerOf(ctx),
		plan: &plan{stmt: stmt, text: m.GetQuery(), uses: 1}, used: time.Now(),
	}
	if err := s.addPrepared(p); err != nil {
		stmt.Close()
		return nil, err
	}
	return pack(&pb.ActionCreatePreparedStatementResult{
		PreparedStatementHandle: []byte(p.id), DatasetSchema: encodeSchema(stmt.Schema()),
		ParameterSchema: encodeSchema(parameterSchema(stmt.Parameters())),
	})
}

func (s *Server) addPrepared(p *preparedStatement) error {
	var closing []Statement
	defer func() { closeAll(closing) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return ErrClosed
	}
	if len(s.prepared) >= maxPrepared {
		if h, ok := evictionCandidate(s.eachPrepared, p.client, 1); ok {
			closing = s.evictPrepared(s.prepared[h.id])
		}
	}
	s.prepared[p.id] = p
	return nil
}

// closePrepared closes a prepared statement; its results remain. It succeeds for a handle that has
// expired or is closed.
func (s *Server) closePrepared(ctx context.Context, body []byte) ([]byte, error) {
	var m pb.ActionClosePreparedStatementRequest
	if err := unmarshalBody(body, &m); err != nil {
		return nil, err
	}
	if n, want := len(m.GetPreparedStatementHandle()), len(s.tag)+handleBytes; n != want {
		return nil, malformed("prepared_statement_handle has %d bytes; those of this server have %d", n, want)
	}
	var gone query
	s.mu.Lock()
	if p := s.prepared[string(m.GetPreparedStatementHandle())]; p != nil && p.owner == access.OwnerOf(ctx) {
		gone = s.dropPrepared(p)
	}
	s.mu.Unlock()
	s.release(gone)
	return nil, nil
}

func (s *Server) cancelQuery(ctx context.Context, body []byte) ([]byte, error) {
	var m pb.ActionCancelQueryRequest //nolint:staticcheck // deprecated, but sent by ADBC
	if err := unmarshalBody(body, &m); err != nil {
		return nil, err
	}
	var info flight.FlightInfo
	if err := proto.Unmarshal(m.GetInfo(), &info); err != nil {
		return nil, &RequestError{"info", err}
	}
	cancelled, err := s.Cancel(ctx, &info)
	if err != nil {
		return nil, err
	}
	out := pb.ActionCancelQueryResult_CANCEL_RESULT_NOT_CANCELLABLE
	if cancelled {
		out = pb.ActionCancelQueryResult_CANCEL_RESULT_CANCELLED
	}
	return pack(&pb.ActionCancelQueryResult{Result: out}) //nolint:staticcheck // as above
}
