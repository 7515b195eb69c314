package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
)

func newInfo(std output.Stdio) *cobra.Command {
	var (
		c      target.Flags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "info NAME|FILE",
		Short: "Describe a file: rows, columns, extent, reference system",
		Long: `Describe a file: rows, columns and their types, extent, reference system, and its deviations from
its format.

The whole file is parsed, so the description covers every row.`,
		Example: `  vibeflight info data/roads.geojson
  # a CSV file with other separators; a JSON object
  vibeflight info data/stops.csv --option delimiter=';' --json
  # an entry of a server
  vibeflight info roads.geojson --server grpc://127.0.0.1:8815`,
		Args: usage.OneArgument("name or file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := localfile.ParseOptions(c.Options)
			if err != nil {
				return err
			}
			from, err := c.Open(cmd.Flags())
			if err != nil {
				return err
			}
			defer from.Close()
			p := output.NewProgress(std.Err, args[0], "")
			d, err := from.Describe(cmd.Context(), args[0], opts, p)
			p.Close()
			if err != nil {
				return err
			}
			if asJSON {
				return output.WriteJSON(std.Out, d)
			}
			return writeDescription(std.Out, d)
		},
	}
	f := cmd.Flags()
	c.Define(f)
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// writeDescription prints the description for people.
func writeDescription(w io.Writer, d *metadata.Description) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-15s %s\n", name, output.OneLine(value))
		}
	}
	counted := func(name string, n int64) {
		if n > 0 {
			line(name, units.Count(n))
		}
	}
	line("name", d.Name)
	line("format", d.Format)
	line("size", fmt.Sprintf("%s, as a table %s", units.Bytes(d.FileBytes), units.Bytes(d.Bytes)))
	line("modified", d.Modified.Local().Format(time.DateTime))
	switch d.Identity {
	case "date":
		line("version", "its date and size: the server sends no ETag, so a change within a second is not seen")
	case "size":
		line("version", "its size: the server sends neither an ETag nor a date, so other changes are not seen")
	case "":
	default:
		line("version", d.Identity)
	}
	line("rows", units.Count(d.Rows))
	line("layers", strings.Join(d.Layers, ", "))
	if d.Links != nil {
		line("links", d.Links.String())
	}
	line("geometry types", strings.Join(d.GeometryTypes, ", "))
	counted("positions", d.Positions)
	if d.BBox != nil {
		line("bbox", joinFloats(d.BBox[:]))
	}
	if d.CRS != nil {
		line("crs", *d.CRS)
	}
	line("unread crs", d.UnreadCRS)
	line("parsed", fmt.Sprintf("in %.3g s by the %s engine", d.ParseSeconds, d.Engine))
	if m := d.Dataset; m != nil {
		text := units.Count(int64(m.Files))
		if m.Skipped > 0 {
			text += fmt.Sprintf("; %s left out, as %s", units.Count(int64(m.Skipped)), m.First[0].Reason)
		}
		line("files", text)
	}
	if s := d.Skipped; s != nil {
		line("skipped", fmt.Sprintf("%s malformed, at bytes %s", units.Count(s.Count), firstOffsets(s.First, s.Count)))
	}
	writeDeviations(d, line)
	counted("rounded", d.RoundedIntegers)
	counted("4th ordinates", d.IgnoredOrdinates)
	counted("lone surrogates", d.ReplacedCharacters)
	counted("unclosed rings", d.UnclosedRings)
	counted("short rings", d.ShortRings)
	counted("short lines", d.ShortLines)
	for _, name := range slices.Sorted(maps.Keys(d.Foreign)) {
		line("not in a column", fmt.Sprintf("%q (%s)", name, units.Count(d.Foreign[name])))
	}
	b.WriteString("columns\n")
	g := &output.Grid{Header: []string{"  NAME", "TYPE"}, Right: make([]bool, 2)}
	for _, c := range d.Columns {
		g.Rows = append(g.Rows, []string{"  " + output.Clip(output.OneLine(c.Name), 60), output.OneLine(c.TypeName())})
	}
	if _, err := g.Write(&b, 0); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func joinFloats(v []float64) string {
	var parts []string
	for _, x := range v {
		parts = append(parts, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}

// firstOffsets lists a few offsets, and "…" if there are more.
func firstOffsets(offsets []int64, count int64) string {
	const shown = 5
	var parts []string
	for _, o := range offsets[:min(shown, len(offsets))] {
		parts = append(parts, strconv.FormatInt(o, 10))
	}
	if count > int64(len(parts)) {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// maxShownDeviations is how many deviations info lists with their places; --json has more.
const maxShownDeviations = 10

// writeDeviations prints how often each rule was applied, and where first.
func writeDeviations(d *metadata.Description, line func(name, value string)) {
	v := d.Deviations
	if v == nil {
		return
	}
	for _, rule := range slices.Sorted(maps.Keys(v.Rules)) {
		line("deviations", fmt.Sprintf("%s: %s", rule, units.Count(v.Rules[rule])))
	}
	for _, one := range v.First[:min(len(v.First), maxShownDeviations)] {
		where := fmt.Sprintf("byte %d, row %d", one.Offset, one.Row)
		if one.Field != "" {
			where += ", " + one.Field
		}
		line("", fmt.Sprintf("%s: %s: %s", where, one.Rule, one.Done))
	}
	if more := v.Count - int64(min(len(v.First), maxShownDeviations)); more > 0 {
		line("", units.Count(more)+" more")
	}
}
