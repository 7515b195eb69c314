package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/atomicfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

const genLong = `Write a synthetic file that resembles real ones.

buildings   GeoJSON, a FeatureCollection of building footprints
mixed       GeoJSON, a FeatureCollection of all kinds of geometry, with holes, heights and nulls
points      GeoJSON, a point with five properties on each line
points-csv  CSV of points, with quoted text
wkt-csv     CSV of polygons as WKT
wkt         polygons as WKT, one per line
dbf         dBASE, ten attributes
shapefile   polygons with the attributes of dbf; -o NAME.shp also writes NAME.shx, .dbf, .prj and .cpg
kml         points, lines and polygons with descriptions and untyped values
gml         GML 3.2, polygons with four attributes

The same kind, number and seed give the same bytes on every machine. --size is approximate; for a
shapefile it is the size of all files together.`

func newGen(std output.Stdio) *cobra.Command {
	var (
		out      string
		features int64
		size     units.Size
		seed     uint64
	)
	cmd := &cobra.Command{
		Use:   "gen KIND",
		Short: "Write a synthetic file of any size",
		Long:  genLong,
		Example: `  vibeflight gen buildings --size 10MB -o buildings.geojson
  vibeflight gen shapefile --features 1000 --seed 7 -o parcels.shp`,
		Args: usage.OneArgument("kind of file: " + strings.Join(gen.Kinds(), ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := cmd.Flags()
			kind := args[0]
			if !slices.Contains(gen.Kinds(), kind) {
				return usage.Errorf("no kind %q; known are %s", kind, strings.Join(gen.Kinds(), ", "))
			}
			switch {
			case out == "":
				return usage.Errorf("-o: say which file to write, or - for stdout")
			case f.Changed("features") == f.Changed("size"):
				return usage.Errorf("want either --features or --size")
			case features < 0:
				return usage.Errorf("--features: %d is negative", features)
			case kind == gen.Shapefile && !strings.EqualFold(filepath.Ext(out), ".shp"):
				return usage.Errorf("-o: a shapefile is several files; say how its .shp is called, got %q", out)
			case f.Changed("size"):
				features = gen.FeaturesFor(kind, int64(size))
			}
			return generate(cmd.Context(), std, out, gen.Spec{Kind: kind, Features: features, Seed: seed})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "`FILE` to write, or - for stdout")
	f.Int64Var(&features, "features", 0, "number of features")
	f.Var(&size, "size", "approximate size, as 2GB or 512MiB")
	f.Uint64Var(&seed, "seed", 1, "another seed gives another file")
	return cmd
}

func generate(ctx context.Context, std output.Stdio, path string, spec gen.Spec) error {
	p := output.NewProgress(std.Err, path, " features")
	spec.Progress = func(features, _ int64) { p.Set(features, spec.Features) }
	defer p.Close()
	switch {
	case spec.Kind == gen.Shapefile:
		return generateShapefile(ctx, path, spec)
	case path == "-":
		return generateTo(ctx, std.Out, spec)
	}
	out, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	err = generateTo(ctx, out, spec)
	if err == nil {
		err = out.Commit()
	}
	return out.Explain(err)
}

func generateTo(ctx context.Context, w io.Writer, spec gen.Spec) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if err := gen.Write(ctx, b, spec); err != nil {
		return err
	}
	return b.Flush()
}

// generateShapefile writes the files of a shapefile. They get their names when all are complete,
// the .shp last, so that a .shp always has its other files.
func generateShapefile(ctx context.Context, path string, spec gen.Spec) error {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	var files []*atomicfile.File
	defer func() {
		for _, f := range files {
			f.Discard()
		}
	}()
	for _, name := range []string{stem + ".shx", stem + ".dbf", stem + ".prj", stem + ".cpg", path} {
		f, err := atomicfile.Create(name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	to := gen.ShapefileFiles{SHX: files[0], DBF: files[1], PRJ: files[2], CPG: files[3], SHP: files[4]}
	if err := gen.WriteShapefile(ctx, to, spec); err != nil {
		return files[len(files)-1].Explain(err)
	}
	for _, f := range files {
		if err := f.Commit(); err != nil {
			return f.Explain(err)
		}
	}
	return nil
}
