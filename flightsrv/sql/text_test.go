package sql

import (
	"testing"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

func TestText(t *testing.T) {
	pack := func(m proto.Message) []byte {
		a, err := anypb.New(m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"query", pack(&pb.CommandStatementQuery{Query: "SELECT 1"}), "SELECT 1"},
		{"prepare", pack(&pb.ActionCreatePreparedStatementRequest{Query: "SELECT ?"}), "SELECT ?"},
		{"handle", pack(&pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("h")}), ""},
		{"ticket of a name", []byte("a.csv"), ""},
		{"empty", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
