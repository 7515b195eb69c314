package model

import (
	"math"
	"reflect"
	"testing"
)

// small returns a fleet that a test simulates within a second.
func small() Config {
	return Config{
		Seed: 7, Replicas: 4,
		Files:   Files{Count: 3000, Median: 1e6, Sigma: 1, Ratio: 0.7},
		Reads:   Reads{Count: 30_000, Zipf: 0.9, Clients: 40, Info: true, Loads: true},
		Client:  Client{Link: 1e8, RoundTrip: 0.001, CallSeconds: 1e-4, SecondsPerGB: 0.3, Cores: 16},
		Host:    Host{Replicas: 1},
		Replica: Replica{Cores: 4, Slots: 2, Workers: 2, Link: 1e9, CacheBytes: 4e8, Memory: 1e8, Disk: 1e9},
		Costs: Costs{
			InfoSeconds: 2e-4, ReadSeconds: 3e-4, ReadSecondsPerGB: 0.3, OpenSeconds: 5e-4, CheckSecondsPerGB: 0.1,
			ParseSeconds: 0.002, ParseSecondsPerGB: 1.8, SaveSeconds: 0.001, SaveSecondsPerGB: 0.6, PutSeconds: 0.001,
			PutSecondsPerGB: 0.4, FetchSeconds: 0.001, FetchSecondsPerGB: 0.5, StoreSeconds: 0.001,
		},
		Shared: Bucket{Enabled: true, Latency: 0.015, Rate: 1e10, Link: 1e9, Footer: 65536},
		Leases: Leases{Enabled: true, Acquire: 0.002, PollMin: 0.1, PollMax: 0.25, Expiry: 15, Renew: 3},
		Deaths: Deaths{Restart: 20, KeepsDisk: true, Retry: 0.1},
		Placement: Placement{
			Kind: Rendezvous, Cap: 1.05, Free: 8, FreeSent: 64, Age: 3, Keepers: true, Known: 3,
		},
	}
}

// simulate runs a simulation to its end.
func simulate(t *testing.T, c Config) (Result, *Simulation) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(), s
}

// variants are fleets that all laws hold for.
func variants() map[string]Config {
	v := map[string]Config{"rendezvous": small()}
	add := func(name string, change func(c *Config)) {
		c := small()
		change(&c)
		v[name] = c
	}
	add("random", func(c *Config) { c.Placement.Kind = Random })
	add("without info", func(c *Config) { c.Reads.Info = false })
	add("info without loads", func(c *Config) { c.Reads.Loads = false })
	add("present load", func(c *Config) { c.Placement.Age, c.Placement.Keepers = 0, false })
	add("Poisson", func(c *Config) { c.Reads.Rate = 400 })
	add("parts", func(c *Config) { c.Reads.Partial, c.Reads.Fraction = 0.5, 0.05 })
	add("one replica", func(c *Config) { c.Replicas = 1 })
	add("30 replicas", func(c *Config) { c.Replicas = 30; c.Reads.Clients = 200 })
	add("one host", func(c *Config) {
		c.Host.Cores, c.Host.Replicas, c.Client.OnHost, c.Client.Cores, c.Replica.Cores = 2, 4, true, 0, 1
	})
	add("deaths", func(c *Config) { c.Deaths.PerHour = 400 })
	add("deaths without disks", func(c *Config) {
		c.Deaths.PerHour, c.Deaths.KeepsDisk, c.Reads.Rate = 400, false, 300
		c.Reads.Partial, c.Reads.Fraction = 0.3, 0.01
	})
	add("thinking clients", func(c *Config) { c.Reads.Think = 0.5 })
	return v
}

// TestLittle: the mean number of reads in progress is their rate times their mean latency.
func TestLittle(t *testing.T) {
	for name, c := range variants() {
		res, _ := simulate(t, c)
		if want := res.PerSecond * res.Latency.Mean; math.Abs(res.Use.Present/want-1) > 1e-6 {
			t.Errorf("%s: %v reads in progress, want %v", name, res.Use.Present, want)
		}
	}
}

// TestBytesAreConserved compares what reads and loads count with what the links have moved.
func TestBytesAreConserved(t *testing.T) {
	for name, c := range variants() {
		res, s := simulate(t, c)
		if res.Deaths > 0 {
			continue // what a replica had moved before its death is lost
		}
		for s.inWorkLeft() { // uploads go on after the last read
			s.now, _ = s.jobs.Next()
			if at, ok := s.timers.Next(); ok && (at < s.now || s.now == 0) {
				s.now = at
				s.fire(s.timers.Pop())
				continue
			}
			s.end(s.jobs.Pop())
		}
		res = s.summarize()
		links, fetches := 0.0, 0.0
		for _, r := range s.replicas {
			links += s.jobs.Done(r.link, s.now)
			fetches += s.jobs.Done(r.fetch, s.now)
		}
		bucket := s.jobs.Done(s.bucket, s.now)
		for _, x := range []struct {
			what      string
			got, want float64
		}{
			{"links to clients", links, res.Bytes.Clients},
			{"links to the bucket", fetches, res.Bytes.Fetched + res.Bytes.Upload},
			{"the bucket", bucket, res.Bytes.Fetched + res.Bytes.Upload},
		} {
			if math.Abs(x.got/x.want-1) > 1e-5 {
				t.Errorf("%s: %s moved %.0f bytes, want %.0f", name, x.what, x.got, x.want)
			}
		}
		if h := res.Hits; math.Abs(h.Mapped+h.Disk+h.Shared+h.Parse-1) > 1e-9 {
			t.Errorf("%s: the shares of the levels are %+v", name, h)
		}
	}
}

// inWorkLeft reports whether a load is in progress.
func (s *Simulation) inWorkLeft() bool {
	for _, l := range s.loads {
		if l.stage != loadDead {
			return true
		}
	}
	return false
}

// TestEachFileIsParsedOnce: with leases and without deaths there is one parse for each file that was
// read. A death costs at most the parses of its replica.
func TestEachFileIsParsedOnce(t *testing.T) {
	for name, c := range variants() {
		for seed := range uint64(5) {
			c.Seed = seed + 1
			res, _ := simulate(t, c)
			few, many := res.Parses < res.Distinct, res.Parses > res.Distinct+res.Lost
			if few || many || c.Deaths.PerHour == 0 && res.Lost > 0 {
				t.Errorf("%s, seed %d: %d parses of %d files, %d were lost in %d deaths", name, c.Seed,
					res.Parses, res.Distinct, res.Lost, res.Deaths)
			}
			if c.Deaths.PerHour > 0 && res.Deaths == 0 {
				t.Errorf("%s, seed %d: no replica died", name, c.Seed)
			}
		}
		c.Leases.Enabled, c.Deaths.PerHour = false, 0
		c.Costs.ParseSeconds = 1 // so that other replicas come upon the file during the parse
		if res, _ := simulate(t, c); res.Parses <= res.Distinct && c.Replicas > 1 {
			t.Errorf("%s without leases: %d parses of %d files", name, res.Parses, res.Distinct)
		}
	}
}

// TestDeathsLoseParses: owners die while they parse, and others take over their leases.
func TestDeathsLoseParses(t *testing.T) {
	c := small()
	c.Deaths.PerHour, c.Costs.ParseSeconds, c.Placement.Kind = 100, 0.5, Random
	res, _ := simulate(t, c)
	if res.Lost == 0 || res.Takeovers == 0 || res.Takeovers > res.Lost || res.Retries == 0 {
		t.Errorf("%d deaths, %d lost parses, %d takeovers, %d retries",
			res.Deaths, res.Lost, res.Takeovers, res.Retries)
	}
	if res.Parses > res.Distinct+res.Lost {
		t.Errorf("%d parses of %d files, %d were lost", res.Parses, res.Distinct, res.Lost)
	}
}

// TestInfiniteCache: a replica that evicts nothing misses each file once.
func TestInfiniteCache(t *testing.T) {
	c := small()
	c.Replicas, c.Replica.CacheBytes, c.Replica.Memory, c.Reads.Rate = 1, 0, 0, 1 // so slow that reads do not meet
	c.Shared.Enabled = false
	res, _ := simulate(t, c)
	if want := float64(res.Distinct) / float64(res.Reads); math.Abs(res.Hits.Parse-want) > 2e-4 || res.Hits.Disk != 0 {
		t.Errorf("%+v, want a share of %v of parses", res.Hits, want)
	}
}

// TestCacheOfPopularFiles compares the hit rate of the local cache with the approximation of Che, Tung
// and Wang (2002), which is exact for many files.
func TestCacheOfPopularFiles(t *testing.T) {
	const files, room = 5000, 500
	c := small()
	c.Replicas, c.Files, c.Reads = 1, Files{Count: files, Sizes: []float64{1e5}, Ratio: 1}, Reads{
		Count: 400_000, Warmup: 50_000, Zipf: 0.8, Rate: 10,
	}
	c.Replica.CacheBytes, c.Replica.Memory, c.Shared.Full = room*1e5+1, 0, true
	res, _ := simulate(t, c)
	p, total := make([]float64, files), 0.0
	for k := range p {
		p[k] = math.Pow(float64(k+1), -0.8)
		total += p[k]
	}
	low, high := 0.0, 1e9
	hits := 0.0
	for range 200 {
		mid, present := (low+high)/2, 0.0
		hits = 0
		for _, x := range p {
			in := 1 - math.Exp(-x/total*mid)
			present += in
			hits += x / total * in
		}
		if present > room {
			high = mid
		} else {
			low = mid
		}
	}
	if math.Abs(res.Hits.Mapped-hits) > 0.005 {
		t.Errorf("%.4f of the reads hit, want %.4f", res.Hits.Mapped, hits)
	}
}

// bare is a fleet of one replica of which only the time of reads of mapped tables counts.
func bare(cores, seconds, rate float64) Config {
	return Config{
		Seed: 8, Replicas: 1, Files: Files{Count: 1, Sizes: []float64{1}, Ratio: 1},
		Reads:   Reads{Count: 400_000, Warmup: 20_000, Rate: rate},
		Replica: Replica{Cores: cores, Slots: 1, Workers: 1}, Costs: Costs{ReadSeconds: seconds},
		Placement: Placement{Kind: Random},
	}
}

// TestProcessorSharing: the mean time in an M/G/1 queue with processor sharing is S/(1-load), and that in
// one with c servers follows from Erlang's C formula, whatever the distribution of the service.
func TestProcessorSharing(t *testing.T) {
	for _, cores := range []int{1, 2, 4} {
		for _, load := range []float64{0.3, 0.7, 0.9} {
			n := float64(cores)
			res, _ := simulate(t, bare(n, 0.01, load*n/0.01))
			term, sum := 1.0, 0.0
			for k := range cores {
				sum += term
				term *= load * n / float64(k+1)
			}
			waits := term / (1 - load) / (sum + term/(1-load))
			want := 0.01 + waits*0.01/(n*(1-load))
			if math.Abs(res.Latency.Mean/want-1) > 0.04 {
				t.Errorf("%d cores, load %v: mean %v, want %v", cores, load, res.Latency.Mean, want)
			}
			if math.Abs(res.Use.CPU/load-1) > 0.01 {
				t.Errorf("%d cores, load %v: utilisation %v", cores, load, res.Use.CPU)
			}
		}
	}
}

// TestParseSlots: the files that wait for a slot are an M/D/1 queue (Pollaczek and Khinchine).
func TestParseSlots(t *testing.T) {
	for _, load := range []float64{0.3, 0.7, 0.9} {
		c := bare(1, 0, load/0.01)
		c.Costs.ParseSeconds, c.Replica.CacheBytes = 0.01, 0.5 // nothing stays in the cache
		c.Files.Count, c.Reads.Count = 1_000_000, 300_000
		res, _ := simulate(t, c)
		want := 0.01 + load*0.01/(2*(1-load))
		if math.Abs(res.Latency.Mean/want-1) > 0.03 {
			t.Errorf("load %v: mean %v, want %v", load, res.Latency.Mean, want)
		}
	}
}

// TestHostIsShared: the rate of a closed loop is that of the resource that limits it.
func TestHostIsShared(t *testing.T) {
	for _, test := range []struct {
		name     string
		replicas int
		client   float64
		want     float64
	}{
		{"a replica has one core", 1, 0.002, 100},
		{"two replicas and their clients share two cores", 2, 0.005, 2 / 0.015},
		{"four replicas and their clients too", 4, 0.005, 2 / 0.015},
		{"clients that need much", 1, 0.03, 2 / 0.04},
	} {
		c := bare(1, 0, 0) // the mean table has 1 GB
		c.Files = Files{Count: 1000, Median: gb * math.Exp(-0.5), Sigma: 1, Ratio: 1}
		c.Costs.ReadSecondsPerGB, c.Client = 0.01, Client{OnHost: true, SecondsPerGB: test.client}
		c.Replicas, c.Host = test.replicas, Host{Cores: 2, Replicas: test.replicas}
		c.Shared, c.Reads = Bucket{Enabled: true, Full: true}, Reads{Count: 60_000, Warmup: 6000, Clients: 16}
		res, s := simulate(t, c)
		mean := 0.0
		for i := range s.sizes {
			mean += s.size(int32(i)) / float64(len(s.sizes)) / gb
		}
		if math.Abs(res.PerSecond*mean/test.want-1) > 0.03 {
			t.Errorf("%s: %.1f reads per second, want %.1f", test.name, res.PerSecond, test.want)
		}
	}
}

// TestPartsAreFetchedOnce: after k reads of random parts, the share of the table that was fetched is
// 1-(1-fraction)^k.
func TestPartsAreFetchedOnce(t *testing.T) {
	c := small()
	const k, fraction, size = 30, 0.1, 1e6
	c.Replicas, c.Files = 1, Files{Count: 1, Sizes: []float64{size}, Ratio: 1}
	c.Reads = Reads{Count: k, Rate: 0.1, Partial: 1, Fraction: fraction}
	c.Shared.Full = true
	res, _ := simulate(t, c)
	want := size*(1-math.Pow(1-fraction, k)) + k*c.Shared.Footer
	if math.Abs(res.Bytes.Fetched/want-1) > 1e-3 || res.Parses != 0 {
		t.Errorf("%.0f bytes were fetched, want %.0f; %d parses", res.Bytes.Fetched, want, res.Parses)
	}
	if want := k * fraction * size; math.Abs(res.Bytes.Clients/want-1) > 1e-6 {
		t.Errorf("%.0f bytes were sent, want %.0f", res.Bytes.Clients, want)
	}
}

func TestSameSeedGivesSameResult(t *testing.T) {
	for name, c := range variants() {
		first, _ := simulate(t, c)
		again, _ := simulate(t, c)
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s: %+v, then %+v", name, first, again)
		}
		c.Seed++
		if other, _ := simulate(t, c); reflect.DeepEqual(first, other) {
			t.Errorf("%s: another seed has the same result", name)
		}
	}
}

// TestPlacementKeepsTablesInOnePlace: without a cap each file is fetched or parsed by one replica.
func TestPlacementKeepsTablesInOnePlace(t *testing.T) {
	c := small()
	c.Placement, c.Replica.CacheBytes, c.Shared.Full = Placement{Kind: Rendezvous}, 0, true
	c.Reads.Loads = false // by the replica that answers GetFlightInfo
	placed, _ := simulate(t, c)
	if placed.Fetches != placed.Distinct {
		t.Errorf("%d fetches of %d files", placed.Fetches, placed.Distinct)
	}
	c.Reads.Loads = true
	if res, _ := simulate(t, c); res.Fetches < 2*placed.Fetches {
		t.Errorf("%d fetches if GetFlightInfo loads tables, %d if not", res.Fetches, placed.Fetches)
	}
	c.Reads.Loads, c.Placement.Kind = false, Random
	if res, _ := simulate(t, c); res.Fetches < 2*placed.Fetches {
		t.Errorf("%d fetches without placement, %d with it", res.Fetches, placed.Fetches)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"no replicas":    func(c *Config) { c.Replicas = 0 },
		"no files":       func(c *Config) { c.Files.Count = 0 },
		"only a warmup":  func(c *Config) { c.Reads.Warmup = c.Reads.Count },
		"no clients":     func(c *Config) { c.Reads.Clients = 0 },
		"no part":        func(c *Config) { c.Reads.Partial = 0.5 },
		"no placement":   func(c *Config) { c.Placement.Kind = "nearest" },
		"a cap below 1":  func(c *Config) { c.Placement.Cap = 0.9 },
		"no host":        func(c *Config) { c.Client.OnHost = true },
		"no parse slots": func(c *Config) { c.Replica.Slots = 0 },
	} {
		c := small()
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
