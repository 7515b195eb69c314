package sql

import (
	"context"
	"encoding/hex"
	"net/http"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// sessionCookie is the name that other Flight servers use as well.
const sessionCookie = "arrow_flight_session_id"

// session is the options that a client has set. It starts with the first option, and a cookie
// identifies it. Server.mu guards schema and used.
type session struct {
	schema string // engine.MainSchema unless it was set
	client string // that created it
	owner  string // the user that may use it
	used   time.Time
}

// Options of a session.
const (
	optionCatalog = "catalog"
	optionSchema  = "schema"
)

// tokenOf returns the session in the client's cookies; "" if there is none.
func tokenOf(ctx context.Context) string {
	md, ok := metadata.FromIncomingContext(ctx)
	if !ok {
		return ""
	}
	c, err := (&http.Request{Header: http.Header{"Cookie": md.Get("cookie")}}).Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// cookie sends the client its session. A negative life deletes the cookie.
func cookie(ctx context.Context, token string, life int) error {
	c := http.Cookie{Name: sessionCookie, Value: token, MaxAge: life}
	return grpc.SetHeader(ctx, metadata.Pairs("set-cookie", c.String()))
}

// defaultSchema is the schema in which unqualified names are looked up first; "" is the root.
func (s *Server) defaultSchema(ctx context.Context) (string, error) {
	token := tokenOf(ctx)
	if token == "" {
		return "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[token]
	if c == nil || c.owner != access.OwnerOf(ctx) { // names might mean other tables than the client intends
		return "", s.handleError("session", token)
	}
	c.used = time.Now()
	if c.schema == engine.MainSchema {
		return "", nil
	}
	return c.schema, nil
}

func (s *Server) setSessionOptions(ctx context.Context, m *flight.SetSessionOptionsRequest) (
	*flight.SetSessionOptionsResult, error,
) {
	out := &flight.SetSessionOptionsResult{}
	refuse := func(name string, why pb.SetSessionOptionsResult_ErrorValue) {
		if out.Errors == nil {
			out.Errors = map[string]*pb.SetSessionOptionsResult_Error{}
		}
		out.Errors[name] = &pb.SetSessionOptionsResult_Error{Value: why}
	}
	var set *string
	for name, v := range m.GetSessionOptions() {
		text, isText := v.GetOptionValue().(*pb.SessionOptionValue_StringValue)
		unset := v.GetOptionValue() == nil
		switch {
		case name != optionCatalog && name != optionSchema:
			refuse(name, pb.SetSessionOptionsResult_INVALID_NAME)
		case unset && name == optionSchema:
			main := engine.MainSchema
			set = &main
		case unset:
		case !isText, name == optionCatalog && text.StringValue != engine.CatalogName, name == optionSchema &&
			!s.hasSchema(ctx, text.StringValue):
			refuse(name, pb.SetSessionOptionsResult_INVALID_VALUE)
		case name == optionSchema:
			set = &text.StringValue
		}
	}
	if set == nil {
		return out, nil
	}
	token, err := s.setSchema(ctx, *set)
	if err != nil {
		return nil, err
	}
	return out, cookie(ctx, token, 0)
}

func (s *Server) hasSchema(ctx context.Context, name string) bool {
	return slices.Contains(s.schemaNames(ctx), name)
}

// setSchema sets the default schema of the caller's session, or of a new one, and returns its token.
func (s *Server) setSchema(ctx context.Context, schema string) (string, error) {
	client, token, owner := clientOf(ctx), tokenOf(ctx), access.OwnerOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[token]
	if c == nil || c.owner != owner {
		if len(s.sessions) >= maxSessions {
			if h, ok := evictionCandidate(s.eachSession, client, 1); ok {
				s.evictSession(h.id)
			}
		}
		token, c = hex.EncodeToString([]byte(s.newHandle())), &session{client: client, owner: owner}
		s.sessions[token] = c
	}
	c.schema, c.used = schema, time.Now()
	return token, nil
}

func (s *Server) getSessionOptions(ctx context.Context, _ *flight.GetSessionOptionsRequest) (
	*flight.GetSessionOptionsResult, error,
) {
	schema, err := s.defaultSchema(ctx)
	if err != nil {
		return nil, err
	}
	if schema == "" {
		schema = engine.MainSchema
	}
	value := func(text string) *flight.SessionOptionValue {
		return &flight.SessionOptionValue{OptionValue: &pb.SessionOptionValue_StringValue{StringValue: text}}
	}
	return &flight.GetSessionOptionsResult{SessionOptions: map[string]*flight.SessionOptionValue{
		optionCatalog: value(engine.CatalogName), optionSchema: value(schema),
	}}, nil
}

// closeSession deletes the session. Without a session it succeeds too.
func (s *Server) closeSession(ctx context.Context, _ *flight.CloseSessionRequest) (*flight.CloseSessionResult, error) {
	out := &flight.CloseSessionResult{Status: pb.CloseSessionResult_CLOSED}
	token := tokenOf(ctx)
	if token == "" {
		return out, nil
	}
	s.mu.Lock()
	if c := s.sessions[token]; c != nil && c.owner == access.OwnerOf(ctx) {
		delete(s.sessions, token)
	}
	s.mu.Unlock()
	return out, cookie(ctx, "", -1)
}
