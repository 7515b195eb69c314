package units

import (
	"math"
	"testing"
)

func TestByteSize(t *testing.T) {
	tests := []struct {
		name, text string
		want       int64 // < 0: refused
		back       string
	}{
		{"bytes", "4096", 4096, "4KiB"},
		{"bytes with unit", "17B", 17, "17"},
		{"zero", "0", 0, "0"},
		{"binary", "512MiB", 512 << 20, "512MiB"},
		{"decimal", "2GB", 2e9, "1953125KiB"},
		{"case and space", "4 gib", 4 << 30, "4GiB"},
		{"fraction", "1.5GiB", 3 << 29, "1536MiB"},
		{"fraction of a byte is cut", "1.0001kB", 1000, "1000"},
		{"largest", "9223372036854775807", math.MaxInt64, "9223372036854775807"},
		{"too large", "9223372036854775808", -1, ""},
		{"too large with unit", "9000000TiB", -1, ""},
		{"lone letter", "4G", -1, ""},
		{"negative", "-1", -1, ""},
		{"exponent", "1e999999999", -1, ""},
		{"ratio", "1/3", -1, ""},
		{"unit alone", "MiB", -1, ""},
		{"dot alone", ".MiB", -1, ""},
		{"empty", "", -1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Size
			err := got.Set(tt.text)
			if tt.want < 0 {
				if err == nil {
					t.Fatalf("Set(%q): got %d, want an error", tt.text, got)
				}
				return
			}
			if err != nil || int64(got) != tt.want {
				t.Fatalf("Set(%q): got %d, %v, want %d", tt.text, got, err, tt.want)
			}
			if got.String() != tt.back {
				t.Errorf("String of %q: got %q, want %q", tt.text, got.String(), tt.back)
			}
			var again Size
			if err := again.Set(got.String()); err != nil || again != got {
				t.Errorf("Set(%q): got %d, %v, want %d", got.String(), again, err, got)
			}
		})
	}
}

func TestHumanBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 12_345: "12.3 kB", 999_499: "999 kB", 999_500: "1.00 MB",
		9_994_999: "9.99 MB", 9_995_000: "10.0 MB", 99_950_000: "100 MB", 2_000_000_000: "2.00 GB",
		math.MaxInt64: "9.22 EB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("humanBytes(%d): got %q, want %q", n, got, want)
		}
	}
}

func TestHumanCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567", -1234: "-1,234"} {
		if got := Count(n); got != want {
			t.Errorf("humanCount(%d): got %q, want %q", n, got, want)
		}
	}
}
