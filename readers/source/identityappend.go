package source

// Append appends the identity to b, for digests of many identities.
func (id Identity) Append(b []byte) []byte { return append(b, id.bytes()...) }
