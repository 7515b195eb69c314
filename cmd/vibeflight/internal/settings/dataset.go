package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// Datasets returns the datasets of the values of --dataset, NAME=GLOB, and those of a configuration
// file. Several values of one name are patterns of one dataset.
func Datasets(values []string, file []catalog.Dataset) ([]catalog.Dataset, error) {
	all := slices.Clone(file)
	first := len(all)
	for _, value := range values {
		name, glob, ok := strings.Cut(value, "=")
		if !ok || name == "" || glob == "" {
			return nil, fmt.Errorf("%q: want NAME=GLOB, as roads=data/roads/**/*.geojson", value)
		}
		i := slices.IndexFunc(all[first:], func(d catalog.Dataset) bool { return d.Name == name })
		if i < 0 {
			all = append(all, catalog.Dataset{Name: name, Files: []string{glob}})
			continue
		}
		all[first+i].Files = append(all[first+i].Files, glob)
	}
	return all, nil
}

// datasetsOf reads the [[datasets]] tables.
func datasetsOf(list any, formats readers.Registry) ([]catalog.Dataset, error) {
	if list == nil {
		return nil, nil
	}
	tables, ok := list.([]map[string]any)
	if !ok {
		return nil, errors.New("datasets: want tables, each after a line [[datasets]]")
	}
	var all []catalog.Dataset
	for i, table := range tables {
		d, err := datasetOf(table, formats)
		if err != nil {
			return nil, fmt.Errorf("datasets, number %d: %w", i+1, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func datasetOf(table map[string]any, formats readers.Registry) (catalog.Dataset, error) {
	d := catalog.Dataset{Options: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value := table[key]
		ok := false
		switch key {
		case "name":
			d.Name, ok = value.(string)
		case "filename":
			d.Filename, ok = value.(string)
		case "files":
			d.Files, ok = textsOf(value)
		case "on_error":
			var text string
			text, ok = value.(string)
			d.SkipErrors = text == "skip"
			if ok && text != "skip" && text != "fail" {
				return d, fmt.Errorf("on_error: %q is neither fail nor skip", text)
			}
		case "options":
			var given map[string]any
			if given, ok = value.(map[string]any); ok {
				if err := addOptions(d.Options, given, formats); err != nil {
					return d, err
				}
			}
		default:
			return d, fmt.Errorf("%s: want name, files, filename, on_error and options", key)
		}
		if !ok {
			return d, fmt.Errorf("%s: want texts, files as a list of them, and options as a table", key)
		}
	}
	switch {
	case d.Name == "":
		return d, errors.New("name: is missing")
	case len(d.Files) == 0:
		return d, errors.New("files: say which, as [\"roads/**/*.geojson\"]")
	}
	return d, nil
}

// textsOf returns one text, or a list of them.
func textsOf(value any) (texts []string, ok bool) {
	if text, ok := value.(string); ok {
		return []string{text}, true
	}
	list, ok := value.([]any)
	for _, v := range list {
		text, is := v.(string)
		ok = ok && is
		texts = append(texts, text)
	}
	return texts, ok
}
