package flightsrv

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// TestMalformedMessages sends what no client sends. Every call must end with a clean status, and the
// server must still be there.
func TestMalformedMessages(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	ctx := t.Context()
	descriptors := []struct {
		name string
		d    *flight.FlightDescriptor
	}{
		{"none", nil},
		{"empty", &flight.FlightDescriptor{}},
		{"unknown type", &flight.FlightDescriptor{Type: 77, Path: []string{"a.fake"}}},
		{"path without components", pathOf()},
		{"path of empty component", pathOf("")},
		{"command without text", cmdOf("")},
		{"long path", pathOf(strings.Repeat("a/", ticket.MaxBytes))},
	}
	for _, c := range descriptors {
		t.Run("descriptor "+c.name, func(t *testing.T) {
			d := c.d
			if d == nil {
				d = &flight.FlightDescriptor{}
			}
			_, err := f.client.GetFlightInfo(ctx, d)
			wantStatus(t, err, codes.InvalidArgument)
			_, err = f.client.GetSchema(ctx, d)
			wantStatus(t, err, codes.InvalidArgument)
			_, err = f.client.PollFlightInfo(ctx, d)
			wantStatus(t, err, codes.InvalidArgument)

			put, err := f.client.DoPut(ctx)
			if err != nil {
				t.Fatal(err)
			}
			// the answer may be there already
			_ = put.Send(&flight.FlightData{FlightDescriptor: c.d, DataHeader: []byte("nonsense")})
			_, err = put.Recv()
			wantStatus(t, err, codes.Unimplemented, "DoPut")

			exchange, err := f.client.DoExchange(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_ = exchange.Send(&flight.FlightData{FlightDescriptor: c.d})
			_, err = exchange.Recv()
			wantStatus(t, err, codes.InvalidArgument, "exchange")
		})
	}
	for _, ticket := range []string{
		"", "{", "\x00", "\xff", "{}", "[]", "null", "/", ".", "..",
		strings.Repeat("{\"name\":", 1000),
	} {
		_, err := f.get(t, ticket)
		if c := status.Code(err); c != codes.InvalidArgument && c != codes.NotFound {
			t.Errorf("ticket %q: got %v", excerpt.Clip(ticket, 20), err)
		}
	}
	if _, err := f.get(t, strings.Repeat("a", maxRequestBytes+1)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a message of 4 MiB: %v", err)
	}
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestMalformedBytes sends bytes that are no message at all.
func TestMalformedBytes(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, method := range []string{
		"GetFlightInfo", "GetSchema", "PollFlightInfo", "DoGet", "DoPut",
		"DoExchange", "DoAction", "ListFlights", "ListActions", "Handshake", "Nothing",
	} {
		for _, body := range []string{
			"", "\xff\xff\xff\xff", "\x0a\x7fshort",
			"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		} {
			s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
				flightPrefix+method)
			if err != nil {
				t.Fatal(err)
			}
			f := frame.FromMessage([]byte(body))
			if err := s.SendMsg(f); err == nil {
				t.Fatal("sent a frame with the stock codec")
			}
			s, err = conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
				flightPrefix+method, grpc.ForceCodecV2(frame.NewCodec()))
			if err != nil {
				t.Fatal(err)
			}
			_ = s.SendMsg(f)
			_ = s.CloseSend()
			var m flight.FlightData
			for err == nil {
				err = s.RecvMsg(&m)
			}
			if c := status.Code(err); !errors.Is(err, io.EOF) && c == codes.Unavailable {
				t.Errorf("%s %q: %v", method, body, err)
			}
		}
	}
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("afterwards: %v", err)
	}
}

func TestPanicIsInternalAndServerLives(t *testing.T) {
	var log bytes.Buffer
	s := &service{cfg: Config{
		Catalog: emptyCatalog(t), Log: zerolog.New(&log),
		Admission: admission.New(admission.Config{}), Telemetry: &telemetry.Telemetry{},
	}}
	_, err := s.unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: flightPrefix + "GetFlightInfo"},
		func(ctx context.Context, _ any) (any, error) {
			callOf(ctx).name = "a.fake"
			descriptor := func() *flight.FlightDescriptor { return nil }
			return descriptor().Path, nil
		})
	wantStatus(t, err, codes.Internal, "defect")
	for _, w := range []string{
		`"stack":"goroutine`, "malformed_test.go", `"name":"a.fake"`, "nil pointer",
		`"code":"Internal"`, `"method":"GetFlightInfo"`,
	} {
		if !strings.Contains(log.String(), w) {
			t.Errorf("the log does not hold %s: %s", w, log.String())
		}
	}

	log.Reset()
	err = s.stream(nil, fakeStream{ctx: t.Context()}, &grpc.StreamServerInfo{FullMethod: flightPrefix + "DoGet"},
		func(_ any, ss grpc.ServerStream) error {
			callOf(ss.Context()).rows = 7
			panic("boo")
		})
	wantStatus(t, err, codes.Internal)
	if !strings.Contains(log.String(), `"rows":7`) || !strings.Contains(log.String(), "boo") {
		t.Error(log.String())
	}
}

type fakeStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s fakeStream) Context() context.Context { return s.ctx }

func TestRequestLog(t *testing.T) {
	var log syncBuffer
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) {
		c.Log = zerolog.New(&log).Level(zerolog.InfoLevel)
	})
	if _, err := f.get(t, "a.fake"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(log.String(), "call") &&
		time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // the server logs when the client has its answer
	}
	for _, w := range []string{
		`"level":"info"`, `"method":"DoGet"`, `"name":"a.fake"`, `"rows":10`,
		`"bytes":`, `"ms":`, `"code":"OK"`, `"client":"127.0.0.1:`,
	} {
		if !strings.Contains(log.String(), w) {
			t.Errorf("the log does not hold %s: %s", w, log.String())
		}
	}
}

func TestHealthAndReflection(t *testing.T) {
	f := serve(t, nil)
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{},
		grpc.WaitForReady(true))
	if err != nil || h.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	r, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = r.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "arrow.flight.protocol.FlightService",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Recv()
	if err != nil || len(answer.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("reflection: %v, %v", answer, err)
	}
}
