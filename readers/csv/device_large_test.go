package csv_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, csv.Format(), func() []readertest.Input {
		r := rand.New(rand.NewPCG(7, 5))
		files := []readertest.Input{
			{Name: "values.csv", Text: deviceFile(r, 20000, ",", "\n")},
			{Name: "wkt.csv", Text: cellFile(r, 25000, "", "POLYGON((# #,# 1,2 #,# #))",
				"POLYGON((# #,# 1,2 #,# #),(1 1,2 2,3 1,1 1))")},
		}
		if !testing.Short() {
			files = append(files,
				readertest.Input{Name: "codes.csv", Text: []byte("a,b,c,d\n" + strings.Repeat("A1,B22,,C\n", 300000))},
				readertest.Input{Name: "digits.csv", Text: []byte("a,b,c,d\n" + strings.Repeat("1,2,3,4\n", 400000))})
		}
		return files
	})
}
