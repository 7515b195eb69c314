// Package gen writes synthetic files in the shape of real ones, for measurements and tests.
//
//	buildings   a FeatureCollection of building footprints, as Microsoft's: polygons of 7 decimals,
//	            three properties
//	mixed       a FeatureCollection of all kinds of geometry, with holes, heights and nulls; nested and
//	            escaped properties
//	points      a GeoJSON feature per line, of points with five properties
//	points-csv  CSV of points in two columns, with five attributes; quoted commas, quotes and line ends
//	wkt-csv     CSV of polygons as WKT, with two attributes
//	wkt         polygons as WKT, one a line
//	dbf         dBASE III, of ten attributes of every common type
//	shapefile   polygons with the attributes of dbf: .shp, .shx, .dbf, .prj and .cpg
//	kml         KML 2.2: points, lines and polygons in a folder, with descriptions and untyped values
//	gml         GML 3.2: polygons with four attributes
//
// The same kind, seed and number of features give the same bytes on every machine. Each chunk of
// features has its own generator, and all arithmetic uses integers: coordinates are multiples of
// 1e-7 degree.
package gen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
)

// The kinds of files.
const (
	Buildings = "buildings"
	Mixed     = "mixed"
	Points    = "points"
	PointsCSV = "points-csv"
	WKTCSV    = "wkt-csv"
	WKT       = "wkt"
	DBF       = "dbf"
	Shapefile = "shapefile"
	KML       = "kml"
	GML       = "gml"
)

// Kinds lists the kinds of files.
func Kinds() []string {
	return []string{Buildings, Mixed, Points, PointsCSV, WKTCSV, WKT, DBF, Shapefile, KML, GML}
}

// Spec is the file to write. A kind is required.
type Spec struct {
	Kind     string
	Features int64
	Seed     uint64
	Progress func(done, total int64) // features so far, called after each chunk by Write's goroutine; may be nil
}

// shape is what files of one kind have in common.
type shape struct {
	head, between, tail string
	feature             func(c *chunk, i int64)
	milliBytes          int64 // of a feature in the mean, in thousandths, what is between included
}

// shapeOf returns the shape of a file with the given number of features.
func shapeOf(kind string, features int64) (shape, bool) {
	switch kind {
	case Buildings:
		return shape{
			`{"type":"FeatureCollection","features":[` + "\n", ",\n", "\n]}\n", (*chunk).building,
			322_800,
		}, true
	case Mixed:
		return shape{mixedHead, ",\n", "\n]}\n", (*chunk).mixed, 395_500}, true
	case Points:
		return shape{"", "", "", (*chunk).point, 172_300}, true
	case PointsCSV:
		return shape{pointsCSVHead, "", "", (*chunk).pointRecord, 71_000}, true
	case WKTCSV:
		return shape{wktCSVHead, "", "", (*chunk).wktRecord, 225_000}, true
	case WKT:
		return shape{"", "", "", (*chunk).wktLine, 205_000}, true
	case DBF:
		return shape{dbfHead(features), "", dbfTail, (*chunk).dbfRecord, 1000 * dbfRecordBytes}, true
	case Shapefile:
		return shape{"", "", "", (*chunk).shapeRecord, 1000*(dbfRecordBytes+8) + 200_000}, true
	case KML:
		return shape{kmlHead, "", kmlTail, (*chunk).placemark, 400_350}, true
	case GML:
		return shape{gmlHead, "", gmlTail, (*chunk).featureMember, 631_000}, true
	}
	return shape{}, false
}

// FeaturesFor returns how many features a file of about the given size has, or a shapefile in
// total, at least one. It returns 0 for an unknown kind.
func FeaturesFor(kind string, bytes int64) int64 {
	s, ok := shapeOf(kind, 0)
	if !ok {
		return 0
	}
	whole, rest := bytes/s.milliBytes, bytes%s.milliBytes
	return max(1, 1000*whole+1000*rest/s.milliBytes)
}

// Write writes the file of spec to w, except of the kind Shapefile, which WriteShapefile writes.
// Between chunks it checks ctx, and returns its cause. It returns errors of w unchanged.
func Write(ctx context.Context, w io.Writer, spec Spec) error {
	s, ok := shapeOf(spec.Kind, spec.Features)
	switch {
	case !ok:
		return fmt.Errorf("no kind %q; known are %s", spec.Kind, strings.Join(Kinds(), ", "))
	case spec.Kind == Shapefile:
		return errors.New("a shapefile is several files")
	case spec.Features < 0:
		return fmt.Errorf("%d features are too few", spec.Features)
	case spec.Kind == DBF && spec.Features > math.MaxUint32:
		return fmt.Errorf("a dBASE file can't hold %d records", spec.Features)
	}
	if _, err := io.WriteString(w, s.head); err != nil {
		return err
	}
	if err := s.writeChunks(ctx, w, spec); err != nil {
		return err
	}
	_, err := io.WriteString(w, s.tail)
	return err
}

// writeChunks writes all features. Worker i makes the chunks i, i+workers, i+2*workers and so on.
// Reading the workers in turn gives the order of the file. Each has two buffers, and no channel is
// ever full.
func (s shape) writeChunks(ctx context.Context, w io.Writer, spec Spec) error {
	chunks := (spec.Features + chunkFeatures - 1) / chunkFeatures
	workers := min(int64(runtime.GOMAXPROCS(0)), chunks)
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel()
	full, empty := make([]chan []byte, workers), make([]chan []byte, workers)
	for i := range workers {
		full[i], empty[i] = make(chan []byte, 2), make(chan []byte, 2)
		empty[i] <- nil
		empty[i] <- nil
		done.Go(func() {
			for number := i; number < chunks && ctx.Err() == nil; number += workers {
				select {
				case b := <-empty[i]:
					full[i] <- s.chunk(b, spec, number)
				case <-ctx.Done():
				}
			}
		})
	}
	for number := range chunks {
		select {
		case b := <-full[number%workers]:
			if _, err := w.Write(b); err != nil {
				return err
			}
			empty[number%workers] <- b
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if spec.Progress != nil {
			spec.Progress(min((number+1)*chunkFeatures, spec.Features), spec.Features)
		}
	}
	return nil
}
