package output

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// NewLog returns a log on out: lines for people on a terminal, otherwise JSON objects, unless
// format selects one.
func NewLog(out *os.File, level, format string) (zerolog.Logger, error) {
	if err := usage.OneOf("log-level", level, "trace", "debug", "info", "warn", "error"); err != nil {
		return zerolog.Logger{}, err
	}
	if err := usage.OneOf("log-format", format, "auto", "console", "json"); err != nil {
		return zerolog.Logger{}, err
	}
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Logger{}, err
	}
	terminal := IsTerminal(out)
	if format == "json" || format == "auto" && !terminal {
		return zerolog.New(out).Level(l).With().Timestamp().Logger(), nil
	}
	console := zerolog.ConsoleWriter{Out: out, NoColor: !terminal, TimeFormat: time.DateTime}
	return zerolog.New(console).Level(l).With().Timestamp().Logger(), nil
}
