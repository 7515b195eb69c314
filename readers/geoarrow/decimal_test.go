package geoarrow

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

func TestInt128Float(t *testing.T) {
	check := func(n decimal128.Num) {
		t.Helper()
		got, exact := Int128Float(n)
		want, accuracy := new(big.Float).SetInt(n.BigInt()).Float64()
		if got != want || math.Signbit(got) != math.Signbit(want) || exact != (accuracy == big.Exact) {
			t.Errorf("%v: got %v, %t, want %v, %v", n.BigInt(), got, exact, want, accuracy)
		}
	}
	for _, v := range []int64{0, 1, -1, 1 << 53, 1<<53 + 1, -(1<<53 + 1), math.MaxInt64, math.MinInt64} {
		check(decimal128.FromI64(v))
	}
	// The middle between two floats, and one more, at every power of two.
	for shift := range 73 {
		for _, below := range []int64{0, 1, -1} {
			n := new(big.Int).Lsh(big.NewInt(1<<54-2+1), uint(shift))
			check(decimal128.FromBigInt(n.Add(n, big.NewInt(below))))
			check(decimal128.FromBigInt(n.Neg(n)))
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		check(decimal128.New(r.Int64()>>r.IntN(64), r.Uint64()))
	}
}

func TestDecimalFacts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		kinds FactKinds
		want  arrow.DataType
	}{
		{"an integer of 38 digits", FactDecimal, decimalType},
		{"with int64", FactDecimal | FactInt64, decimalType},
		{"with a fraction", FactDecimal | FactInt64 | FactFloat, arrow.PrimitiveTypes.Float64},
		{"with more digits", FactDecimal | FactHuge, arrow.PrimitiveTypes.Float64},
		{"money", FactMoney, moneyType},
		{"money and numbers", FactMoney | FactInt32, arrow.BinaryTypes.String},
		{"with text", FactDecimal | FactString, arrow.BinaryTypes.String},
	} {
		if got := (Facts{Kinds: tt.kinds}).Resolve(RoleAttribute).Type; !arrow.TypeEqual(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDecimalColumns(t *testing.T) {
	decimals := Facts{Kinds: FactInt64 | FactDecimal}.Resolve(RoleAttribute)
	ints := Column{
		Type: arrow.PrimitiveTypes.Int64, Values: AsBytes([]int64{-1, 0, 1<<53 + 1}),
		Valid: []byte{5}, Nulls: 1,
	}
	wide, ok := ints.Widen(decimals, 3)
	if !ok || !arrow.TypeEqual(wide.Type, decimalType) {
		t.Fatalf("got %s, %t", wide.Type, ok)
	}
	for i, want := range []int64{-1, 0, 1<<53 + 1} {
		if got := DecimalView(wide.Values)[i]; got != decimal128.FromI64(want) {
			t.Errorf("value %d: got %v, want %d", i, got, want)
		}
	}
	low, high, ok := wide.Range(3)
	if !ok || low.Text(wide.Type) != "-1" || high.Text(wide.Type) != "9007199254740993" || low.Compare(high) != -1 {
		t.Errorf("range %s to %s, %t", low.Text(wide.Type), high.Text(wide.Type), ok)
	}
	floats, ok := wide.Widen(Resolution{Type: arrow.PrimitiveTypes.Float64}, 3)
	if !ok || floats.Rounded != 1 || View[float64](floats.Values)[2] != 1<<53 {
		t.Errorf("got %v, %d rounded, %t", View[float64](floats.Values), floats.Rounded, ok)
	}
	if _, ok := wide.Widen(textType, 3); ok {
		t.Error("decimals became text")
	}
	c := &Columns{Rows: 3, Attributes: []Column{wide}}
	rec, err := c.Slice(1, 3).Record(Schema(c, CRS{}, Encoding{}), nil, Encoding{})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	if got := rec.Column(0); !got.IsNull(0) || got.ValueStr(1) != "9007199254740993" {
		t.Errorf("got %s", got)
	}
	if _, _, ok := (&Column{Type: decimalType, Values: make([]byte, 16), Valid: []byte{0}, Nulls: 1}).Range(1); ok {
		t.Error("nulls have a range")
	}
}
