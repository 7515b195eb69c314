package kernels

// FetchArgs is for the test of its layout.
type FetchArgs = fetchArgs
