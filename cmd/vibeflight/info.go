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
)

func newInfo(std stdio) *cobra.Command {
	var (
		c      targetConfig
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "info NAME|FILE",
		Short: "Say what is in a file: rows, columns, extent, reference system",
		Long: `Say what is in a file: rows, columns and their types, extent, reference system, and what is odd about it.

The file is parsed as a whole: what is said holds for every row of it.`,
		Example: `  vibeflight info data/roads.geojson
  # a CSV file with other separators; a JSON object
  vibeflight info data/stops.csv --option delimiter=';' --json
  # an entry of a server
  vibeflight info roads.geojson --server grpc://127.0.0.1:8815`,
		Args: oneArgument("name or file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := parseOptions(c.options)
			if err != nil {
				return err
			}
			from, err := c.open(cmd.Flags())
			if err != nil {
				return err
			}
			defer from.close()
			p := newProgress(std.err, args[0], "")
			d, err := from.describe(cmd.Context(), args[0], opts, p)
			p.close()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(std.out, d)
			}
			return d.write(std.out)
		},
	}
	f := cmd.Flags()
	c.flags(f)
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// write prints the description for people.
func (d *description) write(w io.Writer) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-15s %s\n", name, oneLine(value))
		}
	}
	counted := func(name string, n int64) {
		if n > 0 {
			line(name, humanCount(n))
		}
	}
	line("name", d.Name)
	line("format", d.Format)
	line("size", fmt.Sprintf("%s, as a table %s", humanBytes(d.FileBytes), humanBytes(d.Bytes)))
	line("modified", d.Modified.Local().Format(time.DateTime))
	line("rows", humanCount(d.Rows))
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
	if s := d.Skipped; s != nil {
		line("skipped", fmt.Sprintf("%s malformed, at bytes %s", humanCount(s.Count), firstOffsets(s.First, s.Count)))
	}
	d.writeDeviations(line)
	counted("rounded", d.RoundedIntegers)
	counted("4th ordinates", d.IgnoredOrdinates)
	counted("lone surrogates", d.ReplacedCharacters)
	counted("unclosed rings", d.UnclosedRings)
	counted("short rings", d.ShortRings)
	counted("short lines", d.ShortLines)
	for _, name := range slices.Sorted(maps.Keys(d.Foreign)) {
		line("not in a column", fmt.Sprintf("%q (%s)", name, humanCount(d.Foreign[name])))
	}
	b.WriteString("columns\n")
	g := &grid{header: []string{"  NAME", "TYPE"}, right: make([]bool, 2)}
	for _, c := range d.Columns {
		g.rows = append(g.rows, []string{"  " + clip(oneLine(c.Name), 60), oneLine(c.typeName())})
	}
	if _, err := g.write(&b, 0); err != nil {
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

// firstOffsets are a few offsets, and "…" where there are more.
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

// writeDeviations prints how often each rule was applied, and where the first times.
func (d *description) writeDeviations(line func(name, value string)) {
	v := d.Deviations
	if v == nil {
		return
	}
	for _, rule := range slices.Sorted(maps.Keys(v.Rules)) {
		line("deviations", fmt.Sprintf("%s: %s", rule, humanCount(v.Rules[rule])))
	}
	for _, one := range v.First[:min(len(v.First), maxShownDeviations)] {
		where := fmt.Sprintf("byte %d, row %d", one.Offset, one.Row)
		if one.Field != "" {
			where += ", " + one.Field
		}
		line("", fmt.Sprintf("%s: %s: %s", where, one.Rule, one.Done))
	}
	if more := v.Count - int64(min(len(v.First), maxShownDeviations)); more > 0 {
		line("", humanCount(more)+" more")
	}
}
