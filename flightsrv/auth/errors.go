package auth

import "errors"

// ErrUnauthenticated is the cause of the error for a caller that is not identified: no credential,
// an invalid one, or one that has expired or was revoked.
var ErrUnauthenticated = errors.New("unauthenticated")

// Error is the reason why a caller is not identified. It never contains a credential.
type Error struct{ Reason string }

func (e *Error) Error() string { return "login: " + e.Reason }

// Unwrap returns ErrUnauthenticated.
func (e *Error) Unwrap() error { return ErrUnauthenticated }

// LimitError is the error of a login above a limit. The credential was not checked.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return "login: " + e.Reason }

// UnavailableError is the error of a login that could not be checked now.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "login: " + e.Reason }
