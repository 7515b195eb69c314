package geojson

import (
	"errors"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

// TestUploadAfterFault has each call of an upload fail once: the next upload brings all of the
// dictionary.
func TestUploadAfterFault(t *testing.T) {
	errInjected := errors.New("injected")
	left := -1
	d := gputest.OpenFaulty(t, gpu.Options{}, func(string) error {
		if left--; left == 0 {
			return errInjected
		}
		return nil
	})
	s := gputest.Stream(t, d)
	names := newDictionary([]string{"a", "b"}, []string{"c"})
	for call := 1; ; call++ {
		var u deviceDictionary
		left = call
		err := u.upload(s, names)
		left = -1
		if again := u.upload(s, names); again != nil {
			t.Fatal(again)
		}
		if u.fields.Len() == 0 || u.column.Len() != len(names.column) {
			t.Errorf("call %d fails: %d columns of %d", call, u.column.Len(), len(names.column))
		}
		if freed := u.Free(s); freed != nil {
			t.Fatal(freed)
		}
		if err == nil {
			if call < 5 {
				t.Errorf("%d calls", call)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
	}
}
