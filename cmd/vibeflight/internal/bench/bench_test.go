package bench

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

func TestBenchSaysWhatWasRefused(t *testing.T) {
	before := readers.EngineCounts{
		Chunks: 10, Refused: 1, RefusedRows: 5, Reason: "before",
		Stages: readers.Stages{ReadSeconds: 1, UploadSeconds: 2, WorkSeconds: 3},
	}
	stages := readers.Stages{ReadSeconds: 1.5, UploadSeconds: 2.25, WorkSeconds: 4}
	tests := []struct {
		name       string
		after      readers.EngineCounts
		json, note string
	}{
		{
			"nothing",
			readers.EngineCounts{Chunks: 80, Refused: 1, RefusedRows: 5, Reason: "before", Stages: stages},
			`"chunks":70,"refused":0,"refused_rows":0,"faults":0,"stages":{"read_seconds":0.5,"upload_seconds":0.25,"work_seconds":1}}`,
			"  70 chunks, summed: read 0.500 s, upload 0.250 s, kernels and columns 1.000 s\n",
		},
		{
			"two chunks",
			readers.EngineCounts{
				Chunks: 78, Refused: 3, RefusedRows: 131_077, Faults: 1, Reason: "out of\nmemory",
				Stages: stages,
			},
			`"chunks":68,"refused":2,"refused_rows":131072,"faults":1,"stages":{"read_seconds":0.5,"upload_seconds":0.25,"work_seconds":1},"last_refusal":"out of\nmemory"}`,
			"  68 chunks, summed: read 0.500 s, upload 0.250 s, kernels and columns 1.000 s\n" +
				"  2 of 70 chunks, 131,072 rows, were read by the CPU engine: out of memory\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Run{Seconds: 1, EngineCounts: countsSince(before, tt.after)}
			text, err := json.Marshal(r)
			if err != nil || !strings.HasSuffix(string(text), tt.json) {
				t.Errorf("%s, %v, want it to end with %s", text, err, tt.json)
			}
			var table strings.Builder
			if err := Table(&table)(r); err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(table.String(), "\n") // the header
			_, note, _ := strings.Cut(rest, "\n")
			if note != tt.note {
				t.Errorf("the note is %q, want %q", note, tt.note)
			}
		})
	}
}
