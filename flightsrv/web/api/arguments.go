package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// arguments makes a row of the values for the parameters of a statement: those of an array by their
// positions, those of an object by their names. It returns nil if the statement has no parameters.
func arguments(given json.RawMessage, want *arrow.Schema) (arrow.Record, error) {
	values, err := argumentsInOrder(bytes.TrimSpace(given), want)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	fields := make([]arrow.Field, len(values))
	columns := make([]arrow.Array, len(values))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, v := range values {
		if columns[i], err = argument(v); err != nil {
			return nil, httpcall.BadRequest(fmt.Sprintf("parameters: %s: %v", parameterName(want.Field(i).Name), err))
		}
		fields[i] = arrow.Field{Name: want.Field(i).Name, Type: columns[i].DataType(), Nullable: true}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, 1), nil
}

// argumentsInOrder returns the value of each parameter.
func argumentsInOrder(given json.RawMessage, want *arrow.Schema) ([]any, error) {
	switch {
	case len(given) == 0 && want.NumFields() == 0:
		return nil, nil
	case len(given) == 0:
		return nil, httpcall.BadRequest(fmt.Sprintf("parameters: the statement has %d, and none is given",
			want.NumFields()))
	case given[0] == '[':
		var values []any
		if err := decode(given, &values); err != nil {
			return nil, httpcall.BadRequest("parameters: " + err.Error())
		}
		if len(values) != want.NumFields() {
			return nil, httpcall.BadRequest(fmt.Sprintf("parameters: the statement has %d, and %d are given",
				want.NumFields(), len(values)))
		}
		return values, nil
	case given[0] != '{':
		return nil, httpcall.BadRequest("parameters: want an array, or an object with the names of $name")
	}
	named := map[string]any{}
	if err := decode(given, &named); err != nil {
		return nil, httpcall.BadRequest("parameters: " + err.Error())
	}
	var values []any
	for _, f := range want.Fields() {
		v, ok := named[f.Name]
		if !ok {
			return nil, httpcall.BadRequest(fmt.Sprintf("parameters: %s is missing", parameterName(f.Name)))
		}
		values = append(values, v)
		delete(named, f.Name)
	}
	for name := range named {
		return nil, httpcall.BadRequest(fmt.Sprintf("parameters: the statement has no %s", parameterName(name)))
	}
	return values, nil
}

func parameterName(name string) string { return fmt.Sprintf("$%.100s", name) }

// decode reads JSON whose numbers keep their text.
func decode(text json.RawMessage, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// argument makes an array of a value. An integer out of the range of int64 is text, which DuckDB
// converts exactly.
func argument(value any) (arrow.Array, error) {
	var b array.Builder
	alloc := memory.DefaultAllocator
	switch v := value.(type) {
	case nil:
		return array.NewNull(1), nil
	case bool:
		typed := array.NewBooleanBuilder(alloc)
		typed.Append(v)
		b = typed
	case string:
		typed := array.NewStringBuilder(alloc)
		typed.Append(v)
		b = typed
	case json.Number:
		b = number(string(v))
	default:
		return nil, fmt.Errorf("want a text, a number, a boolean or null, have a list or an object")
	}
	defer b.Release()
	return b.NewArray(), nil
}

// number returns the builder of a number.
func number(text string) array.Builder {
	alloc := memory.DefaultAllocator
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		b := array.NewInt64Builder(alloc)
		b.Append(n)
		return b
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		b := array.NewFloat64Builder(alloc)
		b.Append(n)
		return b
	}
	b := array.NewStringBuilder(alloc)
	b.Append(text)
	return b
}
