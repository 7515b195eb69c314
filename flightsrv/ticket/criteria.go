package ticket

import "fmt"

// Criteria selects entries of ListFlights. An empty field selects all.
type Criteria struct{ Prefix, Format string }

// ParseCriteria reads the expression of flight.Criteria.
func ParseCriteria(b []byte) (Criteria, error) {
	var c Criteria
	if len(b) == 0 {
		return c, nil
	}
	err := readObject(b, map[string]*string{"prefix": &c.Prefix, "format": &c.Format})
	if err != nil {
		return Criteria{}, fmt.Errorf("criteria: %w", err)
	}
	return c, nil
}
