package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/readers"
)

// A configuration file is TOML 1.0: serve's flags by their names, and options for files.
//
//	data = ["/srv/geo", "west=/srv/west"]
//	memory = "8GiB"
//
//	[[files]]
//	match = "stations/*.csv"
//	options = { delimiter = ";", decimal = "," }
//
//	[[datasets]]
//	name = "roads"
//	files = ["/srv/roads/**/*.geojson"]
//
//	[[limits]]
//	group = "batch"
//	calls = 4

// File has what a configuration file says besides flags.
type File struct {
	Files    []FileOptions
	Datasets []catalog.Dataset
	Limits   []admission.Rule
}

// FileOptions are options of the format for the files that a pattern matches.
type FileOptions struct {
	match   string
	options map[string]any
}

// matches reports whether a pattern matches a file's name. "*" stops at "/", and "**" does not. A
// pattern without "/" is matched with the last part of the name.
func (o FileOptions) matches(name string) bool {
	if !strings.Contains(o.match, "/") {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(o.match, name)
	return ok && err == nil // the pattern is valid
}

// OptionsOf returns the options of a file: those for all files, then those of each matching
// pattern, in order.
func OptionsOf(files []FileOptions, all map[string]any) func(name string) map[string]any {
	return func(name string) map[string]any {
		options := maps.Clone(all)
		for _, f := range files {
			if f.matches(name) {
				maps.Copy(options, f.options)
			}
		}
		return options
	}
}

// FromFile sets the settings of a file, unless the command line or the environment has set them. It
// returns what else the file has.
func FromFile(flags *pflag.FlagSet, file string, formats readers.Registry) (found File, err error) {
	keys, err := decode(file)
	if err != nil {
		return found, err
	}
	list, sets, limits := keys["files"], keys["datasets"], keys["limits"]
	delete(keys, "files")
	delete(keys, "datasets")
	delete(keys, "limits")
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if err := Set(flags, name, keys[name]); err != nil {
			return found, usage.Errorf("%s: %s: %w", file, name, err)
		}
	}
	if found.Files, err = filesOf(list, formats); err == nil {
		found.Datasets, err = datasetsOf(sets, formats)
	}
	if err == nil {
		found.Limits, err = limitsOf(limits)
	}
	if err != nil {
		return found, usage.Errorf("%s: %w", file, err)
	}
	return found, nil
}

// decode reads a file.
func decode(file string) (keys map[string]any, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if _, err := toml.Decode(string(text), &keys); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, usage.Errorf("%s: line %d: %s", file, at.Position.Line, at.Message)
		}
		return nil, usage.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

// Set sets a flag that is not set yet. A flag that may repeat accepts a list or one value.
func Set(flags *pflag.FlagSet, name string, value any) error {
	f := flags.Lookup(name)
	if f == nil || !annotated(f, settingKey) || name == "config" {
		return errors.New("serve has no such setting")
	}
	values := []any{value}
	if list, ok := value.([]any); ok && f.Value.Type() == "stringArray" {
		values = list
	}
	var texts []string
	for _, v := range values {
		text, err := settingText(v)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	if f.Changed {
		return nil
	}
	for _, text := range texts {
		if err := f.Value.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// settingText returns a value as the text of a flag.
func settingText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case time.Time:
		return "", errors.New("want a text, a number or a boolean, got a date; a duration is a text, as \"10s\"")
	}
	return "", fmt.Errorf("want a text, a number or a boolean, got %s", tomlKind(value))
}

func tomlKind(value any) string {
	switch value.(type) {
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%T", value)
}

// filesOf reads the [[files]] tables.
func filesOf(list any, formats readers.Registry) ([]FileOptions, error) {
	if list == nil {
		return nil, nil
	}
	tables, ok := list.([]map[string]any)
	if !ok {
		return nil, errors.New("files: want tables, each after a line [[files]]")
	}
	var files []FileOptions
	for i, table := range tables {
		f, err := fileOptionsOf(table, formats)
		if err != nil {
			return nil, fmt.Errorf("files, number %d: %w", i+1, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func fileOptionsOf(table map[string]any, formats readers.Registry) (FileOptions, error) {
	f := FileOptions{options: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		ok := false
		var given map[string]any
		switch key {
		case "match":
			f.match, ok = table[key].(string)
		case "options":
			given, ok = table[key].(map[string]any)
		default:
			return f, fmt.Errorf("%s: want match and options", key)
		}
		if !ok {
			return f, fmt.Errorf("%s: want a pattern as text, and options as a table", key)
		}
		if err := addOptions(f.options, given, formats); err != nil {
			return f, err
		}
	}
	if f.match == "" || !doublestar.ValidatePattern(f.match) {
		return f, fmt.Errorf("match: %q is no pattern of file names, as stations/*.csv", f.match)
	}
	return f, nil
}

// addOptions adds checked options of formats.
func addOptions(options, given map[string]any, formats readers.Registry) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, err := settingText(given[name])
		if err == nil {
			err = knownOption(formats, name, text)
		}
		if err != nil {
			return fmt.Errorf("options.%s: %w", name, err)
		}
		options[name] = text
	}
	return nil
}

// knownOption returns an error for an option that no format accepts. The format of a file is known
// later.
func knownOption(formats readers.Registry, name, value string) error {
	if name == readers.OptionFormat {
		_, _, err := formats.Choose(readers.Format{}, map[string]any{name: value})
		var wrong *readers.OptionError
		if errors.As(err, &wrong) {
			return wrong.Err
		}
		return err
	}
	var last error
	for _, f := range formats {
		_, err := f.ParseOptions(map[string]any{name: value})
		if err == nil {
			return nil
		}
		known := slices.ContainsFunc(slices.Concat(readers.CommonOptions, f.Options), func(o readers.Option) bool {
			return o.Name == name
		})
		var wrong *readers.OptionError
		if known && errors.As(err, &wrong) {
			last = wrong.Err
		}
	}
	if last == nil {
		return errors.New("no format has such an option")
	}
	return last
}
