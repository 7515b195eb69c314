// Package telemetry is the metrics, traces and health of a server.
//
// Metrics are kept by one OpenTelemetry SDK and leave in two ways: as the Prometheus text format at
// /metrics, and by OTLP over HTTP. Traces leave by OTLP only. The SDK reads the OTEL_ variables of
// the OpenTelemetry specification itself.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	experimental "google.golang.org/grpc/experimental/opentelemetry"
	"google.golang.org/grpc/stats/opentelemetry"
)

// Config says which signals leave the process.
type Config struct {
	Prometheus bool   // collect metrics for Telemetry.Handler
	Version    string // of the server
	Log        zerolog.Logger
}

// Telemetry is the metrics, traces and health of one server. The zero value and nil have none.
type Telemetry struct {
	Metrics *Metrics // nil: no metrics leave the process
	Health  *Health

	registry *prometheus.Registry // nil: no Prometheus
	meters   *metric.MeterProvider
	traces   *trace.TracerProvider
}

// New starts what the configuration and the OTEL_ variables enable. The caller calls Shutdown.
func New(ctx context.Context, cfg Config) (*Telemetry, error) {
	t := &Telemetry{Health: NewHealth()}
	metricsOut, err := exports("METRICS")
	if err != nil {
		return nil, err
	}
	tracesOut, err := exports("TRACES")
	if err != nil {
		return nil, err
	}
	if !cfg.Prometheus && !metricsOut && !tracesOut {
		return t, nil
	}
	otel.SetErrorHandler(exportErrors(cfg.Log))
	// Detection of a resource may fail in part; what was found is used.
	of, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "vibeflight"), attribute.String("service.version", cfg.Version),
	), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if cfg.Prometheus || metricsOut {
		if err := t.startMetrics(ctx, cfg.Prometheus, metricsOut, of); err != nil {
			return nil, err
		}
	}
	if tracesOut {
		out, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("OTLP traces: %w", err)
		}
		t.traces = trace.NewTracerProvider(trace.WithResource(of), trace.WithBatcher(out))
	}
	return t, nil
}

// startMetrics starts the SDK with its readers.
func (t *Telemetry) startMetrics(ctx context.Context, prom, otlp bool, of *resource.Resource) error {
	options := []metric.Option{metric.WithResource(of)}
	for _, v := range views() {
		options = append(options, metric.WithView(v))
	}
	if prom {
		t.registry = prometheus.NewRegistry()
		t.registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		reader, err := otelprometheus.New(otelprometheus.WithRegisterer(t.registry), otelprometheus.WithoutScopeInfo())
		if err != nil {
			return fmt.Errorf("/metrics: %w", err)
		}
		options = append(options, metric.WithReader(reader))
	}
	if otlp {
		out, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return fmt.Errorf("OTLP metrics: %w", err)
		}
		options = append(options, metric.WithReader(metric.NewPeriodicReader(out)))
	}
	t.meters = metric.NewMeterProvider(options...)
	var err error
	t.Metrics, err = newMetrics(t.meters.Meter("vibeflight"), t.Health)
	return err
}

// exports reports whether the OTEL_ variables enable the OTLP export of a signal, METRICS or TRACES.
// It refuses protocols other than http/protobuf.
func exports(signal string) (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	if to := os.Getenv("OTEL_" + signal + "_EXPORTER"); to != "" && to != "otlp" {
		return false, nil
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") == "" {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := os.Getenv(name); p != "" {
			if p != "http/protobuf" {
				return false, fmt.Errorf("%s: %q is not supported: use http/protobuf (port 4318 of a collector)",
					name, p)
			}
			break
		}
	}
	return true, nil
}

// exportErrors logs the errors of exporters, at most one a minute.
func exportErrors(log zerolog.Logger) otel.ErrorHandler {
	var mu sync.Mutex
	var last time.Time
	return otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > time.Minute {
			last = time.Now()
			log.Warn().Err(err).Msg("metrics or traces could not be exported")
		}
	})
}

// ServerOptions returns the options with which gRPC counts and traces the calls of a server.
func (t *Telemetry) ServerOptions() []grpc.ServerOption {
	if t == nil || t.meters == nil && t.traces == nil {
		return nil
	}
	var o opentelemetry.Options
	if t.meters != nil {
		o.MetricsOptions = opentelemetry.MetricsOptions{
			MeterProvider: t.meters, MethodAttributeFilter: hasOwnSeries,
			Metrics: opentelemetry.DefaultMetrics(),
		}
	}
	if t.traces != nil {
		o.TraceOptions = experimental.TraceOptions{
			TracerProvider: t.traces, TextMapPropagator: propagation.TraceContext{},
		}
	}
	return []grpc.ServerOption{opentelemetry.ServerOption(o)}
}

// hasOwnSeries reports whether a method has series of its own. All others are "other".
func hasOwnSeries(method string) bool {
	return strings.HasPrefix(method, "/arrow.flight.protocol.FlightService/") ||
		strings.HasPrefix(method, "/grpc.health.v1.Health/")
}

// Handler returns the handler of /metrics, or nil without Config.Prometheus.
func (t *Telemetry) Handler() http.Handler {
	if t.registry == nil {
		return nil
	}
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Shutdown exports what is not yet exported, within the time of ctx.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	if t.traces != nil {
		errs = append(errs, t.traces.Shutdown(ctx))
	}
	if t.meters != nil {
		errs = append(errs, t.meters.Shutdown(ctx))
	}
	return errors.Join(errs...)
}
