package ticket

import (
	"fmt"
	"slices"
	"strings"
)

// ParseEmpty accepts an empty body and the empty object.
func ParseEmpty(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	return readObject(body, nil)
}

// ParseName reads the body of an action as a ticket that has no other than the given fields.
func ParseName(body []byte, fields ...string) (Ticket, error) {
	t, err := parseBody(body)
	if err != nil || body[0] != '{' {
		return t, err
	}
	ms, err := members(body)
	if err != nil {
		return Ticket{}, err
	}
	for _, m := range ms {
		if !slices.Contains(fields, m.key) {
			return Ticket{}, &Error{Field: m.key, Err: fmt.Errorf("is unknown here; known are %s",
				strings.Join(fields, ", "))}
		}
	}
	return t, nil
}
