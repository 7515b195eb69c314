// Package xmltext reads the markup of XML 1.0 documents out of a window of a file: tags, attributes
// and character data, one after the other, without a copy and without an allocation per tag. It
// serves KML and GML, in which text and elements do not mix.
//
// It knows XML 1.0 (fifth edition) without document type declarations, and of Namespaces in XML the
// form of names. It is strict: tags match, attributes are quoted and occur once, characters are
// those of section 2.2, references are the five predefined ones or character references. Refused,
// with words of their own: a document type declaration (so nothing outside of the file is ever
// read, and no entity grows), elements nested beyond MaxDepth, a piece longer than Most, text
// after the root.
//
// Names are told apart by their local part: "kml:Point", "Point" and "p:Point" are one name to
// Local. Namespaces are not resolved, and a prefix need not be declared: files without declarations
// are common, two vocabularies with the same local names in one place are not. Who needs the URI
// reads the xmlns attributes.
//
// A document in ISO-8859-1 or windows-1252 is scanned as it is, since all markup is ASCII: what
// Text and Value hand out is UTF-8 in any case, and offsets are those of the file. Recode makes
// UTF-8 of documents in other encodings, UTF-16 among them, before they are scanned.
//
// # How it is used
//
// The window holds N bytes of the file from offset Base on. Next passes to the next tag:
//
//	switch x.Next() {
//	case xmltext.Start: // x.Local() is its name, x.Attr("id") an attribute; then x.Value() reads its text up
//	to its end,
//	                    // x.Skip() passes all of it, or x.Next() goes inside
//	case xmltext.End:   // of the innermost open element; <a/> gives Start, then End
//	case xmltext.EOF:   // after the root, at the end of the document
//	case xmltext.Fault: // x.Fault says why: something is malformed, or the window ends too early (x.Cut())
//	}
//
// If the window ends too early, P is the index from which on bytes are still needed. The caller
// fills the window from there, gives the new one to Window and calls again:
//
//	for t = x.Next(); t == xmltext.Fault && x.Cut(); t = x.Next() {
//		if !w.Fill(x.P) { return w.Err }
//		x.Window(w.Q, w.N, w.Base, w.EOF)
//	}
//
// An element that is to be in the window as a whole, such as a feature, is read from its start tag
// on, which Next gave and TagMark remembers; if the window cuts it, it is filled from Mark.Index
// on, and Rewind and Next begin again. Slices that Local, Attr, Text and Value give are valid until
// the next call of Window; those that had to be decoded until the next call of the same method.
package xmltext
