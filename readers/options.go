package readers

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Option is one key of a ticket's "options".
type Option struct {
	Name    string
	Default string
	Values  []string // the possible values; empty: any text
	Doc     string   // one sentence
}

// CommonOptions are the options of every format.
var CommonOptions = []Option{
	{
		Name: "on_error", Default: "fail", Values: []string{"fail", "skip", "null", "repair"},
		Doc: "what to do about a malformed feature or record: fail; skip it and count it; keep it and make " +
			"the one bad value null; or repair values with one obvious reading and make others null",
	},
}

// Options are checked values of a format's options: each of its keys has a value.
type Options struct {
	values map[string]string
}

// ParseOptions checks the options of a ticket or a configuration. Values are text, booleans or
// numbers. Other types, unknown keys and values out of range give an *OptionError.
func (f Format) ParseOptions(given map[string]any) (Options, error) {
	o := Options{values: map[string]string{}}
	known := slices.Concat(CommonOptions, f.Options)
	for _, opt := range known {
		o.values[opt.Name] = opt.Default
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(known, func(opt Option) bool { return opt.Name == key })
		if i < 0 {
			return Options{}, &OptionError{key, fmt.Errorf("format %s has no such option; it has %s",
				f.Name, optionNames(known))}
		}
		text, err := optionText(given[key])
		if err != nil {
			return Options{}, &OptionError{key, err}
		}
		if vs := known[i].Values; len(vs) > 0 && !slices.Contains(vs, text) {
			return Options{}, &OptionError{key, fmt.Errorf("%q is none of %s", text, strings.Join(vs, ", "))}
		}
		o.values[key] = text
	}
	return o, nil
}

func optionText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", errors.New("want a text, a number or a boolean")
}

func optionNames(opts []Option) string {
	var names []string
	for _, o := range opts {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// Get returns the value of an option that the format has.
func (o Options) Get(name string) string { return o.values[name] }

// SkipErrors reports on_error: skip.
func (o Options) SkipErrors() bool { return o.values["on_error"] == "skip" }

// NullErrors reports on_error: null or repair. A value that cannot be read is null, its row stays,
// and the parse counts a Deviation.
func (o Options) NullErrors() bool { return o.values["on_error"] == "null" || o.Repairs() }

// Repairs reports on_error: repair. A defect that has one obvious reading is read that way, and the
// parse counts a Deviation; other bad values are null.
func (o Options) Repairs() bool { return o.values["on_error"] == "repair" }

// JSON returns the options and their values for display.
func (o Options) JSON() string {
	text, err := json.Marshal(o.values)
	if err != nil {
		panic(err) // texts only
	}
	return string(text)
}

// Digest differs for different values. It is a part of a parsed table's key.
func (o Options) Digest() [32]byte {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(o.values)) {
		h.Write(fmt.Appendf(nil, "%q=%q\n", k, o.values[k]))
	}
	return [32]byte(h.Sum(nil))
}
