package load

import (
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
)

// loggedDeviations is the number of places of a file that are logged; describe has more.
const loggedDeviations = 3

// logDeviations warns that a table deviates from its file, once per parse.
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
