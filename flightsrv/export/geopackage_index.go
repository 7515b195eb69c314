package export

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/ncruces/go-sqlite3"

	"github.com/vibeflight/vibeflight/catalog/rtree"
)

// Sizes of SQLite's R-tree of two dimensions, in a database with pages of 4,096 bytes.
const (
	rtreeCells     = 51 // of a node
	rtreeCellBytes = 24 // id, xmin, xmax, ymin, ymax
	rtreeHeadBytes = 4  // depth of the root, number of cells
	rtreeNodeBytes = rtreeHeadBytes + rtreeCells*rtreeCellBytes
	rtreeRoot      = 1 // its number
)

// rowIndex is the boxes of rows until the index is written.
type rowIndex struct {
	boxes [][4]float64
	rows  []int32 // their keys
}

func (x *rowIndex) add(key int64, box [4]float64) error {
	if key > math.MaxInt32 {
		return errors.New("more rows than the index can have: 2147483647; write .parquet")
	}
	x.boxes, x.rows = append(x.boxes, box), append(x.rows, int32(key))
	return nil
}

// writeIndex fills the three tables of an R-tree of SQLite (https://sqlite.org/rtree.html), whose
// virtual table exists and is empty. Inserting row by row would take most of the time of an export.
//
//	_node    nodeno, data       data: depth, which only the root has, number of cells, cells; big-endian
//	_rowid   rowid, nodeno      the leaf of a row
//	_parent  nodeno, parentnode
//
// The rows are in the order of a Hilbert curve. Coordinates are float32, rounded outward.
func (w *geoPackage) writeIndex() error {
	n := len(w.boxes.rows)
	if n == 0 {
		return nil
	}
	order := w.boxes.rows
	tree := rtree.Build(w.boxes.boxes, order)
	leaves := tree[len(tree)-n*indexItemBytes:]
	w.boxes.boxes = nil
	cells := make([]rtreeCell, n)
	for i := range cells {
		item := leaves[i*indexItemBytes:]
		var box [4]float64
		for k := range box {
			box[k] = math.Float64frombits(binary.LittleEndian.Uint64(item[8*k:]))
		}
		cells[i] = rtreeCell{int64(binary.LittleEndian.Uint64(item[32:])), outward(box)}
	}
	b := rtreeBuilder{name: w.layer.rtreeName(), db: w.db, next: rtreeRoot + 1}
	leafOf := make([]int32, w.rows+1) // by key
	for depth := 0; ; depth++ {
		nodes, err := b.level(cells, depth, leafOf)
		if err != nil {
			return err
		}
		if len(nodes) == 1 {
			break
		}
		cells = nodes
	}
	rowid, _, err := w.db.Prepare("INSERT INTO " + quoteName(b.name+"_rowid") + " VALUES (?,?)")
	if err != nil {
		return err
	}
	for key, node := range leafOf {
		if node == 0 {
			continue
		}
		err := errors.Join(rowid.BindInt64(1, int64(key)), rowid.BindInt64(2, int64(node)), rowid.Exec())
		if err != nil {
			return errors.Join(err, rowid.Close())
		}
	}
	return rowid.Close()
}

// rtreeCell is an entry of a node: a row or another node.
type rtreeCell struct {
	id  int64
	box [4]float32 // xmin xmax ymin ymax
}

// outward rounds a box xmin ymin xmax ymax to float32.
func outward(b [4]float64) [4]float32 {
	down := func(v float64) float32 {
		f := float32(v)
		if float64(f) > v {
			f = math.Nextafter32(f, float32(math.Inf(-1)))
		}
		return f
	}
	return [4]float32{down(b[0]), -down(-b[2]), down(b[1]), -down(-b[3])}
}

// rtreeBuilder numbers and writes nodes.
type rtreeBuilder struct {
	name string
	db   *sqlite3.Conn
	next int64 // number of the next node other than the root
}

// level writes the nodes that hold cells, and returns them as cells. The last level has one node, the
// root. Leaves are noted in leafOf.
func (b *rtreeBuilder) level(cells []rtreeCell, depth int, leafOf []int32) (nodes []rtreeCell, err error) {
	node, _, err := b.db.Prepare("INSERT OR REPLACE INTO " + quoteName(b.name+"_node") + " VALUES (?,?)")
	if err != nil {
		return nil, err
	}
	defer node.Close()
	parent, _, err := b.db.Prepare("INSERT INTO " + quoteName(b.name+"_parent") + " VALUES (?,?)")
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	count := (len(cells) + rtreeCells - 1) / rtreeCells
	for k := range count {
		number := int64(rtreeRoot)
		if count > 1 {
			number = b.next
			b.next++
		}
		// Nodes of equal size: none has too few cells.
		part := cells[k*len(cells)/count : (k+1)*len(cells)/count]
		var data [rtreeNodeBytes]byte
		if number == rtreeRoot {
			binary.BigEndian.PutUint16(data[:], uint16(depth))
		}
		nodes = append(nodes, rtreeCell{number, putCells(&data, part)})
		if err := errors.Join(node.BindInt64(1, number), node.BindBlob(2, data[:]), node.Exec()); err != nil {
			return nil, err
		}
		for i := range part {
			if depth == 0 {
				leafOf[part[i].id] = int32(number)
				continue
			}
			err := errors.Join(parent.BindInt64(1, part[i].id), parent.BindInt64(2, number), parent.Exec())
			if err != nil {
				return nil, err
			}
		}
	}
	return nodes, nil
}

// putCells writes the cells of a node, and returns the box around them.
func putCells(data *[rtreeNodeBytes]byte, cells []rtreeCell) (box [4]float32) {
	binary.BigEndian.PutUint16(data[2:], uint16(len(cells)))
	box = cells[0].box
	for i := range cells {
		c := &cells[i]
		to := data[rtreeHeadBytes+i*rtreeCellBytes:]
		binary.BigEndian.PutUint64(to, uint64(c.id))
		for k, v := range c.box {
			binary.BigEndian.PutUint32(to[8+4*k:], math.Float32bits(v))
			if k&1 == 0 {
				box[k] = min(box[k], v)
			} else {
				box[k] = max(box[k], v)
			}
		}
	}
	return box
}
