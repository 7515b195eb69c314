# The commands for daily work. `make help` lists them.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO        ?= go
PYTHON    ?= python3
FUZZ_SECS ?= 1
ROUNDS    ?= 3
STATEMENTS ?= 5000
SWEEP     ?= 300

BIN     := bin/vibeflight
PY      := .venv/bin/python
VENV    := .venv/.installed
CONSOLE := flightsrv/web/console/node_modules/.package-lock.json
# Without Node the tests of the console and of the Arrow library for JavaScript are left out.
BROWSER := $(if $(shell command -v npm),$(patsubst %,integration/%/node_modules/.package-lock.json,web http clients/javascript))
DISTRIBUTED := .venv-distributed/.installed
SITE    := .venv-site/.installed
BI      := .venv-bi/.installed
LINT    := .tools/golangci-lint-v2.15.0
STORES  := build/stores
CHART   := build/chart
COMPOSE := build/compose
CLANG   := .tools/clang-format-20.1.8/bin/clang-format
# Tools of make release and make audit, each by its version.
NFPM      := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
CYCLONEDX := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
VULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
RELEASERS := .tools/nfpm .tools/cyclonedx-gomod
LINTERS := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Build information has the commit for `vibeflight version`, if there is one.
BUILDVCS := $(shell git rev-parse --verify -q HEAD >/dev/null 2>&1 && echo auto || echo false)

# Build with CUDA if its headers could be fetched: the same binary runs with and without a driver. CUDA=off builds without.
CUDA      ?= on
WITH_CUDA = $(shell [ $(CUDA) = on ] && [ -e .cuda/include/cuda.h ] && echo 'GOFLAGS=-tags=cuda CGO_CFLAGS="-O2 -g -I$(CURDIR)/.cuda/include"')
# Tests and checks build without the clients of object stores, which take minutes to compile; make test-stores has them.
CHECK      = GOFLAGS=-tags=nocloud
CHECK_CUDA = $(subst -tags=cuda,-tags=cuda$(comma)nocloud,$(or $(WITH_CUDA),GOFLAGS=-tags=nocloud))
comma     := ,
# Tests and checks build without cmd/vibeflight/default.pgo: with it every package would be compiled a second time for the tests of cmd/vibeflight.
PLAIN     := -pgo=off
# Tests that compile kernels look for NVRTC here.
NVRTC     := $(CURDIR)/.cuda/lib/libnvrtc.so.12

KERNEL_FILES = $(wildcard kernels/*.cu kernels/*.cuh kernels/*/*.cu kernels/*/*.cuh)
# Folders of kernels, each with its tests.
KERNELS   := $(patsubst %/main_test.go,%,$(wildcard kernels/*/main_test.go))

##@ Use
.PHONY: help build console sample demo site notebooks bench bench-fleet bench-reproject bench-sql bench-share bench-siege bench-stores bench-wire images wheels release programs
help: ## list the targets
	@awk -F ':.*## ' '/^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: cuda ## compile bin/vibeflight, with CUDA if its headers can be fetched
	$(BUILD) -buildvcs=$(BUILDVCS) -o $(BIN) ./cmd/vibeflight

BUILD = $(WITH_CUDA) $(GO) build -trimpath
# The clients of make test read a server of the packages that its other checks have compiled: without a profile, and without clients of object stores
# where there are none to read.
test: BUILD = $(if $(wildcard $(STORES)),$(WITH_CUDA) $(GO) build -trimpath,$(CHECK_CUDA) $(GO) build $(PLAIN))

console: $(CONSOLE) ## check the types of the console's sources, and build flightsrv/web/console/assets; needs Node
	cd flightsrv/web/console && node_modules/.bin/tsc && node build.mjs

sample: $(VENV) ## write data/world/countries.geojson, and let .venv/bin/python import vibeflight
	$(PY) integration/naturalearth.py data/world/countries.geojson
	$(PY) -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "vibeflight.pth").write_text("$(CURDIR)/clients/python/src\n")'

demo: build $(VENV) ## serve Natural Earth and generated buildings, read them with GeoPandas, compare with pyogrio
	$(PY) integration/demo/demo.py

site: $(SITE) ## build/site, the project's page, from docs/; open build/site/index.html in a browser
	.venv-site/bin/python integration/site/build.py

notebooks: build $(VENV) ## run docs/tutorial/*.ipynb, and write what their cells give
	$(PY) integration/notebooks.py

bench: build $(VENV) ## measure against DuckDB, GDAL and others on the same files, ROUNDS=3, FILES=points.csv,places.kml for some of them
	$(PY) integration/bench/bench.py --rounds $(ROUNDS) $(if $(FILES),--files $(FILES))

bench-sql: build spatial $(VENV) ## measure SQL against DuckDB over a table of its own
	$(PY) integration/bench/sql.py --rounds $(ROUNDS)

bench-fleet: build $(VENV) ## measure fleets of 1, 2 and 4 one-core servers, and what integration/fleetsim needs to predict them; needs PostgreSQL
	$(PY) integration/bench/fleets.py --json build/fleet.json
	$(GO) run $(PLAIN) ./integration/fleetsim -compare build/fleet.json

bench-share: build $(VENV) ## measure how a client of the same host maps a cached table of 10 GB; needs 12 GB of disk
	$(PY) integration/bench/share.py --rounds $(ROUNDS)

bench-siege: build spatial $(VENV) ## measure what other clients notice of STATEMENTS=5000 that crash, burn or fill a worker
	$(PY) integration/bench/siege.py --statements $(STATEMENTS)

bench-stores: build spatial stores $(VENV) ## measure reads from an object store with 10 ms latency against curl, DuckDB, GDAL and pyarrow, 0.5 and 1 GB
	$(GO) test -c $(PLAIN) -o build/readfile.test ./readers/remote/cloud
	$(PY) integration/bench/stores.py --rounds $(ROUNDS)

bench-wire: build $(VENV) ## measure DoGet against pyarrow's own server over TCP, TLS and a socket, 1 GB each time
	$(PY) integration/bench/wire.py --rounds $(ROUNDS)

bench-reproject: build $(VENV) ## compare reprojected positions with PROJ's, and measure one core
	$(PY) integration/bench/reproject.py --json build/reprojection.json

images: nvrtc cuda ## compile the kernels for every architecture into kernels/images.zip, which a build with the tag images contains
	$(WITH_CUDA) $(GO) run ./kernels/internal/images -nvrtc $(NVRTC) -o kernels/images.zip

# Platforms of packages: PLATFORMS=linux-amd64 for one of them.
PLATFORMS ?= linux-amd64 linux-arm64 darwin-arm64 darwin-amd64 windows-amd64

programs: cuda ## compile build/dist/PLATFORM/vibeflight for PLATFORMS, by Zig for Linux; compiles for minutes
	for platform in $(PLATFORMS); do packaging/build $$platform; done

wheels: programs ## build/wheels: the Python package with the program in it, for PLATFORMS
	rm -rf build/wheels
	for platform in $(PLATFORMS); do packaging/wheel $$platform; done

release: programs $(RELEASERS) ## build/release: archives, deb, rpm, Homebrew formula, SBOM, changelog and checksums of PLATFORMS
	$(PYTHON) packaging/release.py

##@ Check
.PHONY: test test-long test-go test-stores test-sweep test-clients test-bi test-distributed test-images test-packages test-arm64 audit lint vet fuzz nocgo platforms cli-docs performance docs gpu-check gpu-check-build nvrtc
test: lint docs fuzz test-go test-sweep test-clients ## everything below that needs no GPU, in some minutes

test-long: platforms build nvrtc spatial java $(CHART) $(COMPOSE) $(VENV) $(SITE) test-stores test-bi test-distributed test-packages test-arm64 ## the slow sweeps too: what go test -short leaves out, a minute of each fuzz target, two thousand cancelled clients
	VIBEFLIGHT_NVRTC=$(NVRTC) $(CHECK_CUDA) $(GO) test $(PLAIN) -json -race -timeout 60m ./... | $(PYTHON) .ci/gotest.py
	$(CHECK) .ci/fuzz 60
	$(PY) -m pytest integration --long
	$(PY) -m pytest clients/python

# Tests that take minutes with the race detector: of parsers, whose workers share what readers/internal/parallel gives them, which the other formats and
# readers/all test with it, of the simulation, which has one goroutine, and of the command line, whose scripts start hundreds of
# processes of what flightsrv tests with it. make test-long has it for all. make lint runs integration/lint.
LONG_RACES := /(readers/(csv|geojson|esrijson|topojson|wkt|dbf|kml|shapefile|gml|gpx|filegdb)|integration/fleetsim/model|cmd/vibeflight)$$

test-go: build nvrtc spatial ## Go tests, with the race detector but for the longest; kernels run on the CPU and are compiled for every architecture
	VIBEFLIGHT_NVRTC=$(NVRTC) $(CHECK_CUDA) $(GO) test $(PLAIN) -json -race -short -timeout 20m \
		$$($(CHECK) $(GO) list ./... | grep -vE '$(LONG_RACES)|/integration/lint$$') | $(PYTHON) .ci/gotest.py
	VIBEFLIGHT_NVRTC=$(NVRTC) $(CHECK_CUDA) $(GO) test $(PLAIN) -json -short -timeout 20m \
		$$($(CHECK) $(GO) list ./... | grep -E '$(LONG_RACES)') | $(PYTHON) .ci/gotest.py

test-stores: build stores $(VENV) ## reads of S3, GCS, Azure and web servers that the tests start, and 10,000 faults; compiles for minutes
	cd integration/stores && ../../$(LINT) run ./... && $(GO) vet ./... && $(GO) test -json -timeout 10m ./... | $(PYTHON) ../../.ci/gotest.py
	$(LINT) run ./readers/remote/...
	VIBEFLIGHT_STORES=require $(GO) test $(PLAIN) -json -timeout 60m ./readers/remote/... | $(PYTHON) .ci/gotest.py
	VIBEFLIGHT_STORES=require $(GO) test $(PLAIN) -json -timeout 10m -run DatasetOfStore ./catalog | $(PYTHON) .ci/gotest.py
	VIBEFLIGHT_STORES=require $(PY) -m pytest integration/test_stores.py

test-sweep: cuda ## SWEEP=300 random documents, most with mistakes, by the emulated GPU and by the CPU engine, 30 of CSV, WKT, DBF, shapefiles, KML and GML; without the race detector
	VIBEFLIGHT_SWEEP=$(SWEEP) $(CHECK_CUDA) $(GO) test -v -count=1 -timeout 30m -run 'TestDeviceSweep$$' ./readers/geojson
	VIBEFLIGHT_SWEEP=$$(($(SWEEP) / 10)) $(CHECK_CUDA) $(GO) test -count=1 -timeout 30m -run 'TestDeviceSweep$$' ./readers/csv ./readers/wkt ./readers/dbf ./readers/shapefile ./readers/kml ./readers/gml

test-clients: build spatial java $(VENV) $(BROWSER) ## our Python package, pyarrow, GeoPandas, DuckDB, Polars, GDAL, ADBC, JDBC and Chromium against the running server
	$(PY) -m pytest integration
	cd clients/python && ../../.venv/bin/ruff check . && ../../.venv/bin/ruff format --check . && ../../.venv/bin/mypy
	$(PY) -m pytest clients/python
	if [ -e $(BI) ]; then $(MAKE) test-bi; fi
	if [ -e $(DISTRIBUTED) ]; then $(MAKE) test-distributed; fi

test-bi: build spatial $(BI) ## SQLAlchemy 2 with pandas, and dbt; their packages take 1 GB, so make test only has them if they are here
	.venv-bi/bin/python -m pytest integration/test_sqlalchemy.py integration/test_dbt.py

test-distributed: build $(STORES) $(DISTRIBUTED) ## Spark, Ray, Dask and Daft read tables through our Python package; their packages take 1.5 GB, so make test only has them if they are here
	.venv-distributed/bin/python -m pytest integration/test_distributed.py

test-images: build $(COMPOSE) $(VENV) ## the container images, built by buildah or below a chroot, each on a read-only root as an unknown user; needs root
	$(PY) -m pytest integration/test_images.py integration/test_deploy.py --long -s

test-packages: wheels release $(VENV) ## install the wheel and the Debian package in a clean root, and build both twice; needs root and debootstrap
	$(PY) -m pytest integration/test_packages.py --long -rs

test-arm64: $(VENV) ## the program and the tests of formats for arm64, by qemu-aarch64-static; skipped and counted without it
	packaging/build linux-arm64
	$(PY) -m pytest integration/test_arm64.py --long -rs

# DB=file:///path takes govulncheck's database from a folder.
audit: release .tools/govulncheck ## known vulnerabilities of what the program calls, and licences of its modules: docs/reference/licences.md
	$(PYTHON) .ci/audit.py build/release/vibeflight-*.cdx.json >build/licences.md
	mv build/licences.md docs/reference/licences.md
	$(WITH_CUDA) .tools/govulncheck $(if $(DB),-db $(DB)) ./cmd/vibeflight || { found=$$?; \
		[ $$found = 3 ] || echo "audit: govulncheck checked nothing; without its server, DB=file:///path takes a copy of its database" >&2; exit $$found; }

lint: vet $(LINT) $(CLANG) ## style, import directions, names, sizes, and types for other systems: .golangci.yml, .clang-format, integration/lint
	GOFLAGS='$(PLAIN) -tags=nocloud' $(LINT) run ./...
	$(CHECK_CUDA) $(LINT) run ./gpu/... ./kernels/...
	$(CLANG) --dry-run -Werror $(KERNEL_FILES)
	$(CHECK) $(GO) test $(PLAIN) -timeout 30m ./integration/lint

vet: cuda
	$(CHECK) $(GO) vet $(PLAIN) ./...
	$(CHECK_CUDA) $(GO) vet $(PLAIN) ./gpu/...

fuzz: ## every fuzz target for FUZZ_SECS=1 second
	$(CHECK) .ci/fuzz $(FUZZ_SECS)

platforms: ## the server builds for every platform, without C, and go vet for other systems; make lint checks types for macOS and Windows
	for platform in darwin/arm64 freebsd/amd64 windows/amd64; do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 $(CHECK) $(GO) vet $(PLAIN) ./...; \
	done
	for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 freebsd/amd64 windows/amd64 windows/arm64; do \
		echo "$$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 $(CHECK) $(GO) build $(PLAIN) -trimpath -buildvcs=false -o /dev/null ./cmd/vibeflight; \
	done

nocgo: ## the server builds without C; make lint checks types without it, make platforms has it for each platform
	CGO_ENABLED=0 $(CHECK) $(GO) build $(PLAIN) -buildvcs=false -o /dev/null ./cmd/vibeflight

cli-docs: ## write docs/reference/cli.md again, from the commands
	$(GO) generate ./cmd/vibeflight

performance: $(VENV) ## write docs/performance.md and the README's figures again, from integration/bench/results
	$(PY) integration/bench/render.py

docs: ## every link in the docs leads somewhere
	$(PYTHON) .ci/links.py

gpu-check: gpu-check-build ## everything a machine with a GPU must pass: tests on the GPU, the sanitizers, GB/s of each kernel
	build/gpu-check/run

gpu-check-build: cuda build images ## what gpu-check runs, for a machine with a GPU and without Go: copy build/gpu-check there
	mkdir -p build/gpu-check
	for package in gpu gpu/internal/cuda kernels $(KERNELS) readers/slots readers/internal/device readers/geojson readers/csv readers/wkt readers/dbf readers/shapefile readers/kml readers/gml; do \
		$(WITH_CUDA) $(GO) test -c -trimpath -ldflags='-s -w' -o build/gpu-check/$${package//\//-}.test ./$$package; \
	done
	if [ -e kernels/images.zip ]; then \
		$(WITH_CUDA) $(GO) test -tags cuda,images -c -trimpath -ldflags='-s -w' -o build/gpu-check/kernels-images.test ./kernels; \
	fi
	$(WITH_CUDA) $(GO) build -trimpath -buildvcs=$(BUILDVCS) -ldflags='-s -w' -o build/gpu-check/vibeflight ./cmd/vibeflight
	rm -rf build/gpu-check/testdata
	cp -r readers/geojson/testdata build/gpu-check/testdata
	for format in csv wkt dbf shapefile kml gml; do \
		mkdir -p build/gpu-check/$$format && rm -rf build/gpu-check/$$format/testdata && cp -r readers/$$format/testdata build/gpu-check/$$format/; \
	done
	install -m 755 .ci/gpu-check build/gpu-check/run

##@ Tend
.PHONY: fmt lock profile clean cuda spatial java stores chart compose
cuda: ## fetch CUDA's headers
	@CUDA=$(CUDA) .ci/cuda headers

nvrtc:
	@CUDA=$(CUDA) .ci/cuda nvrtc

spatial: ## fetch DuckDB's spatial extension, for serve --duckdb-extensions .duckdb, and httpfs for bench-stores
	@.ci/duckdb

java:
	@.ci/java

stores: $(STORES) ## build build/stores, the object stores of the tests, and fetch azurite and moto
	@.ci/stores

chart: $(CHART) ## build build/chart, which renders deploy/helm for the tests
	@

compose: $(COMPOSE) ## build build/compose, which reads the Compose files for the tests
	@

fmt: $(LINT) $(CLANG) ## format the Go code and the kernels
	$(LINT) fmt ./...
	$(CLANG) -i $(KERNEL_FILES)

lock: ## resolve integration/requirements.in, bi.in, distributed.in, duckdb.in, site/site.in, stores/moto.in and stores/azurite again into their lock files
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q pip-tools==7.6.2
	cd integration && for name in requirements distributed; do \
		../build/lock/bin/pip-compile -q --upgrade --generate-hashes --strip-extras --no-header \
			--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o $$name.lock $$name.in; \
	done
	cd integration && ../build/lock/bin/pip-compile -q --upgrade --generate-hashes --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o duckdb.lock duckdb.in
	cd integration && ../build/lock/bin/pip-compile -q --upgrade --generate-hashes --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o bi.lock bi.in
	cd integration/stores && ../../build/lock/bin/pip-compile -q --upgrade --generate-hashes --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o moto.lock moto.in
	cd integration/site && ../../build/lock/bin/pip-compile -q --upgrade --generate-hashes --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o site.lock site.in
	cd integration/stores/azurite && npm update --package-lock-only --no-audit --no-fund --silent

profile: build $(VENV) ## profile the CPU engine over the files of bench, for the compiler: cmd/vibeflight/default.pgo
	$(PY) integration/bench/profile.py

clean: ## remove everything that make built, except tools and packages
	rm -rf bin build

# The object stores of the tests, a Go module of their own: the server does not depend on what they need.
$(STORES): $(wildcard integration/stores/*.go) integration/stores/go.mod integration/stores/go.sum
	cd integration/stores && $(GO) build -buildvcs=false -o ../../$@ .

# Helm's engine and the types of Kubernetes' API, in a Go module of their own too.
$(CHART): $(wildcard integration/chart/*.go) integration/chart/go.mod integration/chart/go.sum
	cd integration/chart && $(GO) build -buildvcs=false -o ../../$@ .

# The reference implementation of Compose files, in a Go module of its own too.
$(COMPOSE): $(wildcard integration/compose/*.go) integration/compose/go.mod integration/compose/go.sum
	cd integration/compose && $(GO) build -buildvcs=false -o ../../$@ .

# npm packages of the console and of its tests, exactly those of the lock files. No package runs a script.
$(sort $(CONSOLE) $(BROWSER)): %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --ignore-scripts --no-audit --no-fund --silent
	touch $@

# Python packages, exactly those of the lock file, in a folder of their own.
$(VENV): integration/requirements.lock
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r integration/requirements.lock
	touch $@

# What builds the project's page.
$(SITE): integration/site/site.lock
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r integration/site/site.lock
	touch $@

# PySpark has no wheel: pip builds one.
$(DISTRIBUTED): integration/distributed.lock
	$(PYTHON) -m venv .venv-distributed
	.venv-distributed/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary :all: --no-binary pyspark -r integration/distributed.lock
	touch $@

$(BI): integration/bi.lock
	$(PYTHON) -m venv .venv-bi
	.venv-bi/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r integration/bi.lock
	touch $@

# golangci-lint, built by this machine's Go so that it supports its language version.
$(LINT):
	mkdir -p .tools
	GOBIN=$(CURDIR)/.tools GOFLAGS= $(GO) install $(LINTERS)
	mv .tools/golangci-lint $@

.tools/nfpm:
	GOBIN=$(CURDIR)/.tools GOFLAGS= $(GO) install $(NFPM)
.tools/cyclonedx-gomod:
	GOBIN=$(CURDIR)/.tools GOFLAGS= $(GO) install $(CYCLONEDX)
.tools/govulncheck:
	GOBIN=$(CURDIR)/.tools GOFLAGS= $(GO) install $(VULNCHECK)

$(CLANG):
	$(PYTHON) -m venv .tools/clang-format-20.1.8
	.tools/clang-format-20.1.8/bin/pip install -q --disable-pip-version-check --only-binary :all: clang-format==20.1.8
