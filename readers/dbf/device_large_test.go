package dbf_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, dbf.Format(), func() []readertest.Input {
		files := []readertest.Input{{Name: "parcels.dbf", Text: parcels(20000)}}
		if testing.Short() {
			return files
		}
		letters, digits := table{records: []string{" abcdefghij"}}, table{records: []string{" 1234567890"}}
		for _, name := range strings.Split("ABCDEFGHIJ", "") {
			letters.fields = append(letters.fields, field{name, 'C', 1, 0})
			digits.fields = append(digits.fields, field{name, 'N', 1, 0})
		}
		types := everyType(rand.New(rand.NewPCG(7, 5)), 100, "a", "two words")
		return append(files,
			readertest.Input{Name: "letters.dbf", Text: longer(letters, 300_000)},
			readertest.Input{Name: "digits.dbf", Text: longer(digits, 300_000)},
			readertest.Input{Name: "types.dbf", Text: longer(types, 20000)})
	})
}
