package main

import (
	"bytes"
	"math"
	"math/big"
	"os"
	"testing"
)

func TestTableIsCheckedIn(t *testing.T) {
	got, err := os.ReadFile("../../number/powers.cuh")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, table()) {
		t.Error("powers.cuh is not what go generate ./kernels/number writes")
	}
}

// The definition of the entries, asked the other way round: an entry times a power of two is next
// to 5^power.
func TestFive(t *testing.T) {
	one := big.NewInt(1)
	for power := minPower; power <= maxPower; power++ {
		high, low := five(power)
		entry := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(high), 64), new(big.Int).SetUint64(low))
		if entry.BitLen() != 128 {
			t.Errorf("5^%d has %d bits", power, entry.BitLen())
		}
		exact := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(max(power, -power))), nil))
		if power < 0 {
			exact.Inv(exact)
		}
		// The exponent of two that puts the exact value to [2^127, 2^128).
		shift := 127 - int(math.Floor(float64(power)*math.Log2(5)))
		scale := new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(max(shift, -shift))))
		if shift < 0 {
			scale.Inv(scale)
		}
		exact.Mul(exact, scale)
		below, above := new(big.Rat).SetInt(entry), new(big.Rat).SetInt(new(big.Int).Add(entry, one))
		if power < 0 {
			below, above = new(big.Rat).SetInt(new(big.Int).Sub(entry, one)), below
		}
		if below.Cmp(exact) > 0 || exact.Cmp(above) > 0 {
			t.Errorf("5^%d: the entry is not next to it", power)
		}
	}
}
