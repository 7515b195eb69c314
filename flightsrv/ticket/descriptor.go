package ticket

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"
)

// ParseDescriptor reads a descriptor. It joins the components of a path, so that one component may
// hold the whole name.
func ParseDescriptor(d *flight.FlightDescriptor) (Ticket, error) {
	return parseDescriptor(d, ParseCommand)
}

// ParsePollDescriptor is [ParseDescriptor] for a command that may continue a poll.
func ParsePollDescriptor(d *flight.FlightDescriptor) (Ticket, error) {
	return parseDescriptor(d, ParsePollCommand)
}

// parseDescriptor reads a command with parse.
func parseDescriptor(d *flight.FlightDescriptor, parse func([]byte) (Ticket, error)) (Ticket, error) {
	switch d.GetType() {
	case flight.DescriptorPATH:
		name := strings.Join(d.GetPath(), "/")
		if name == "" {
			return Ticket{}, fmt.Errorf("descriptor: %w", &Error{Field: "path", Err: errors.New("is empty")})
		}
		if err := checkSize([]byte(name)); err != nil {
			return Ticket{}, fmt.Errorf("descriptor: path: %w", err)
		}
		return Ticket{Name: name}, nil
	case flight.DescriptorCMD:
		return parse(d.GetCmd())
	}
	return Ticket{}, fmt.Errorf("descriptor: %w", &Error{Field: "type", Err: fmt.Errorf("want PATH or CMD, have %v",
		d.GetType())})
}
