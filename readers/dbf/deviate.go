package dbf

import (
	"cmp"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
)

// Rules of deviations; docs/formats/dbf.md describes them.
const (
	ruleNumber   = "bad-number"
	ruleDate     = "bad-date"
	ruleLogical  = "bad-logical"
	ruleTime     = "bad-time"
	ruleText     = "bad-text"
	ruleMemo     = "bad-memo"
	ruleFlag     = "deletion-flag"
	ruleCount    = "record-count"
	ruleCodePage = "code-page"
)

// Values of on_error that an error may name.
const (
	modeNull   = "null"
	modeRepair = "repair"
)

// rule returns the rule that a malformed value of the field breaks.
func (f *Field) rule() string {
	switch f.kind {
	case kindInteger, kindNumber:
		return ruleNumber
	case kindDate:
		return ruleDate
	case kindLogical:
		return ruleLogical
	case kindTimestamp:
		return ruleTime
	case kindMemo, kindHexMemo:
		return ruleMemo
	}
	return ruleText
}

// defect is a value that is invalid for its field, or an invalid deletion flag.
type defect struct {
	place  int32
	column int // -1: the flag
	mended bool
}

// deviate counts the defects of the block, which begins with record first, of a run that begins
// with record from.
func (r *Reader) deviate(first, from int64) {
	if !r.h.options.nulls {
		return
	}
	var found []defect
	for _, place := range r.flags {
		found = append(found, defect{place, -1, true})
	}
	for i := range r.columns {
		for _, place := range r.columns[i].bad {
			found = append(found, defect{place, i, false})
		}
		for _, place := range r.columns[i].mended {
			found = append(found, defect{place, i, true})
		}
	}
	slices.SortFunc(found, func(a, b defect) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.column, b.column))
	})
	for _, d := range found {
		record := first + int64(int(d.place)-frontBytes)/int64(r.h.RecordLength)
		v := readers.Deviation{
			Offset: r.h.offset(record), Row: record - from, Rule: ruleFlag,
			Done: "the record is a row",
		}
		if d.column >= 0 {
			f := r.columns[d.column].field
			v.Offset, v.Field, v.Rule, v.Done = v.Offset+int64(f.Offset), f.Name, f.rule(), "value is null"
			if d.mended {
				v.Done = mended(&r.block, f, int(d.place))
			}
		}
		r.deviations.Add(v)
	}
}

// mended returns how a value with one obvious reading was read.
func mended(b *block, f *Field, place int) string {
	text := quoted(trim(b.bytes(f, place)))
	if f.kind == kindLogical {
		return text + " is read as false or true"
	}
	return text + " is read as a date"
}
