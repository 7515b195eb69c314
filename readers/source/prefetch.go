package source

// Prefetcher is a Content whose bytes come from far away, and can be fetched before they are read.
type Prefetcher interface {
	// Prefetch begins to fetch bytes [from, to) of each span, in this order.
	Prefetch(spans ...[2]int64)
}

// Prefetch announces that bytes [from, to) of each span will be read soon. It returns at once, and
// does nothing for a local file.
func (f *File) Prefetch(spans ...[2]int64) {
	if p, ok := f.content.(Prefetcher); ok {
		p.Prefetch(spans...)
	}
}

// PrefetchAll announces that the whole file will be read, from its beginning, and so will its
// siblings.
func (f *File) PrefetchAll() {
	f.mu.Lock()
	f.whole = true
	for _, s := range f.opened {
		s.Prefetch([2]int64{0, s.Size})
	}
	f.mu.Unlock()
	f.Prefetch([2]int64{0, f.Size})
}
