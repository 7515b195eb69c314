package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// extensionName and extensionMetadata are the keys that Arrow's extension types have in the
// metadata of a field.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
)

// metadata is a value of a field's metadata; "" if it is missing.
func metadata(f arrow.Field, key string) string {
	text, _ := f.Metadata.GetValue(key)
	return text
}

// isWKB reports whether a field is a geometry of geoarrow.wkb.
func isWKB(f arrow.Field) bool {
	return metadata(f, extensionName) == "geoarrow.wkb" && f.Type.ID() == arrow.BINARY
}

// isJSON reports whether a field is JSON text (arrow.json).
func isJSON(f arrow.Field) bool {
	return metadata(f, extensionName) == "arrow.json" && f.Type.ID() == arrow.STRING
}

// IsNull reports whether a value is null. An array of nulls has no bitmap, so that its IsNull is
// false.
func IsNull(column arrow.Array, i int) bool {
	return column.IsNull(i) || column.DataType().ID() == arrow.NULL
}

// stringArray is any of Arrow's three string arrays.
type stringArray interface{ Value(int) string }

// AppendText appends a value of a column for people and CSV: geometries as WKT, lists and structs
// as JSON. The value must not be null.
func AppendText(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	switch a := column.(type) {
	case stringArray:
		return append(dst, a.Value(i)...), nil
	case *array.Binary:
		if isWKB(f) {
			return geoarrow.WKBToWKT(dst, a.Value(i))
		}
		return append(dst, a.ValueStr(i)...), nil
	case *array.Dictionary:
		return AppendText(dst, f, a.Dictionary(), a.GetValueIndex(i))
	case *array.Float32, *array.Float64:
		return append(dst, column.ValueStr(i)...), nil
	}
	text, err := appendJSON(dst, arrow.Field{}, column, i)
	if err == nil && len(text) > len(dst) && text[len(dst)] == '"' { // dates and the like: no text with an escape
		text = append(text[:len(dst)], text[len(dst)+1:len(text)-1]...)
	}
	return text, err
}

// appendJSON appends a value as JSON: numbers with all digits, NaN and infinity as text, geometries
// as WKT, other bytes in base64, dates and times in ISO 8601, a map as a list of objects, JSON text
// unchanged.
func appendJSON(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	if IsNull(column, i) {
		return append(dst, "null"...), nil
	}
	switch a := column.(type) {
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i)), nil
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(i)), 32), nil
	case *array.Float64:
		return appendFloat(dst, a.Value(i), 64), nil
	case *array.Decimal128, *array.Decimal256,
		*array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16, *array.Uint32,
		*array.Uint64:
		return append(dst, column.ValueStr(i)...), nil
	case *array.Timestamp:
		return appendTimestamp(dst, a, i)
	case *array.Binary:
		text, err := AppendText(nil, f, a, i)
		return appendQuoted(dst, string(text)), err
	case *array.Dictionary:
		return appendJSON(dst, f, a.Dictionary(), a.GetValueIndex(i))
	case *array.Struct:
		return appendObject(dst, a, i)
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		return appendList(dst, a.ListValues(), int(start), int(end))
	case stringArray:
		if isJSON(f) {
			return appendCompact(dst, a.Value(i))
		}
		return appendQuoted(dst, a.Value(i)), nil
	case *array.Date32, *array.Date64, *array.Time32, *array.Time64:
		return appendQuoted(dst, column.ValueStr(i)), nil
	}
	text, err := json.Marshal(column.GetOneForMarshal(i))
	if err != nil {
		return dst, fmt.Errorf("a value of type %s has no text: %w", column.DataType(), err)
	}
	return append(dst, text...), nil
}

func appendFloat(dst []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(dst, strconv.FormatFloat(v, 'g', -1, bits))
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// appendTimestamp appends "2026-05-01T06:30:12.5", followed by the offset if the column has a zone.
func appendTimestamp(dst []byte, a *array.Timestamp, i int) ([]byte, error) {
	kind := a.DataType().(*arrow.TimestampType)
	at, err := kind.GetToTimeFunc()
	if err != nil {
		return dst, err
	}
	layout := "2006-01-02T15:04:05.999999999"
	if kind.TimeZone != "" {
		layout = time.RFC3339Nano
	}
	return appendQuoted(dst, at(a.Value(i)).Format(layout)), nil
}

// appendQuoted appends text as a JSON string, with "<" and "&" unescaped.
func appendQuoted(dst []byte, text string) []byte {
	w := &byteWriter{dst}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // neither text nor writer can fail
	return w.bytes[:len(w.bytes)-1]
}

// appendCompact appends JSON text without white space between its parts: a line end would end the
// line of GeoJSONSeq.
func appendCompact(dst []byte, text string) ([]byte, error) {
	w := bytes.NewBuffer(dst)
	if err := json.Compact(w, []byte(text)); err != nil {
		return dst, fmt.Errorf("JSON text: %w", err)
	}
	return w.Bytes(), nil
}

type byteWriter struct{ bytes []byte }

func (w *byteWriter) Write(p []byte) (int, error) {
	w.bytes = append(w.bytes, p...)
	return len(p), nil
}

func appendObject(dst []byte, a *array.Struct, i int) ([]byte, error) {
	var err error
	dst = append(dst, '{')
	for k, f := range a.DataType().(*arrow.StructType).Fields() {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, f.Name), ':')
		if dst, err = appendJSON(dst, f, a.Field(k), i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, values arrow.Array, start, end int) ([]byte, error) {
	var err error
	dst = append(dst, '[')
	for i := start; i < end; i++ {
		if i > start {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, arrow.Field{}, values, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}
