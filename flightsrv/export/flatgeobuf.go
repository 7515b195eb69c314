package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/rtree"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// flatGeobuf writes FlatGeobuf 3.
//
//	magic    8 bytes
//	header   a flatbuffer after its length
//	index    a packed Hilbert R-tree; none where a geometry is null or empty, which has no place in one
//	features a flatbuffer each after its length, in the order of the index or of the table
//
// If there are only single geometries and those of their Multi type, the type of all is Multi. The
// header is known last, so rows wait in a file without a name in the folder of the output, with 48
// bytes of each in memory.
type flatGeobuf struct {
	flatLayer
	out *os.File

	spool *os.File
	waits *bufio.Writer // into spool
	at    []int64       // start of each row's properties and WKB in spool, and the end of the last
	boxes [][4]float64
}

const (
	flatGeobufMagic = "fgb\x03fgb\x01"
	indexNodeSize   = 16
	indexItemBytes  = 40 // xmin, ymin, xmax, ymax, offset
)

func newFlatGeobuf(out *os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	if err := distinctNames(schema, "FlatGeobuf"); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(filepath.Dir(out.Name()), ".rows")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spool.Name()); err != nil { // a killed process leaves no file
		return nil, err
	}
	return &flatGeobuf{
		flatLayer: newFlatLayer(layerName(out.Name(), ".fgb"), schema), out: out, spool: spool,
		waits: bufio.NewWriterSize(spool, bufferBytes), at: []int64{0},
	}, nil
}

// Write writes rows to the spool: the length of the properties, the properties, WKB.
func (w *flatGeobuf) Write(rec arrow.Record) error {
	var row []byte
	for i := range int(rec.NumRows()) {
		var err error
		if row, err = w.properties(append(row[:0], 0, 0, 0, 0), rec, i); err != nil {
			return fmt.Errorf("row %d: %w", len(w.at)-1, err)
		}
		binary.LittleEndian.PutUint32(row, uint32(len(row)-4))
		if row, err = w.place(row, rec, i); err != nil {
			return fmt.Errorf("row %d: %w", len(w.at)-1, err)
		}
		if _, err := w.waits.Write(row); err != nil {
			return err
		}
		w.at = append(w.at, w.at[len(w.at)-1]+int64(len(row)))
	}
	return nil
}

// place appends the WKB of row i, and records its box.
func (w *flatGeobuf) place(row []byte, rec arrow.Record, i int) ([]byte, error) {
	if w.geometry < 0 || IsNull(rec.Column(w.geometry), i) {
		return row, nil
	}
	t, _, err := treeAt(rec.Column(w.geometry), i)
	if err != nil {
		return row, err
	}
	if box, ok := w.facts.add(&t); ok {
		w.boxes = append(w.boxes, box)
	}
	return append(row, rec.Column(w.geometry).(binaryArray).Value(i)...), nil
}

// binaryArray is a column of bytes.
type binaryArray interface{ Value(int) []byte }

func (w *flatGeobuf) Close() error {
	defer w.spool.Close()
	if err := w.waits.Flush(); err != nil {
		return err
	}
	rows := len(w.at) - 1
	var index []byte
	order := make([]int32, rows) // of the features
	for i := range order {
		order[i] = int32(i)
	}
	if rows > 0 && len(w.boxes) == rows {
		index = rtree.Build(w.boxes, order)
	}
	leaves := index[max(0, len(index)-rows*indexItemBytes):]
	if index != nil {
		for i := range order {
			order[i] = int32(binary.LittleEndian.Uint64(leaves[i*indexItemBytes+32:]))
		}
	}
	head := w.header(rows, index != nil)
	start := int64(len(head) + len(index))
	if _, err := w.out.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if err := w.features(order, leaves); err != nil {
		return err
	}
	_, err := w.out.WriteAt(append(head, index...), 0)
	return err
}

// features writes the features in an order, and the start of each into the leaves of the index, if
// there is one.
func (w *flatGeobuf) features(order []int32, leaves []byte) error {
	out := bufio.NewWriterSize(w.out, bufferBytes)
	var row []byte
	var at uint64
	for i, r := range order {
		size := int(w.at[r+1] - w.at[r])
		row = append(row[:0], make([]byte, size)...)
		if _, err := w.spool.ReadAt(row, w.at[r]); err != nil {
			return err
		}
		feature, err := w.feature(row)
		if err != nil {
			return err
		}
		if leaves != nil {
			binary.LittleEndian.PutUint64(leaves[i*indexItemBytes+32:], at)
		}
		at += uint64(len(feature))
		if _, err := out.Write(feature); err != nil {
			return err
		}
	}
	return out.Flush()
}

// feature builds the flatbuffer of a row in the spool.
func (w *flatGeobuf) feature(row []byte) ([]byte, error) {
	split := 4 + binary.LittleEndian.Uint32(row)
	return w.build(row[4:split], row[split:])
}

// layerName is the name of a file without its folder, its extension and its temporary suffix.
func layerName(path, extension string) string {
	name := strings.TrimPrefix(filepath.Base(path), ".")
	if end := strings.LastIndex(strings.ToLower(name), extension); end >= 0 {
		return name[:end]
	}
	return name
}
