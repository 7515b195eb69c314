package xlsx_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/xlsx"
)

func TestFormat(t *testing.T) { readertest.Run(t, xlsx.Format()) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, xlsx.Format()) }
