package grants

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// policy is the rules of a file, in order.
type policy struct {
	rules []rule
}

// rule grants its rights to the callers that it matches, on the entries that it matches.
type rule struct {
	user, group userPattern
	name        namePattern
	rights      rights
}

// rights are what a caller may do with an entry.
type rights struct {
	privileges  privileges
	restriction *access.Restriction // nil: the whole table
}

// privileges is a set: bit p is privilege p.
type privileges uint8

func (s privileges) has(p access.Privilege) bool { return s>>p&1 == 1 }

// allPrivileges is the set of every privilege.
const allPrivileges = 1<<(access.Admin+1) - 1

// with adds a privilege. Rows have the schema and the counts of their table, so Read and SQL bring
// Describe with them.
func (s privileges) with(p access.Privilege) privileges {
	if p == access.Read || p == access.SQL {
		s |= 1 << access.Describe
	}
	return s | 1<<p
}

// ruleError is an error in a rule, by its number from 1.
type ruleError struct {
	number int
	key    string
	err    error
}

func (e *ruleError) Error() string {
	if e.key == "" {
		return fmt.Sprintf("rule %d: %v", e.number, e.err)
	}
	return fmt.Sprintf("rule %d: %s: %v", e.number, e.key, e.err)
}

func (e *ruleError) Unwrap() error { return e.err }

// parse reads the text of a policy.
func parse(text string) (*policy, error) {
	var top map[string]any
	if _, err := toml.Decode(text, &top); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("line %d: %s", at.Position.Line, at.Message)
		}
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if key != "rules" {
			return nil, fmt.Errorf("unknown key %q: a policy has [[rules]] only", key)
		}
	}
	tables, ok := top["rules"].([]map[string]any)
	if !ok || len(tables) == 0 {
		// also a file that is being written: it must not take all rights away
		return nil, errors.New("there is no [[rules]]")
	}
	p := &policy{}
	for i, table := range tables {
		r, key, err := newRule(table)
		if err != nil {
			return nil, &ruleError{i + 1, key, err}
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

// check checks the masks and filters of all rules.
func (p *policy) check(check func(expression string) error) error {
	for i, r := range p.rules {
		of := r.rights.restriction
		if of == nil {
			continue
		}
		for _, column := range slices.Sorted(maps.Keys(of.Masks)) {
			if err := check(of.Masks[column]); err != nil {
				return &ruleError{i + 1, "columns", fmt.Errorf("column %q: mask: %w", column, err)}
			}
		}
		if of.Filter == "" {
			continue
		}
		if err := check(of.Filter); err != nil {
			return &ruleError{i + 1, "filter", err}
		}
	}
	return nil
}

// newRule reads a rule. key is where an error is.
func newRule(table map[string]any) (r rule, key string, err error) {
	r.user, r.group, r.name = anyUser, anyUser, everyName
	restriction := access.Restriction{Masks: map[string]string{}}
	granted := false
	for _, key := range slices.Sorted(maps.Keys(table)) {
		v := table[key]
		switch key {
		case "user":
			r.user, err = newUserPattern(v)
		case "group":
			r.group, err = newUserPattern(v)
		case "name":
			r.name, err = newNamePattern(v)
		case "privileges":
			r.rights.privileges, err = newPrivileges(v)
			granted = true
		case "columns":
			err = addColumns(&restriction, v)
		case "filter":
			restriction.Filter, err = nonEmpty(v)
		default:
			err = errors.New("unknown key; known are user, group, name, privileges, columns, filter")
		}
		if err != nil {
			return r, key, err
		}
	}
	if !granted {
		return r, "privileges", errors.New("is missing; [] grants none")
	}
	if len(restriction.Hidden) > 0 || len(restriction.Masks) > 0 || restriction.Filter != "" {
		slices.Sort(restriction.Hidden)
		r.rights.restriction = &restriction
	}
	return r, "", nil
}

// newPrivileges reads a list of names of privileges.
func newPrivileges(v any) (set privileges, err error) {
	list, ok := v.([]any)
	if !ok {
		return 0, fmt.Errorf("want a list, as [\"read\"], not %v", v)
	}
	for _, item := range list {
		name, _ := item.(string)
		p, ok := access.ParsePrivilege(name)
		if !ok {
			return 0, fmt.Errorf("unknown privilege %v; known are describe, read, sql, write, admin", item)
		}
		set = set.with(p)
	}
	return set, nil
}

// addColumns reads the list of restricted columns.
func addColumns(to *access.Restriction, v any) error {
	const want = `want a list, as [{ name = "tax", allow = false }, { name = "owner", mask = "'***'" }]`
	var list []map[string]any
	switch v := v.(type) {
	case []map[string]any:
		list = v
	case []any:
		for _, item := range v {
			column, ok := item.(map[string]any)
			if !ok {
				return errors.New(want)
			}
			list = append(list, column)
		}
	default:
		return errors.New(want)
	}
	seen := map[string]bool{}
	for i, column := range list {
		name, err := nonEmpty(column["name"])
		if err != nil {
			return fmt.Errorf("column %d: name: %w", i+1, err)
		}
		if seen[strings.ToLower(name)] {
			return fmt.Errorf("column %q is there twice", name)
		}
		seen[strings.ToLower(name)] = true
		if err := addColumn(to, name, column); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
	return nil
}

func addColumn(to *access.Restriction, name string, column map[string]any) (err error) {
	for _, key := range slices.Sorted(maps.Keys(column)) {
		if key != "name" && key != "allow" && key != "mask" {
			return fmt.Errorf("unknown key %q; known are name, allow, mask", key)
		}
	}
	allow, hasAllow := column["allow"]
	mask, hasMask := column["mask"]
	switch {
	case hasAllow == hasMask:
		return errors.New("want one of allow = false and mask")
	case hasAllow && allow != false:
		return errors.New("allow: want false; other columns are allowed")
	case hasAllow:
		to.Hidden = append(to.Hidden, name)
		return nil
	}
	if to.Masks[name], err = nonEmpty(mask); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	return nil
}

// nonEmpty returns a text.
func nonEmpty(v any) (string, error) {
	text, ok := v.(string)
	if !ok || strings.TrimSpace(text) == "" {
		return "", errors.New("want a text that is not empty")
	}
	return text, nil
}
