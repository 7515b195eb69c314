package quickstart

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteSample(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	for _, want := range []bool{true, false} {
		if written, err := WriteSample(folder); written != want || err != nil {
			t.Fatalf("WriteSample = %v, %v; want %v", written, err, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, SampleFile))
	if err != nil || !strings.Contains(string(text), `"Fiji"`) {
		t.Errorf("the sample has %d bytes, %v; want countries", len(text), err)
	}
	if len(countries) > 200_000 {
		t.Errorf("the sample has %d bytes in the program, want 200,000 at most", len(countries))
	}
}

func TestAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	got, err := Address(taken.Addr().String())
	if err != nil || got == taken.Addr().String() || !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("Address(%v) = %q, %v; want another port", taken.Addr(), got, err)
	}
}
