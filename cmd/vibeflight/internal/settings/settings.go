// Package settings defines flags that also have an environment variable, VIBEFLIGHT_ and the flag's
// name, and, for serve, a key in the file of --config.
package settings

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// A setting is a flag that describes this machine or this server, and so may hold for several
// calls. It has an environment variable. A flag for a single call, such as rows, a format or an
// output, has none: a forgotten variable must not change the result of a command.

// Keys of a flag's annotations.
const (
	settingKey      = "vibeflight-setting"     // marks a setting
	fromVariable    = "vibeflight-environment" // the environment has set it
	environmentName = "VIBEFLIGHT_"            // begins the names of variables
)

// Add adds the flags of the given functions as settings.
func Add(f *pflag.FlagSet, define ...func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, d := range define {
		d(own)
	}
	own.VisitAll(func(flag *pflag.Flag) { annotate(flag, settingKey) })
	f.AddFlagSet(own)
}

func annotate(flag *pflag.Flag, key string) {
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[key] = []string{}
}

// IsSetting reports whether a flag is a setting.
func IsSetting(flag *pflag.Flag) bool { return annotated(flag, settingKey) }

func annotated(flag *pflag.Flag, key string) bool {
	_, ok := flag.Annotations[key]
	return ok
}

// Given reports whether the command line has a flag.
func Given(f *pflag.FlagSet, name string) bool {
	flag := f.Lookup(name)
	return flag != nil && flag.Changed && !annotated(flag, fromVariable)
}

// FromEnvironment sets each setting that the command line omits from VIBEFLIGHT_<FLAG>, in upper
// case and with "_" for "-". The values of a flag that may repeat are separated by commas. An empty
// variable is ignored: compose files set variables without a value to "".
func FromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := Variable(f.Name)
		value, ok := lookup(name)
		if err != nil || f.Changed || !ok || value == "" || !annotated(f, settingKey) {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if e := flags.Set(f.Name, strings.TrimSpace(v)); e != nil {
				err = usage.Errorf("environment variable %s: %w", name, cause(e))
				return
			}
		}
		annotate(f, fromVariable)
	})
	return err
}

// cause removes pflag's wrapping with the name of the flag.
func cause(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}

// Variable returns the environment variable of a flag.
func Variable(flag string) string {
	return environmentName + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
