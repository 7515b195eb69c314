// Package settings is flags that may hold from one call to the next: each has an environment
// variable, VIBEFLIGHT_ and its name, and those of serve a key in the file of --config.
package settings

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// A setting is a flag that says how this machine or this server is, and so may hold from one call
// to the next: it has an environment variable too. What a single call asks for, as rows, a format
// or an output, has none: a variable that is left over must not change what a command gives.

// Keys of a flag's annotations.
const (
	settingKey      = "vibeflight-setting"     // it is a setting
	fromVariable    = "vibeflight-environment" // the environment has set it
	environmentName = "VIBEFLIGHT_"            // begins the names of variables
)

// Add adds the flags that define defines, as settings.
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

// Given reports whether the command line itself has a flag.
func Given(f *pflag.FlagSet, name string) bool {
	flag := f.Lookup(name)
	return flag != nil && flag.Changed && !annotated(flag, fromVariable)
}

// FromEnvironment sets each setting that the command line leaves out from VIBEFLIGHT_<FLAG>, in
// upper case and with "_" for "-". The values of a flag that may repeat are separated by commas. An
// empty variable is as good as none: that is what a compose file makes of one that is not set.
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

// cause is what pflag wraps with the name of the flag.
func cause(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}

// Variable is the environment variable of a flag.
func Variable(flag string) string {
	return environmentName + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
