package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
)

// Upper bounds of histograms, in seconds.
var (
	callBounds  = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60}
	parseBounds = []float64{0.01, 0.05, 0.25, 1, 5, 25, 120, 600}
	waitBounds  = []float64{0.001, 0.01, 0.1, 1, 10, 60}
)

// views bound the number of series. gRPC's own histograms have 41 and 14 buckets for each method
// and status, thousands of series in all. Here they are by method alone, with 8 buckets for
// durations, and sum and count for sizes. vibeflight.calls has the statuses.
func views() []metric.View {
	method := attribute.NewAllowKeysFilter("grpc.method")
	stream := func(bounds []float64) metric.Stream {
		return metric.Stream{
			AttributeFilter: method,
			Aggregation:     metric.AggregationExplicitBucketHistogram{Boundaries: bounds, NoMinMax: true},
		}
	}
	return []metric.View{
		metric.NewView(metric.Instrument{Name: "grpc.server.call.duration"}, stream(callBounds)),
		metric.NewView(metric.Instrument{Name: "grpc.server.call.sent_total_compressed_message_size"},
			stream([]float64{})),
		metric.NewView(metric.Instrument{Name: "grpc.server.call.rcvd_total_compressed_message_size"},
			stream([]float64{})),
	}
}
