package timeline

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// drawn returns a timeline of
//
//	read   aaaabbbb..ee
//	         cccc
//	work   ......ddd...
func drawn() *Timeline {
	const ms = time.Millisecond
	return &Timeline{spans: []span{ // in the order in which they ended
		{"read", 0, 2 * ms, 6 * ms},
		{"read", 64, 4 * ms, 8 * ms},
		{"read", 32, 6 * ms, 10 * ms},
		{"work", 0, 8 * ms, 11 * ms},
		{"read", 96, 12 * ms, 14 * ms},
	}}
}

func TestStages(t *testing.T) {
	stages, whole := drawn().Stages()
	want := []Stage{
		{Name: "read", Times: 4, Sum: 14 * time.Millisecond, Most: 2, Idle: 2 * time.Millisecond},
		{Name: "work", Times: 1, Sum: 3 * time.Millisecond, Most: 1, Idle: 9 * time.Millisecond},
	}
	if !slices.Equal(stages, want) || whole != 12*time.Millisecond {
		t.Errorf("%+v in %v, want %+v in 12ms", stages, whole, want)
	}
	if stages, whole := New().Stages(); len(stages) != 0 || whole != 0 {
		t.Errorf("%+v in %v of nothing", stages, whole)
	}
}

// TestWrite compares the rows that a viewer shows: spans of one stage that overlap are in different
// ones.
func TestWrite(t *testing.T) {
	var text strings.Builder
	if err := drawn().Write(&text); err != nil {
		t.Fatal(err)
	}
	var got struct{ TraceEvents []event }
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatal(err)
	}
	var groups []string
	var spans []event
	for _, e := range got.TraceEvents {
		switch e.Name {
		case "process_name":
			groups = append(groups, e.Args["name"].(string))
		case "process_sort_index":
		default:
			e.Args = nil
			spans = append(spans, e)
		}
	}
	want := []event{
		{Name: "byte 0", Phase: "X", PID: 0, TID: 0, Begin: 2000, Took: 4000},
		{Name: "byte 64", Phase: "X", PID: 0, TID: 1, Begin: 4000, Took: 4000},
		{Name: "byte 32", Phase: "X", PID: 0, TID: 0, Begin: 6000, Took: 4000},
		{Name: "byte 96", Phase: "X", PID: 0, TID: 0, Begin: 12000, Took: 2000},
		{Name: "byte 0", Phase: "X", PID: 1, TID: 0, Begin: 8000, Took: 3000},
	}
	same := func(a, b event) bool {
		return a.Name == b.Name && a.Phase == b.Phase && a.PID == b.PID && a.TID == b.TID && a.Begin == b.Begin &&
			a.Took == b.Took
	}
	if !slices.Equal(groups, []string{"read", "work"}) || !slices.EqualFunc(spans, want, same) {
		t.Errorf("%q %+v", groups, spans)
	}
}

// TestNobodyAsks has stages begin and end where there is no timeline.
func TestNobodyAsks(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { Of(context.Background()).Begin("read", 0)() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	line := New()
	ctx := line.With(t.Context())
	Of(ctx).Begin("read", 5)()
	if s, _ := line.Stages(); len(s) != 1 || s[0].Name != "read" || s[0].Times != 1 {
		t.Errorf("%+v", s)
	}
}
