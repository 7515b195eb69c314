package kernels_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// TestHostReader lets the host read a short token and one of more than 1 KiB.
func TestHostReader(t *testing.T) {
	r := kerneltest.Open(t)
	var x kerneltest.Tokens
	x.Add("1.00000000000000011102230246251565404236316680908203125", ",")
	x.Add("1."+strings.Repeat("0", 2000), ",")
	_, after := kerneltest.ParseFloats(r, &x, knumber.GrammarJSON)
	for i := range x.Starts {
		if !kerneltest.Bit(after.Valid, i) || after.Out[i] != 1 {
			t.Errorf("token %d is %v", i, after.Out[i])
		}
	}
}
