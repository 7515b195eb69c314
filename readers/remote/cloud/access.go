//go:build !nocloud

package cloud

import (
	"fmt"
	"strconv"
)

// access is how requests to a provider are authorized.
type access struct {
	anonymous bool // they are not signed
	without   bool // because there are no credentials

	provider string // "AWS"
	advice   string // how to provide credentials
	public   string // what to do about a public bucket that the credentials do not open
}

// hint returns what an operator can do if access is denied.
func (a *access) hint() string {
	switch {
	case a.without:
		return fmt.Sprintf("the requests were anonymous, because no %s credentials were found: %s",
			a.provider, a.advice)
	case a.anonymous:
		return "the requests were anonymous, as the option anonymous says"
	}
	return fmt.Sprintf("the %s credentials do not allow it%s", a.provider, a.public)
}

// boolOption parses the value of an option of a URL.
func boolOption(key, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("option %s: %q is neither true nor false", key, value)
	}
	return b, nil
}
