package catalog

import (
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
)

// loggedDeviations is how many places of a file the log names; describe has more.
const loggedDeviations = 3

// logDeviations warns that a table is not what its file says word for word. Each parse warns once.
func logDeviations(log zerolog.Logger, name string, sum *readers.Summary) {
	d := &sum.Deviations
	if d.IsEmpty() && sum.Skipped.Count == 0 {
		return
	}
	rules := zerolog.Dict()
	for rule, n := range d.Rules {
		rules.Int64(rule, n)
	}
	first := zerolog.Arr()
	for _, v := range d.First[:min(len(d.First), loggedDeviations)] {
		first.Dict(zerolog.Dict().Int64("byte", v.Offset).Int64("row", v.Row).Str("field", v.Field).
			Str("rule", v.Rule).Str("done", v.Done))
	}
	log.Warn().Str("name", name).Int64("skipped", sum.Skipped.Count).Int64("deviations", d.Count).
		Dict("rules", rules).Array("first", first).Msg("the table deviates from its file")
}
