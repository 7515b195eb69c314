package kerneltest

// ValuesText is values with other text between them.
type ValuesText struct {
	Text         []byte
	Starts, Ends []int64
}

// Add appends a value that follows between.
func (v *ValuesText) Add(value string, between string) {
	v.Text = append(v.Text, between...)
	v.Starts = append(v.Starts, int64(len(v.Text)))
	v.Text = append(v.Text, value...)
	v.Ends = append(v.Ends, int64(len(v.Text)))
}
