package telemetry

import (
	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
)

// numbers returns a function that makes readers of numbers which only some servers have. of returns
// them, or nil.
func numbers[T any](of func(*catalog.Stats) *T) func(read func(*T) int64) func(*snapshot, put) {
	return func(read func(*T) int64) func(*snapshot, put) {
		return func(s *snapshot, p put) {
			if n := of(&s.catalog); n != nil {
				p(read(n))
			}
		}
	}
}

// asNumber is 1 for true.
func asNumber(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// leaseInstruments are those of the leases of parses.
func leaseInstruments(counter, gauge define) {
	value := numbers(func(s *catalog.Stats) *lease.Stats { return s.Leases })
	gauge("vibeflight.lease.held", "{lease}", "Leases of parses that this replica has.",
		value(func(s *lease.Stats) int64 { return int64(s.Held) }))
	gauge("vibeflight.lease.waiting", "{parse}", "Tables that wait for the parse of another replica.",
		value(func(s *lease.Stats) int64 { return int64(s.Waiting) }))
	counter("vibeflight.lease.acquired", "{lease}", "Leases of parses that this replica acquired.",
		value(func(s *lease.Stats) int64 { return s.Acquired }))
	counter("vibeflight.lease.waits", "{wait}", "Waits for the parse of another replica.",
		value(func(s *lease.Stats) int64 { return s.Waits }))
	counter("vibeflight.lease.takeovers", "{lease}", "Acquired leases that their former owner had let expire.",
		value(func(s *lease.Stats) int64 { return s.Takeovers }))
	counter("vibeflight.lease.lost", "{lease}", "Leases that this replica could not renew in time.",
		value(func(s *lease.Stats) int64 { return s.Lost }))
	counter("vibeflight.lease.unavailable", "{parse}",
		"Parses without a lease, because the store of the fleet was away.",
		value(func(s *lease.Stats) int64 { return s.Unavailable }))
}

// sharedCacheInstruments are those of the tables that servers share.
func sharedCacheInstruments(counter, gauge define) {
	value := numbers(func(s *catalog.Stats) *sharedcache.Stats { return s.SharedCache })
	gauge("vibeflight.shared_cache.away", "", "1 while the shared cache does not answer, else 0.",
		value(func(s *sharedcache.Stats) int64 { return asNumber(s.Away) }))
	counter("vibeflight.shared_cache.hits", "{table}", "Tables that were opened in the shared cache.",
		value(func(s *sharedcache.Stats) int64 { return s.Hits }))
	counter("vibeflight.shared_cache.misses", "{table}",
		"Tables that the shared cache does not have, or that could not be opened there.",
		value(func(s *sharedcache.Stats) int64 { return s.Misses }))
	counter("vibeflight.shared_cache.fetched", "By", "Bytes fetched from the shared cache.",
		value(func(s *sharedcache.Stats) int64 { return s.FetchedBytes }))
	counter("vibeflight.shared_cache.uploads", "{table}", "Tables that this server stored in the shared cache.",
		value(func(s *sharedcache.Stats) int64 { return s.Uploads }))
	counter("vibeflight.shared_cache.uploaded", "By", "Bytes of the tables that this server stored there.",
		value(func(s *sharedcache.Stats) int64 { return s.UploadedBytes }))
	counter("vibeflight.shared_cache.failures", "{request}", "Requests to the shared cache that failed.",
		value(func(s *sharedcache.Stats) int64 { return s.Failures }))
	counter("vibeflight.shared_cache.skipped", "{request}",
		"Requests that were not made because the shared cache did not answer.",
		value(func(s *sharedcache.Stats) int64 { return s.Skipped }))
	counter("vibeflight.shared_cache.expired", "{table}",
		"Tables that this server removed from the shared cache for age or budget.",
		value(func(s *sharedcache.Stats) int64 { return s.Expired }))
}

// sharedStoreInstruments are those of the records that servers share.
func sharedStoreInstruments(counter, gauge define) {
	value := numbers(func(s *catalog.Stats) *shared.Stats { return s.SharedStore })
	gauge("vibeflight.shared_store.up", "", "1 if the store that servers share answers, 0 if it is away.",
		value(func(s *shared.Stats) int64 { return asNumber(!s.Away) }))
	counter("vibeflight.shared_store.calls", "{call}", "Calls of the shared store.",
		value(func(s *shared.Stats) int64 { return s.Calls }))
	counter("vibeflight.shared_store.failures", "{call}", "Calls that the shared store did not answer.",
		value(func(s *shared.Stats) int64 { return s.Failures }))
	counter("vibeflight.shared_store.skipped", "{call}", "Calls that were not made because the shared store was away.",
		value(func(s *shared.Stats) int64 { return s.Skipped }))
	counter("vibeflight.shared_store.outages", "{outage}", "Times that the shared store went away.",
		value(func(s *shared.Stats) int64 { return s.Outages }))
	counter("vibeflight.shared_store.hits", "{record}",
		"Records that were found, by source: the shared store or this server alone.",
		func(s *snapshot, p put) {
			if stats := s.catalog.SharedStore; stats != nil {
				p(stats.Hits, of("source", "shared"))
				p(stats.LocalHits, of("source", "local"))
			}
		})
	gauge("vibeflight.shared_store.records.pending", "{record}", "Records that the shared store missed and will get.",
		value(func(s *shared.Stats) int64 { return int64(s.Pending) }))
	counter("vibeflight.shared_store.records.late", "{record}", "Records that the shared store got after an outage.",
		value(func(s *shared.Stats) int64 { return s.Late }))
	counter("vibeflight.shared_store.records.rejected", "{record}", "Records that the shared store did not accept.",
		value(func(s *shared.Stats) int64 { return s.Rejected }))
}
