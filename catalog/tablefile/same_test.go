package tablefile

import (
	"fmt"
	"math"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
)

// same compares all fields of two tables. It compares floats by their bits, and treats empty slices
// as nil. The error says where the tables differ.
func same(got, want *readers.Table) error {
	g, w := *got, *want
	g.Check, g.Search, w.Check, w.Search = nil, nil, nil, nil
	return differ("table", reflect.ValueOf(g), reflect.ValueOf(w))
}

func differ(path string, a, b reflect.Value) error {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if err := differ(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Errorf("%s: %d elements, want %d", path, a.Len(), b.Len())
		}
		if k := a.Type().Elem().Kind(); a.Len() == 0 || a.Kind() == reflect.Slice &&
			(k == reflect.Uint8 || k == reflect.Int32) && reflect.DeepEqual(a.Interface(), b.Interface()) {
			return nil
		}
		for i := range a.Len() {
			if err := differ(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Float64:
		if x, y := math.Float64bits(a.Float()), math.Float64bits(b.Float()); x != y {
			return fmt.Errorf("%s: %x, want %x", path, x, y)
		}
		return nil
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Errorf("%s: nil is %t, want %t", path, a.IsNil(), b.IsNil())
			}
			return nil
		}
		return differ(path, a.Elem(), b.Elem())
	case reflect.Interface:
		x, _ := a.Interface().(arrow.DataType)
		y, _ := b.Interface().(arrow.DataType)
		if (x == nil) != (y == nil) || x != nil && !arrow.TypeEqual(x, y, arrow.CheckMetadata()) {
			return fmt.Errorf("%s: %v, want %v", path, x, y)
		}
		return nil
	}
	if !reflect.DeepEqual(a.Interface(), b.Interface()) {
		return fmt.Errorf("%s: %v, want %v", path, a.Interface(), b.Interface())
	}
	return nil
}
