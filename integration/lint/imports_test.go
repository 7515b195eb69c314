package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists the packages from the bottom to the top. A package imports only packages of lines
// above its own, so that the list has no cycle. Packages of one line do not import each other.
var layers = []string{
	// the operating system
	"internal/system internal/system/process internal/system/sockets internal/system/systemtest",
	// CUDA
	"gpu/internal/driver gpu/internal/cuda/loader",
	"gpu/internal/cuda gpu/internal/emu gpu/internal/driver/drivertest",
	"gpu",
	"gpu/compile gpu/gputest",
	// reference systems
	"readers/crs readers/crs/project/internal/generate",
	"readers/crs/project",
	// primitives of GPU parsers
	"kernels kernels/internal/powers",
	"kernels/text kernels/number kernels/internal/images kernels/internal/layout",
	"kernels/geom kernels/table kernels/fixed kernels/project",
	"kernels/json kernels/wkt kernels/shape",
	"kernels/list",
	"kernels/xml",
	"kernels/kml kernels/internal/kerneltest",
	// the contract of a format
	"readers/source readers/timeline readers/internal/number readers/internal/temporal readers/internal/trig",
	"readers/internal/bulk readers/internal/extent readers/internal/fields",
	"readers/geoarrow readers/internal/xmltext",
	"readers/internal/curve readers/internal/nesting readers/internal/positions readers/internal/prj readers/resident",
	"readers/slots",
	"readers",
	"readers/internal/window readers/internal/device readers/internal/sqlite readers/union",
	"readers/internal/rows readers/internal/xmlfile",
	"readers/internal/parallel",
	"readers/internal/jsonrows",
	// the formats
	"readers/wkt readers/dbf readers/geojson",
	"readers/internal/records",
	"readers/remote",
	"readers/remote/cloud",
	"readers/arrowipc readers/csv readers/esrijson readers/filegdb readers/flatgeobuf readers/gml " +
		"readers/gpkg readers/gpx readers/kml readers/osmpbf readers/parquet readers/shapefile readers/topojson",
	"readers/xlsx",
	"readers/all readers/readertest",
	// the catalog
	"catalog/access catalog/fleet catalog/internal/files catalog/nearest catalog/rtree",
	"catalog/fleet/fleettest catalog/lease catalog/sharedcache catalog/store",
	"catalog/store/internal/row",
	"catalog/store/postgres catalog/store/shared catalog/store/sqlite catalog/store/storetest",
	"catalog/internal/files/faulty catalog/cachedir catalog/tablefile catalog/tree catalog/scan",
	"catalog/job",
	"catalog/persist",
	"catalog/tables",
	"catalog/load catalog/poll",
	"catalog/dataset catalog/inbox",
	"catalog/restrict",
	"catalog",
	// the server
	"flightsrv/auth flightsrv/audit",
	"flightsrv/admission",
	"flightsrv/grants flightsrv/internal/errorlog flightsrv/internal/excerpt flightsrv/internal/process flightsrv/metadata " +
		"flightsrv/share flightsrv/uploads flightsrv/wire flightsrv/sql/duck",
	"flightsrv/auth/certs flightsrv/auth/livefile flightsrv/auth/oidc flightsrv/auth/passwords flightsrv/auth/sessions " +
		"flightsrv/auth/tokens",
	"flightsrv/auth/login flightsrv/ticket flightsrv/sql/worker",
	"flightsrv/export flightsrv/frame flightsrv/sql/engine",
	"flightsrv/sql",
	"flightsrv/fleet flightsrv/telemetry flightsrv/web/httpcall flightsrv/web/tiles",
	"flightsrv/web/rows flightsrv/web/ogc/cql2 flightsrv/web/console",
	"flightsrv/web/api flightsrv/web/ogc flightsrv/web/tileserver",
	"flightsrv/web",
	"flightsrv",
	// the command line
	"cmd/vibeflight/internal/atomicfile cmd/vibeflight/internal/gen cmd/vibeflight/internal/host " +
		"cmd/vibeflight/internal/sqltext cmd/vibeflight/internal/units cmd/vibeflight/internal/usage",
	"cmd/vibeflight/internal/stores",
	"cmd/vibeflight/internal/engines cmd/vibeflight/internal/localfile cmd/vibeflight/internal/output " +
		"cmd/vibeflight/internal/settings",
	"cmd/vibeflight/internal/bench cmd/vibeflight/internal/target",
	"cmd/vibeflight/internal/result cmd/vibeflight/internal/sqlengine",
	"cmd/vibeflight/internal/prompt cmd/vibeflight/internal/quickstart cmd/vibeflight/internal/server",
	"cmd/vibeflight/internal/complete cmd/vibeflight/internal/doctor",
	"cmd/vibeflight",
	// support of tests
	"readers/remote/faults readers/remote/storetest",
	"catalog/store/postgres/pgtest",
	"integration/chart integration/compose integration/issuer integration/lint integration/promql integration/stores",
	"integration/fleetsim/lru integration/fleetsim/queue integration/fleetsim/sample",
	"integration/fleetsim/model",
	"integration/fleetsim",
}

// importers are the packages that may import a format, or the list of all formats. Others know
// formats by name only.
var importers = map[string][]string{
	"readers/wkt": {
		"readers/csv", "readers/gml", "readers/kml", "readers/internal/records", "readers/xlsx", "readers/all",
	},
	"readers/dbf":     {"readers/shapefile", "readers/all"},
	"readers/geojson": {"readers/csv", "readers/all"},
	"readers/csv":     {"readers/xlsx", "readers/all"},
	"readers/all":     {"cmd/..."},
}

// trees lists the folders at the top of the repository in the order of layers. A test may import
// packages above its own that are of the same tree.
var trees = []string{"internal", "gpu", "kernels", "readers", "catalog", "flightsrv", "cmd", "integration"}

func TestImportsPointDown(t *testing.T) {
	level := map[string]int{}
	for i, line := range layers {
		for p := range strings.FieldsSeq(line) {
			level[p] = i
		}
	}
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		from := folder(f.path)
		seen[from] = true
		if _, ok := level[from]; !ok {
			t.Errorf("%s is not in the list of layers", from)
			level[from] = len(layers)
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			at := f.set.Position(spec.Pos())
			above := level[to] >= level[from]
			if isTest(f.path) {
				if to == from || to == "readers/all" && tree(from) == "flightsrv" {
					continue
				}
				above = above && slices.Index(trees, tree(to)) > slices.Index(trees, tree(from))
			}
			if above {
				t.Errorf("%s: %s imports %s, which is not below it", at, from, to)
			}
			if allowed, ok := importers[to]; ok && !slices.ContainsFunc(allowed, func(p string) bool {
				return matches(p, from)
			}) {
				t.Errorf("%s: %s imports %s, which only %q may", at, from, to, allowed)
			}
			if path.Dir(to) == "readers" && isFormat(to) && importers[to] == nil && from != "readers/all" {
				t.Errorf("%s: %s imports the format %s, which only readers/all may", at, from, to)
			}
		}
	}
	for p := range level {
		if !seen[p] {
			t.Errorf("%s is in the list of layers and not in the tree", p)
		}
	}
}

// tree returns the folder at the top of the repository that a package is in.
func tree(p string) string {
	top, _, _ := strings.Cut(p, "/")
	return top
}

// isFormat reports whether a package is a format.
func isFormat(p string) bool {
	for _, name := range []string{
		"arrowipc", "csv", "dbf", "filegdb", "flatgeobuf", "geojson", "gml", "gpkg", "gpx", "kml",
		"osmpbf", "parquet", "shapefile", "wkt", "xlsx",
	} {
		if p == "readers/"+name {
			return true
		}
	}
	return false
}

// matches reports whether a package is named by a pattern, of which "..." is any rest.
func matches(pattern, p string) bool {
	prefix, tail := strings.CutSuffix(pattern, "...")
	return p == pattern || tail && strings.HasPrefix(p, prefix)
}
