package flightsrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/grants"
	"github.com/vibeflight/vibeflight/flightsrv/internal/errorlog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// Config is what is served, the addresses, and the limits.
type Config struct {
	Catalog *catalog.Catalog
	// of Flight SQL: sql.Of of an engine that engine.Open returned; nil: no SQL (--no-sql, or a
	// build without cgo)
	SQL    sql.Engine
	Listen []string // host:port or unix:///path; default DefaultListen (--listen)
	// locations of every endpoint, as URI or host:port; none: clients use their connection
	// (--advertise)
	Advertise []string
	Insecure  bool // listen on addresses that others can reach (--insecure)
	// PEM files of a certificate and its key, for TLS on all addresses but unix sockets; empty: no
	// TLS (--tls-cert, --tls-key)
	TLSCert, TLSKey string
	// PEM file of the certificates that sign those of clients; empty: clients need none
	// (--tls-client-ca)
	TLSClientCA       string
	TLSClientRequired bool // refuse connections without a client certificate (--tls-client-required)
	// of a message with a single row, and of one that a client stores; default 256 MiB
	// (--max-message-bytes)
	MaxMessageBytes int
	// name of the CRS of tables in OGC:CRS84, unless a ticket sets it: OGC:CRS84 (default) or
	// EPSG:4326 (--crs84-as)
	CRS84As geoarrow.CRS
	// how long calls in progress may take after the end of Serve's context; default 10 s (--drain)
	Drain time.Duration
	// how long the server goes on after that end, while health checks report NOT_SERVING
	// (--drain-delay)
	DrainDelay time.Duration
	Stop       func()         // ends Serve's context, for the action drain; nil: there is no such action
	Log        zerolog.Logger // one line per call

	Admission *admission.Control // bounds what users do; nil: its defaults

	GPUTables *resident.Store // tables that clients of this machine read on a GPU; nil: none (--gpu-tables)

	MaxConnections int // that are open on all addresses; default 4096 (--max-connections)
	MaxStreams     int // that are open on all connections; default 8192 (--max-streams)

	Login auth.Authenticator // identifies callers; nil: every caller may do everything
	// what callers may do; nil: everything that their tokens permit. It requires Login and a
	// restricted catalog (--grants).
	Grants Grants

	// what the replicas of a fleet agree on; nil: this server is alone (--store)
	Fleet   fleetstore.Members
	Replica string // ID of this server in its fleet (--replica)
	// the replicas share parsed tables; else one of them sends the rows of a table that another has
	// (--cache-store)
	SharesTables bool
	// PEM file of the certificates that sign those of the other replicas; empty: those of the system
	// (--peer-ca)
	PeerCA string

	Telemetry *telemetry.Telemetry // metrics, traces and health; nil: health only
	Audit     *audit.Log           // nil: none
	// calls that take longer are logged with the plan of their query; 0: none
	Slow time.Duration

	// of a file that a client sends for parsing; default 4 GiB (--max-exchange-bytes)
	MaxExchangeBytes int64
	ExchangeTimeout  time.Duration // of such a call; default 10 min (--exchange-timeout)

	uploadIdle  time.Duration         // the constant, unless a test sets it
	errorPeriod time.Duration         // the constant, unless a test sets it
	fleetRenew  time.Duration         // the constant, unless a test sets it
	components  []telemetry.Component // that a watchdog probes: those of watch.go, unless a test sets them
}

// Grants says what callers may do.
type Grants interface {
	// Scope returns the present rights of a caller.
	Scope(p *auth.Principal) access.Scope
}

// Defaults of Config.
const (
	DefaultListen          = "127.0.0.1:8815"
	DefaultMaxMessageBytes = 256 << 20
	DefaultDrain           = 10 * time.Second

	DefaultMaxConnections = 4096
	DefaultMaxStreams     = 8192

	DefaultMaxExchangeBytes = 4 << 30
	DefaultExchangeTimeout  = 10 * time.Minute
)

// Limits and intervals of connections.
const (
	// of a client's message, the default limit of clients too; only uploads are larger than a
	// ticket
	maxRequestBytes     = 16 << 20
	maxHeaderBytes      = 64 << 10
	maxConnStreams      = 1024 // of one connection
	handshakeTimeout    = 5 * time.Second
	keepaliveAfter      = 30 * time.Second
	keepaliveTimeout    = 10 * time.Second
	keepaliveMinAllowed = 10 * time.Second
)

// Server is a Flight server with gRPC's health and reflection services.
type Server struct {
	cfg       Config
	grpc      *grpc.Server
	health    *health.Server
	sql       *sql.Server // nil: no SQL
	listeners []listener
	sharing   []net.Listener // a socket for files next to each unix socket
	load      *clientLoad
	slow      *slowLog // nil: none
	active    *activeCalls
	service   *service
}

// New checks the configuration and listens. Clients can connect from here on, and Serve answers
// them. Serve closes the server.
func New(cfg Config) (*Server, error) {
	if cfg.Catalog == nil {
		return nil, errors.New("flightsrv: no catalog")
	}
	if len(cfg.Listen) == 0 {
		cfg.Listen = []string{DefaultListen}
	}
	if cfg.MaxMessageBytes == 0 {
		cfg.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if cfg.MaxMessageBytes < frame.MaxMessageBytes || cfg.MaxMessageBytes > math.MaxInt32 {
		return nil, fmt.Errorf("--max-message-bytes %d: want %d to %d",
			cfg.MaxMessageBytes, frame.MaxMessageBytes, math.MaxInt32)
	}
	if cfg.Drain == 0 {
		cfg.Drain = DefaultDrain
	}
	switch {
	case cfg.Grants != nil && cfg.Login == nil:
		return nil, errors.New("--grants: without a login, no caller has a name; configure a login method")
	case cfg.Grants != nil && cfg.Catalog.Scope(context.Background()) != access.None:
		return nil, errors.New("flightsrv: grants need a restricted catalog")
	case cfg.Grants == nil && cfg.Login != nil:
		cfg.Grants = grants.TokenBounds{}
	}
	cfg.MaxConnections = cmp.Or(cfg.MaxConnections, DefaultMaxConnections)
	cfg.MaxStreams = cmp.Or(cfg.MaxStreams, DefaultMaxStreams)
	if cfg.Admission == nil {
		cfg.Admission = admission.New(admission.Config{
			Limits:   admission.Limits{Calls: admission.DefaultUserCalls},
			MaxCalls: admission.DefaultMaxCalls,
			Queue:    admission.Queue{User: admission.DefaultUserWaiting, Time: admission.DefaultQueueTime},
		})
	}
	cfg.MaxExchangeBytes = cmp.Or(cfg.MaxExchangeBytes, DefaultMaxExchangeBytes)
	cfg.ExchangeTimeout = cmp.Or(cfg.ExchangeTimeout, DefaultExchangeTimeout)
	cfg.uploadIdle = cmp.Or(cfg.uploadIdle, uploadIdle)
	if cfg.Telemetry == nil {
		cfg.Telemetry = &telemetry.Telemetry{Health: telemetry.NewHealth()}
	}
	locations, err := parseLocations(cfg.Advertise, cfg.TLSCert != "")
	if err != nil {
		return nil, err
	}
	pair, err := newKeyPair(&cfg, "h2")
	if err != nil {
		return nil, err
	}
	svc := &service{
		cfg: cfg, clientErrors: errorlog.Sampler{Period: cfg.errorPeriod}, locations: locations,
		puts: make(chan struct{}, maxPuts),
	}
	svc.load.maxConnections, svc.load.maxStreams = int64(cfg.MaxConnections), int64(cfg.MaxStreams)
	svc.load.refused = svc.overloaded
	if cfg.SQL != nil {
		svc.sql = sql.New(cfg.SQL, cfg.Catalog.Writable())
	}
	if cfg.Slow > 0 {
		svc.slow = newSlowLog(cfg.SQL, cfg.Log)
	}
	creds := insecure.NewCredentials()
	if pair != nil {
		creds = pair.credentials()
	}
	options := append(svc.options(), grpc.Creds(wire.Credentials(creds, cfg.Admission.Write, svc.refused)))
	options = append(options, cfg.Telemetry.ServerOptions()...)
	s := &Server{
		cfg: cfg, grpc: grpc.NewServer(options...), health: health.NewServer(), sql: svc.sql, load: &svc.load,
		slow: svc.slow, active: &svc.active, service: svc,
	}
	pb.RegisterFlightServiceServer(requestRegistrar{s.grpc, svc}, svc)
	grpc_health_v1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)

	for _, addr := range cfg.Listen {
		l, err := listen(addr, protection{pair != nil, cfg.Login != nil, cfg.Insecure})
		if err != nil {
			s.close()
			return nil, fmt.Errorf("--listen %s: %w", addr, err)
		}
		s.listeners = append(s.listeners, l)
		s.listenShare(addr)
	}
	if err := svc.joinFleet(s.Addrs(), pair != nil); err != nil {
		s.close()
		return nil, err
	}
	svc.observeSources()
	return s, nil
}

func (s *service) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(requestCodec{frame.NewCodec()}),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.InTapHandle(s.load.acquireSlot),
		grpc.MaxRecvMsgSize(s.maxReceiveBytes()),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxConnStreams),
		grpc.WriteBufferSize(0), // wire.Conn gathers what is written
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveAfter, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             keepaliveMinAllowed,
			PermitWithoutStream: true,
		}),
	}
}

// maxReceiveBytes is the size of the largest message that a client may send. Stored tables may come
// in few batches.
func (s *service) maxReceiveBytes() int {
	if s.cfg.Catalog.Writable() {
		return max(maxRequestBytes, s.cfg.MaxMessageBytes)
	}
	return maxRequestBytes
}

// Addrs returns the addresses of the server, host:port or unix:///path, with the ports that the
// system chose for port 0.
func (s *Server) Addrs() []string {
	var addrs []string
	for _, l := range s.listeners {
		addrs = append(addrs, l.name)
	}
	return addrs
}

// Serve answers calls until ctx ends, and for Config.DrainDelay more. Then it accepts no new ones,
// waits up to Config.Drain for those in progress, cancels the rest and returns nil. It returns early
// with the error of a listener that fails. It closes the listeners and removes the socket files.
func (s *Server) Serve(ctx context.Context) error {
	defer s.close()
	s.health.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
	defer s.watch(ctx)()
	s.service.fleet.Start()
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range s.listeners {
		g.Go(func() error {
			if err := s.grpc.Serve(limitListener{l, s.load}); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			return nil
		})
	}
	s.serveShares(g)
	g.Go(func() error {
		<-ctx.Done()
		s.drain()
		s.closeShares()
		return nil
	})
	return g.Wait()
}

func (s *Server) close() {
	for _, l := range s.listeners {
		_ = l.Close() // it may already be closed
	}
	s.closeShares()
	s.service.leaveFleet()
	s.slow.close()
	if s.sql != nil {
		s.sql.Close()
	}
}
