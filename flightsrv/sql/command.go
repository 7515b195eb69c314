package sql

import (
	"fmt"
	"strings"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// messages is the protobuf package of the Flight SQL messages.
const messages = "arrow.flight.protocol.sql."

// Name returns the name of the Flight SQL message in b, a descriptor's command or a ticket:
// "CommandStatementQuery". The message is in a google.protobuf.Any. Name returns "" for everything
// else: names and JSON objects do not begin with a tag of Any.
func Name(b []byte) string {
	a, ok := anyOf(b)
	if !ok {
		return ""
	}
	return nameOf(a)
}

func nameOf(a *anypb.Any) string { return strings.TrimPrefix(string(a.MessageName()), messages) }

// Tags of the two fields of Any.
const (
	tagTypeURL = 1<<3 | 2
	tagValue   = 2<<3 | 2
)

func anyOf(b []byte) (*anypb.Any, bool) {
	if len(b) == 0 || b[0] != tagTypeURL && b[0] != tagValue {
		return nil, false
	}
	var a anypb.Any
	if err := proto.Unmarshal(b, &a); err != nil {
		return nil, false
	}
	return &a, strings.HasPrefix(string(a.MessageName()), messages)
}

// commandOf reads a command or a ticket.
func commandOf(b []byte) (proto.Message, error) {
	a, ok := anyOf(b)
	if !ok {
		return nil, malformed("command: want a message of Flight SQL in a google.protobuf.Any")
	}
	m, err := a.UnmarshalNew()
	if err != nil {
		return nil, &RequestError{"command " + nameOf(a), err}
	}
	return m, nil
}

// unmarshalBody reads the message in an Any that is the body of an action.
func unmarshalBody(body []byte, m proto.Message) error {
	a, ok := anyOf(body)
	if !ok {
		return malformed("body: want a %s in a google.protobuf.Any", m.ProtoReflect().Descriptor().Name())
	}
	if err := a.UnmarshalTo(m); err != nil {
		return &RequestError{"body", err}
	}
	return nil
}

// pack encodes a message in an Any.
func pack(m proto.Message) ([]byte, error) {
	a, err := anypb.New(m)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", m, err)
	}
	return proto.Marshal(a)
}

// unsupportedCommand is the error of a command that this server does not run.
func unsupportedCommand(m proto.Message) error {
	switch m.(type) {
	case *pb.CommandStatementUpdate, *pb.CommandPreparedStatementUpdate:
		return &UnsupportedError{"updates: this server is read-only; send queries with CommandStatementQuery or as " +
			"prepared statements"}
	case *pb.CommandStatementIngest:
		return &UnsupportedError{"CommandStatementIngest: storing tables needs a server that is writable (--writable)"}
	case *pb.CommandStatementSubstraitPlan:
		return &UnsupportedError{"Substrait plans: this server reads SQL only"}
	}
	return malformed("%s can't stand here", m.ProtoReflect().Descriptor().Name())
}

// noTransaction refuses commands of a transaction: the server never begins one.
func noTransaction(id []byte) error {
	if len(id) == 0 {
		return nil
	}
	return malformed("transaction_id: this server has no transactions; leave it out")
}
