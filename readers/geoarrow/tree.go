package geoarrow

// Tree is one geometry by itself, for code that writes formats other than GeoArrow.
type Tree struct {
	Kind Kind
	Dim  Dim

	// Runs are sequences of positions, of Dim.Size() ordinates each. A LineString has one run, a
	// Polygon one for each ring, and a Point one run of one position, or none if it is empty. Other
	// kinds have none.
	Runs [][]float64
	// Members are those of a Multi kind and of a GeometryCollection.
	Members []Tree
}

// ParseWKB reads all of wkb as one geometry in ISO WKB of either byte order. A Point that is
// NaN in every ordinate is empty. Malformed bytes give a *WKBError.
func ParseWKB(wkb []byte) (Tree, error) {
	r := wkbReader{b: wkb}
	h, err := r.head()
	if err != nil {
		return Tree{}, err
	}
	t, err := r.tree(h, 0)
	if err == nil && r.at < len(wkb) {
		err = r.errorf("%d bytes after the geometry", len(wkb)-r.at)
	}
	return t, err
}

func (r *wkbReader) tree(h wkbHead, depth int) (Tree, error) {
	t := Tree{Kind: h.kind, Dim: h.dim}
	if h.kind.IsMulti() || h.kind == GeometryCollection {
		return t, r.eachTree(h, depth, func(m Tree) { t.Members = append(t.Members, m) })
	}
	return t, r.eachRun(h, depth, func(h wkbHead, positions []byte) {
		if h.kind == Point && h.allNaN(positions) {
			return
		}
		run := make([]float64, len(positions)/8)
		for i := range run {
			run[i] = h.ordinate(positions, i)
		}
		t.Runs = append(t.Runs, run)
	})
}

// eachTree calls f with every member of a geometry.
func (r *wkbReader) eachTree(h wkbHead, depth int, f func(Tree)) error {
	if depth >= maxWKBDepth {
		return r.errorf("collections are nested deeper than %d", maxWKBDepth)
	}
	n, err := r.count(h, minMemberBytes)
	if err != nil {
		return err
	}
	for range n {
		m, err := r.member(h)
		if err != nil {
			return err
		}
		t, err := r.tree(m, depth+1)
		if err != nil {
			return err
		}
		f(t)
	}
	return nil
}

// Empty reports whether the geometry has no position.
func (t *Tree) Empty() bool {
	for _, run := range t.Runs {
		if len(run) > 0 {
			return false
		}
	}
	for i := range t.Members {
		if !t.Members[i].Empty() {
			return false
		}
	}
	return true
}

// Bounds returns the bounding box in x and y. Positions whose x or y is NaN don't count; ok is
// false if none counts.
func (t *Tree) Bounds() (box [4]float64, ok bool) {
	b := emptyBox
	t.addTo(&b)
	return [4]float64{b.xmin, b.ymin, b.xmax, b.ymax}, b.xmin <= b.xmax
}

func (t *Tree) addTo(b *box) {
	n := t.Dim.Size()
	for _, run := range t.Runs {
		for i := 0; i < len(run); i += n {
			b.addPosition(run[i], run[i+1])
		}
	}
	for i := range t.Members {
		t.Members[i].addTo(b)
	}
}
