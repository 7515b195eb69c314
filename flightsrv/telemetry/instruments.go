package telemetry

import (
	"context"
	"runtime/metrics"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
)

// Sources are the functions that give the present numbers of a server. They are called at each
// collection.
type Sources struct {
	Catalog func() catalog.Stats
	SQL     func() sql.Stats // nil: no SQL
	Clients func() Clients
	Audit   func() audit.Stats // nil: no audit log
	// number of live replicas of the fleet; nil: the server is alone
	Replicas func() int
}

// Clients are the numbers of connections and calls.
type Clients struct {
	Connections        int64 // that are open
	RefusedConnections int64
	Calls              int64 // that are open
	RefusedCalls       int64
}

// snapshot is what one collection reads.
type snapshot struct {
	*Metrics
	catalog catalog.Stats
	sql     *sql.Stats
	clients Clients
	audit   *audit.Stats
	process process

	replicas func() int
}

type process struct{ goroutines, heap int64 }

func readProcess() process {
	samples := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	return process{int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())}
}

// put reports a value with attributes.
type put func(n int64, o ...metric.ObserveOption)

// instrument is an instrument that is read at each collection.
type instrument struct {
	name, unit, doc string
	isGauge         bool                     // else a counter
	read            func(s *snapshot, p put) // nil if seconds is set
	seconds         func(s *snapshot, p func(float64, ...metric.ObserveOption))
}

// histogram describes an instrument that calls record in.
type histogram struct{ name, doc, attributes string }

var histograms = []histogram{
	{"vibeflight.parse.duration", "Time of parses of files, without the wait for a slot.", "engine"},
	{"vibeflight.queue.wait", "Time that parses and calls waited for a slot.", "queue"},
	{
		"vibeflight.first_batch.duration",
		"Time from the beginning of DoGet until its first batch is handed to gRPC.", "source",
	},
}

func of(key, value string) metric.ObserveOption {
	return metric.WithAttributes(attribute.String(key, value))
}

// instruments returns the instruments that are read, in the order of the documentation.
func instruments() []instrument {
	var all []instrument
	counter := func(name, unit, doc string, read func(*snapshot, put)) {
		all = append(all, instrument{name: name, unit: unit, doc: doc, read: read})
	}
	gauge := func(name, unit, doc string, read func(*snapshot, put)) {
		all = append(all, instrument{name: name, unit: unit, doc: doc, isGauge: true, read: read})
	}

	counter("vibeflight.calls", "{call}", "Calls that have ended, by method and status.",
		func(s *snapshot, p put) { s.calls.each(p) })
	gauge("vibeflight.calls.open", "{call}", "Calls in progress.",
		func(s *snapshot, p put) { p(s.clients.Calls) })
	gauge("vibeflight.connections.open", "{connection}", "Open connections of clients.",
		func(s *snapshot, p put) { p(s.clients.Connections) })
	counter("vibeflight.refusals", "{refusal}", "Connections and calls that were refused, by limit.",
		func(s *snapshot, p put) {
			p(s.clients.RefusedConnections, of("limit", "max-connections"))
			p(s.clients.RefusedCalls, of("limit", "max-streams"))
			s.refusals.each(p)
		})
	counter("vibeflight.forwarded.calls", "{call}",
		"Calls that were passed on to another replica, or came from one, by direction.",
		func(s *snapshot, p put) { s.forwarded.each(p) })
	gauge("vibeflight.replicas", "{replica}", "Replicas of the fleet that this one knows to be alive, itself included.",
		func(s *snapshot, p put) {
			if s.replicas != nil {
				p(int64(s.replicas()))
			}
		})
	counter("vibeflight.authentications", "{authentication}", "Checks of credentials, by method and outcome.",
		func(s *snapshot, p put) { s.authentications.each(p) })
	counter("vibeflight.sent.rows", "{row}", "Rows sent to clients.",
		func(s *snapshot, p put) { p(s.sentRows.Load()) })
	counter("vibeflight.sent.size", "By", "Bytes of Arrow messages sent to clients.",
		func(s *snapshot, p put) { p(s.sentBytes.Load()) })

	gauge("vibeflight.catalog.entries", "{entry}", "Entries of the catalog.",
		func(s *snapshot, p put) { p(int64(s.catalog.Entries)) })
	counter("vibeflight.catalog.scans", "{scan}", "Walks over all folders.",
		func(s *snapshot, p put) { p(s.catalog.Scans) })
	all = append(all, instrument{
		name: "vibeflight.catalog.scan.duration", unit: "s", doc: "Time of the last walk over all folders.",
		isGauge: true,
		seconds: func(s *snapshot, p func(float64, ...metric.ObserveOption)) { p(s.catalog.ScanSeconds) },
	})

	counter("vibeflight.parses", "{parse}", "Parses of files that have ended, by format, engine and outcome.",
		func(s *snapshot, p put) { s.parses.each(p) })
	counter("vibeflight.parsed.size", "By", "Bytes of files that were parsed, unpacked, by format and engine.",
		func(s *snapshot, p put) { s.parsedBytes.each(p) })
	gauge("vibeflight.parses.running", "{parse}", "Tables that are being parsed, loaded or waiting for it.",
		func(s *snapshot, p put) { p(int64(s.catalog.Parsing)) })
	counter("vibeflight.batches.read", "{batch}", "Batches of tables that calls read, by reader.",
		func(s *snapshot, p put) {
			p(s.batchesRead.Load(), of("reader", "ticket"))
			if s.sql != nil {
				p(s.sql.BatchesRead, of("reader", "sql"))
			}
		})
	counter("vibeflight.batches.pruned", "{batch}",
		"Batches that calls left out because none of their rows could match, by reader.",
		func(s *snapshot, p put) {
			p(s.batchesPruned.Load(), of("reader", "ticket"))
			if s.sql != nil {
				p(s.sql.BatchesLeftOut, of("reader", "sql"))
			}
		})

	cacheInstruments(counter, gauge)
	leaseInstruments(counter, gauge)
	sharedCacheInstruments(counter, gauge)
	engineInstruments(counter, gauge, func(i instrument) { all = append(all, i) })
	storeInstruments(counter)
	sharedStoreInstruments(counter, gauge)
	sqlInstruments(counter, gauge)

	counter("vibeflight.audit.lines", "{line}", "Lines written to the audit log.", func(s *snapshot, p put) {
		if s.audit != nil {
			p(s.audit.Written)
		}
	})
	counter("vibeflight.audit.dropped", "{line}",
		"Lines that the audit log lost: its queue was full, or a write failed.",
		func(s *snapshot, p put) {
			if s.audit != nil {
				p(s.audit.Dropped)
			}
		})
	gauge("vibeflight.component.up", "", "1 if a component works, 0 if it is stuck.", func(s *snapshot, p put) {
		for name, ok := range s.health.Components() {
			n := int64(0)
			if ok {
				n = 1
			}
			p(n, of("component", name))
		}
	})
	gauge("vibeflight.goroutines", "{goroutine}", "Goroutines of the process.",
		func(s *snapshot, p put) { p(s.process.goroutines) })
	gauge("vibeflight.heap.size", "By", "Bytes of objects on the Go heap.",
		func(s *snapshot, p put) { p(s.process.heap) })
	return all
}

// define adds an instrument.
type define func(name, unit, doc string, read func(*snapshot, put))

func cacheInstruments(counter, gauge define) {
	memory, disk := of("tier", "memory"), of("tier", "disk")
	gauge("vibeflight.cache.tables", "{table}", "Parsed tables in memory (or mapped) and on disk.",
		func(s *snapshot, p put) {
			p(int64(s.catalog.Tables), memory)
			if s.catalog.Cache != nil {
				p(int64(s.catalog.Cache.Tables), disk)
			}
		})
	gauge("vibeflight.cache.size", "By", "Bytes of parsed tables in memory (or mapped) and on disk.",
		func(s *snapshot, p put) {
			p(s.catalog.Bytes, memory)
			if s.catalog.Cache != nil {
				p(s.catalog.Cache.Bytes, disk)
			}
		})
	gauge("vibeflight.cache.limit", "By", "Budgets of the cache: --memory and --cache-bytes.",
		func(s *snapshot, p put) {
			p(s.catalog.BudgetBytes, memory)
			if s.catalog.Cache != nil {
				p(s.catalog.Cache.BudgetBytes, disk)
			}
		})
	gauge("vibeflight.cache.held.size", "By", "Bytes of tables that calls are reading.",
		func(s *snapshot, p put) { p(s.catalog.HeldBytes) })
	counter("vibeflight.cache.hits", "{call}", "Calls that found their table in the cache, by tier.",
		func(s *snapshot, p put) {
			p(s.catalog.Hits, memory)
			if s.catalog.Cache != nil {
				p(s.catalog.Cache.Loads, disk)
			}
		})
	counter("vibeflight.cache.misses", "{call}", "Calls that did not find their table in memory.",
		func(s *snapshot, p put) { p(s.catalog.Misses) })
	counter("vibeflight.cache.shared", "{call}", "Calls that joined the parse of another call.",
		func(s *snapshot, p put) { p(s.catalog.Shared) })
	counter("vibeflight.cache.evictions", "{table}", "Tables removed for a budget, by tier.",
		func(s *snapshot, p put) {
			p(s.catalog.Evictions, memory)
			if s.catalog.Cache != nil {
				p(s.catalog.Cache.Evictions, disk)
			}
		})
	counter("vibeflight.cache.save.errors", "{table}", "Tables that could not be written to the cache on disk.",
		func(s *snapshot, p put) {
			if s.catalog.Cache != nil {
				p(s.catalog.Cache.SaveErrors)
			}
		})
}

func engineInstruments(counter, gauge define, add func(instrument)) {
	devices := func(value func(catalog.DeviceStats) int64) func(*snapshot, put) {
		return func(s *snapshot, p put) {
			if s.catalog.Engines != nil {
				for i, d := range s.catalog.Engines.Devices {
					p(value(d), of("device", strconv.Itoa(i)))
				}
			}
		}
	}
	gauge("vibeflight.gpu.memory.used", "By", "Memory of a GPU that this process uses.",
		devices(func(d catalog.DeviceStats) int64 { return d.UsedBytes }))
	gauge("vibeflight.gpu.memory.limit", "By", "Memory of a GPU.",
		devices(func(d catalog.DeviceStats) int64 { return d.MemoryBytes }))
	counter("vibeflight.gpu.faults", "{fault}", "Faults of a GPU.",
		devices(func(d catalog.DeviceStats) int64 { return d.Faults }))
	counter("vibeflight.gpu.chunks", "{chunk}", "Chunks that GPUs parsed, by format.", func(s *snapshot, p put) {
		if s.catalog.Engines != nil {
			for format, c := range s.catalog.Engines.Formats {
				p(c.Chunks, of("format", format))
			}
		}
	})
	counter("vibeflight.gpu.refusals", "{chunk}", "Chunks that GPUs left to the CPU engine, by format.",
		func(s *snapshot, p put) {
			if s.catalog.Engines != nil {
				for format, c := range s.catalog.Engines.Formats {
					p(c.Refused, of("format", format))
				}
			}
		})
	add(instrument{
		name: "vibeflight.gpu.stage.duration", unit: "s",
		doc: "Time of chunks in each stage of the GPU engine, summed; chunks overlap.",
		seconds: func(s *snapshot, p func(float64, ...metric.ObserveOption)) {
			if s.catalog.Engines == nil {
				return
			}
			var read, upload, work float64
			for _, c := range s.catalog.Engines.Formats {
				read, upload, work = read+c.Stages.ReadSeconds, upload+c.Stages.UploadSeconds, work+c.Stages.WorkSeconds
			}
			p(read, of("stage", "read"))
			p(upload, of("stage", "upload"))
			p(work, of("stage", "work"))
		},
	})
}

func storeInstruments(counter define) {
	total := func(value func(catalog.StoreStats) int64) func(*snapshot, put) {
		return func(s *snapshot, p put) {
			if len(s.catalog.Stores) == 0 {
				return
			}
			var n int64
			for _, one := range s.catalog.Stores {
				n += value(one)
			}
			p(n)
		}
	}
	counter("vibeflight.store.requests", "{request}", "Ranged reads of object stores, with their repetitions.",
		total(func(s catalog.StoreStats) int64 { return s.Requests }))
	counter("vibeflight.store.retries", "{request}", "Requests to object stores that repeat a failed one.",
		total(func(s catalog.StoreStats) int64 { return s.Retries }))
	counter("vibeflight.store.hedges", "{request}", "Requests for what a slow request was to bring.",
		total(func(s catalog.StoreStats) int64 { return s.Hedges }))
	counter("vibeflight.store.received.size", "By", "Bytes received from object stores.",
		total(func(s catalog.StoreStats) int64 { return s.Bytes }))
}

func sqlInstruments(counter, gauge define) {
	value := func(read func(*sql.Stats) int64) func(*snapshot, put) {
		return func(s *snapshot, p put) {
			if s.sql != nil {
				p(read(s.sql))
			}
		}
	}
	counter("vibeflight.sql.queries", "{query}", "Runs of SQL queries.",
		value(func(s *sql.Stats) int64 { return s.Queries }))
	counter("vibeflight.sql.failures", "{query}", "Runs of SQL queries that failed.",
		value(func(s *sql.Stats) int64 { return s.Failed }))
	gauge("vibeflight.sql.statements", "{statement}", "Prepared queries that are open.",
		value(func(s *sql.Stats) int64 { return int64(s.Statements) }))
	gauge("vibeflight.sql.results", "{result}", "Results that wait for their fetch, or are being fetched.",
		value(func(s *sql.Stats) int64 { return int64(s.Results) }))
	gauge("vibeflight.sql.sessions", "{session}", "Sessions with options of their own.",
		value(func(s *sql.Stats) int64 { return int64(s.Sessions) }))
}

// Observe sets the sources of the numbers that are read. Before it is called, they are absent.
func (m *Metrics) Observe(s Sources) {
	if m != nil {
		m.sources.Store(&s)
	}
}

// register creates the instruments that are read, with one function that reads them all.
func (m *Metrics) register() error {
	var all []metric.Observable
	var reads []func(*snapshot, metric.Observer)
	for _, i := range m.instruments {
		at, read, err := i.create(m.meter)
		if err != nil {
			return err
		}
		all, reads = append(all, at), append(reads, read)
	}
	_, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		from := m.sources.Load()
		if from == nil {
			return nil
		}
		s := &snapshot{Metrics: m, catalog: from.Catalog(), clients: from.Clients(), process: readProcess()}
		s.replicas = from.Replicas
		if from.SQL != nil {
			of := from.SQL()
			s.sql = &of
		}
		if from.Audit != nil {
			of := from.Audit()
			s.audit = &of
		}
		for _, read := range reads {
			read(s, o)
		}
		return nil
	}, all...)
	return err
}

// create creates the instrument of an SDK, and returns the function that reads it.
func (i instrument) create(meter metric.Meter) (metric.Observable, func(*snapshot, metric.Observer), error) {
	if i.seconds != nil {
		at, err := i.createSeconds(meter)
		return at, func(s *snapshot, o metric.Observer) {
			i.seconds(s, func(v float64, options ...metric.ObserveOption) { o.ObserveFloat64(at, v, options...) })
		}, err
	}
	var at metric.Int64Observable
	var err error
	if i.isGauge {
		at, err = meter.Int64ObservableGauge(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.doc))
	} else {
		at, err = meter.Int64ObservableCounter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.doc))
	}
	return at, func(s *snapshot, o metric.Observer) {
		i.read(s, func(n int64, options ...metric.ObserveOption) { o.ObserveInt64(at, n, options...) })
	}, err
}

func (i instrument) createSeconds(meter metric.Meter) (metric.Float64Observable, error) {
	if i.isGauge {
		return meter.Float64ObservableGauge(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.doc))
	}
	return meter.Float64ObservableCounter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.doc))
}
