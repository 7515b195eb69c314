package sql

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
)

// handleBytes is the length of the random part of a handle, which follows the server's tag.
const handleBytes = 16

// newHandle returns random bytes that can't be guessed.
func newHandle() string {
	var b [handleBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return string(b[:])
}

// newHandle returns a handle of this server.
func (s *Server) newHandle() string { return s.tag + newHandle() }

// SetTag sets what all handles of the server begin with, before it answers calls. Servers of a fleet
// recognize each other's handles by it.
func (s *Server) SetTag(tag string) { s.tag = tag }

// HandleOf returns the handle in a ticket or in the command of a descriptor; nil if it has none.
func HandleOf(b []byte) []byte {
	switch Name(b) {
	case "TicketStatementQuery", "CommandPreparedStatementQuery", "CommandPreparedStatementUpdate":
	default:
		return nil
	}
	m, err := commandOf(b)
	if err != nil {
		return nil
	}
	switch m := m.(type) {
	case *pb.TicketStatementQuery:
		return m.GetStatementHandle()
	case *pb.CommandPreparedStatementQuery:
		return m.GetPreparedStatementHandle()
	case *pb.CommandPreparedStatementUpdate:
		return m.GetPreparedStatementHandle()
	}
	return nil
}

// HandleOfInfo returns the first handle of a FlightInfo that [Server.Cancel] ends; nil if there is
// none.
func HandleOfInfo(info *flight.FlightInfo) []byte {
	for _, b := range handlesIn(info) {
		if t, err := statementTicket(b); err == nil && t != nil {
			return t.GetStatementHandle()
		}
	}
	return nil
}

// HandleOfAction returns the handle in the body of an action; nil if it has none.
func HandleOfAction(name string, body []byte) []byte {
	switch name {
	case flightsql.ClosePreparedStatementActionType:
		var m pb.ActionClosePreparedStatementRequest
		if unmarshalBody(body, &m) == nil {
			return m.GetPreparedStatementHandle()
		}
	case flightsql.CancelQueryActionType:
		var m pb.ActionCancelQueryRequest //nolint:staticcheck // deprecated, but sent by ADBC
		var info flight.FlightInfo
		if unmarshalBody(body, &m) == nil && proto.Unmarshal(m.GetInfo(), &info) == nil {
			return HandleOfInfo(&info)
		}
	}
	return nil
}

// SessionOf returns the handle of the session that the client's cookie names; nil without one.
func SessionOf(ctx context.Context) []byte {
	h, err := hex.DecodeString(tokenOf(ctx))
	if err != nil || len(h) == 0 {
		return nil
	}
	return h
}

// UsesSession reports whether a command, or an action by its name, depends on the client's session:
// names are looked up in the schema that the session has set.
func UsesSession(name string) bool {
	switch name {
	case "CommandStatementQuery", flightsql.CreatePreparedStatementActionType, flight.SetSessionOptionsActionType,
		flight.GetSessionOptionsActionType, flight.CloseSessionActionType:
		return true
	}
	return false
}
