//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"fmt"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// lossy are DuckDB's types without an Arrow type, or with one that can't hold all values or that
// some clients can't read. The text says what to cast to.
var lossy = map[duckdb.Type]string{
	duckdb.TypeUHugeInt: "UHUGEINT: the values do not fit Arrow's decimals, cast it to VARCHAR or to a smaller type",
	duckdb.TypeTimeTZ:   "TIME WITH TIME ZONE: Arrow has no zone for a time of day, cast it to VARCHAR or TIME",
	duckdb.TypeBit:      "BIT: Arrow has no such type, cast it to VARCHAR",
	duckdb.TypeBigNum:   "BIGNUM: Arrow has no such type, cast it to VARCHAR or to a decimal",
	duckdb.TypeUnion:    "UNION: take one of its members, or cast it to VARCHAR",
	duckdb.TypeVariant:  "VARIANT: Arrow has no such type, cast it to the type that it holds",
}

// typeSupport is what keeps a type from being an Arrow type.
type typeSupport struct {
	unresolved bool   // it depends on a parameter
	lossy      string // text of lossy
}

func (k *typeSupport) add(o typeSupport) {
	k.unresolved = k.unresolved || o.unresolved
	if k.lossy == "" {
		k.lossy = o.lossy
	}
}

// typeSupportOf examines a type and its nested types.
func typeSupportOf(t duckdb.LogicalType) typeSupport {
	id := duckdb.GetTypeId(t)
	k := typeSupport{unresolved: id == duckdb.TypeInvalid || id == duckdb.TypeAny, lossy: lossy[id]}
	child := func(c duckdb.LogicalType) {
		defer duckdb.DestroyLogicalType(&c)
		// intervals are checked only in columns of their own, see checkIntervals
		if duckdb.GetTypeId(c) == duckdb.TypeInterval {
			k.add(typeSupport{lossy: "INTERVAL inside of another type: its range is not Arrow's, cast it to VARCHAR"})
		}
		k.add(typeSupportOf(c))
	}
	switch id {
	case duckdb.TypeList:
		child(duckdb.ListTypeChildType(t))
	case duckdb.TypeArray:
		child(duckdb.ArrayTypeChildType(t))
	case duckdb.TypeMap:
		child(duckdb.MapTypeKeyType(t))
		child(duckdb.MapTypeValueType(t))
	case duckdb.TypeStruct:
		for i := range duckdb.StructTypeChildCount(t) {
			child(duckdb.StructTypeChildType(t, i))
		}
	}
	return k
}

// resolveTypes converts the types of columns to types that Arrow has. A type that depends on a
// parameter becomes the null type. A type that would lose values is an error.
func resolveTypes(types []duckdb.LogicalType, names []string) error {
	for i, t := range types {
		switch k := typeSupportOf(t); {
		case k.lossy != "":
			return &Error{
				Kind: Unsupported, Message: fmt.Sprintf("column %s is of type %s", names[i], k.lossy),
				Position: -1,
			}
		case k.unresolved:
			duckdb.DestroyLogicalType(&types[i])
			types[i] = duckdb.CreateLogicalType(duckdb.TypeSQLNull)
		}
	}
	return nil
}
