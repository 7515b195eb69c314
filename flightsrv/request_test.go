package flightsrv

import (
	"encoding/json"
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
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/internal/errorlog"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// ask sends body as the only message of a call, or none if it is nil, and gives the error that
// comes back.
func ask(t *testing.T, conn *grpc.ClientConn, method string, body []byte) error {
	t.Helper()
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	s, err := conn.NewStream(t.Context(), desc, flightPrefix+method, grpc.ForceCodecV2(requestCodec{frame.NewCodec()}))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		_ = s.SendMsg(frame.FromMessage(body))
	}
	_ = s.CloseSend()
	for err == nil {
		err = s.RecvMsg(&requestMessage{message: &flight.FlightData{}}) // what comes back may be any message
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// logged returns the lines of a log.
func logged(t *testing.T, log string) (lines []map[string]any) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

// TestMalformedRequests sends what is no message, or nothing, to each method. It is the client's
// fault: InvalidArgument, and no error in the log.
func TestMalformedRequests(t *testing.T) {
	var log syncBuffer
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) {
		c.Log = zerolog.New(&log)
		c.errorPeriod = time.Hour
	})
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	methods := []string{
		"GetFlightInfo", "GetSchema", "PollFlightInfo", "DoGet", "DoPut", "DoExchange",
		"DoAction", "ListFlights", "ListActions",
	}
	for _, method := range methods {
		for _, body := range []string{"\xff\xff\xff\xff", "\x0a\x7fshort"} {
			if err := ask(t, conn, method, []byte(body)); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s %q: %v", method, body, err)
			}
		}
		if err := ask(t, conn, method, nil); status.Code(err) == codes.Unknown {
			t.Errorf("%s without a message: %v", method, err)
		}
	}
	for _, line := range logged(t, log.String()) {
		if line["level"] != "info" {
			t.Errorf("logged %v", line)
		}
	}
}

// TestPathIsUTF8 sends descriptors whose path is not UTF-8.
func TestPathIsUTF8(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	descriptor := "\x08\x01\x1a\x02\xff\xfe" // type PATH, path "\xff\xfe"
	for _, method := range []string{"GetFlightInfo", "GetSchema", "PollFlightInfo"} {
		wantStatus(t, ask(t, conn, method, []byte(descriptor)), codes.InvalidArgument, "UTF-8")
	}
	data := "\x0a" + string(rune(len(descriptor))) + descriptor
	for _, method := range []string{"DoPut", "DoExchange"} {
		wantStatus(t, ask(t, conn, method, []byte(data)), codes.InvalidArgument, "UTF-8")
	}
}

// TestMistakesAreLoggedOnce makes the same mistake many times, and another one. Each is one line.
func TestMistakesAreLoggedOnce(t *testing.T) {
	var log syncBuffer
	s := &service{
		cfg: Config{
			Catalog: emptyCatalog(t), Log: zerolog.New(&log), Admission: admission.New(admission.Config{}),
			Telemetry: &telemetry.Telemetry{},
		},
		clientErrors: errorlog.Sampler{Period: time.Hour},
	}
	fail := func(method string, err error) {
		_ = s.finish(t.Context(), &call{method: flightPrefix + method, start: time.Now()}, err)
	}
	for range 1000 {
		fail("DoGet", &ticket.Error{Err: errors.New("malformed")})
	}
	fail("DoGet", nil)
	fail("DoGet", nil)
	fail("DoPut", errReadOnly)
	fail("DoGet", errors.New("a defect"))
	fail("DoGet", errors.New("a defect"))
	var got []string
	for _, line := range logged(t, log.String()) {
		got = append(got, line["level"].(string)+" "+line["code"].(string))
	}
	want := "info InvalidArgument,info OK,info OK,info Unimplemented,error Internal,error Internal"
	if strings.Join(got, ",") != want {
		t.Errorf("logged %q, want %s", got, want)
	}
}
