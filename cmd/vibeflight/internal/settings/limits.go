package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
)

// LimitsOf reads the [[limits]] tables of a configuration file.
func LimitsOf(file string) ([]admission.Rule, error) {
	keys, err := decode(file)
	if err != nil {
		return nil, err
	}
	rules, err := limitsOf(keys["limits"])
	if err != nil {
		return nil, usage.Errorf("%s: %w", file, err)
	}
	return rules, nil
}

func limitsOf(list any) ([]admission.Rule, error) {
	if list == nil {
		return nil, nil
	}
	tables, ok := list.([]map[string]any)
	if !ok {
		return nil, errors.New("limits: want tables, each after a line [[limits]]")
	}
	var rules []admission.Rule
	for i, table := range tables {
		r, err := ruleOf(table)
		if err != nil {
			return nil, fmt.Errorf("limits, number %d: %w", i+1, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// ruleOf reads one table.
func ruleOf(table map[string]any) (r admission.Rule, err error) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		text, err := settingText(table[key])
		if err != nil {
			return r, fmt.Errorf("%s: %w", key, err)
		}
		switch key {
		case "user":
			r.User = text
		case "group":
			r.Group = text
		case "calls":
			r.Calls, err = strconv.Atoi(text)
		case "queries":
			r.Queries, err = strconv.Atoi(text)
		case "parses":
			r.Parses, err = strconv.Atoi(text)
		case "result-rows":
			r.ResultRows, err = strconv.ParseInt(text, 10, 64)
		case "bytes-per-second":
			var size units.Size
			err = size.Set(text)
			r.BytesPerSecond = int64(size)
		case "query-timeout":
			r.QueryTime, err = time.ParseDuration(text)
		default:
			err = errors.New("want user or group, and some of calls, queries, parses, bytes-per-second, result-rows, " +
				"query-timeout")
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", key, err)
		}
	}
	switch l := r.Limits; {
	case (r.User == "") == (r.Group == ""):
		return r, errors.New("want one of user and group")
	case l == admission.Limits{}:
		return r, errors.New("has no limit greater than 0")
	case min(int64(l.Calls), int64(l.Queries), int64(l.Parses), l.BytesPerSecond, l.ResultRows, int64(l.QueryTime)) < 0:
		return r, errors.New("a limit is less than 0")
	}
	return r, nil
}
