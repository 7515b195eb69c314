// Package xmltext reads the markup of XML 1.0 documents from a window of a file: tags, attributes
// and character data, in order, without a copy and without an allocation per tag. KML and GML,
// which have no mixed content, use it.
//
// It implements XML 1.0 (fifth edition) without document type declarations, and the form of names
// of Namespaces in XML. It is strict: tags match, attributes are quoted and occur once, characters
// are those of section 2.2, references are the five predefined ones or character references.
// Refused, with specific messages: a document type declaration (so nothing outside of the file is
// read, and no entity expands), elements nested beyond MaxDepth, a piece longer than Most, text
// after the root.
//
// Only the local part of a name counts: Local is the same for "kml:Point", "Point" and "p:Point".
// Namespaces are not resolved, and a prefix need not be declared: files without declarations are
// common, and vocabularies that share local names are rarely mixed. A caller that needs the URI
// reads the xmlns attributes.
//
// A document in ISO-8859-1 or windows-1252 is scanned unchanged, since all markup is ASCII. Text
// and Value always return UTF-8, and offsets are those of the file. Recode converts documents in
// other encodings, such as UTF-16, to UTF-8 before they are scanned.
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
// An element that must be in the window as a whole, such as a feature, is read from its start tag
// on, which Next returned and TagMark marks. If the window cuts it, it is filled from Mark.Index
// on, and Rewind and Next start again. Slices from Local, Attr, Text and Value are valid until the
// next call of Window; decoded ones until the next call of the same method.
package xmltext
