package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
)

var (
	xmlEntry     = regexp.MustCompile(`(?s)<Contents>.*?</Contents>|<Blob>.*?</Blob>`)
	xmlTruncated = regexp.MustCompile(`<IsTruncated>\w*</IsTruncated>`)
	xmlNext      = regexp.MustCompile(`<NextContinuationToken>([^<]*)</NextContinuationToken>|` +
		`<NextMarker>([^<]*)</NextMarker>|<NextMarker ?/>`)
	xmlEnd = regexp.MustCompile(`</(ListBucketResult|EnumerationResults)>`)
)

// loopToken is the token of a page that had none.
const loopToken = "bG9vcA"

// page gives a fault of a listing, if the page has a key.
func (p *Proxy) page(w *answer, req Request, res *http.Response, f Fault) {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	changed := false
	switch {
	case f.Kind == DuplicateKeys && req.dialect == gcs:
		body, changed = duplicateJSON(body)
	case f.Kind == DuplicateKeys:
		body, changed = duplicateXML(body)
	case req.dialect == gcs:
		body, changed = loopJSON(body)
	default:
		body, changed = loopXML(body, req.dialect)
	}
	if changed {
		p.gave(f.Kind)
		if f.Kind == LoopingToken {
			p.mu.Lock()
			if p.loops == nil {
				p.loops = map[string][]byte{}
			}
			p.loops[req.Path+"?"+req.prefix] = body
			p.mu.Unlock()
		}
	}
	setBody(res, body)
	w.pass(res)
}

// loop returns the page of a listing that never ends.
func (p *Proxy) loop(req Request) []byte {
	if req.Class != List {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loops[req.Path+"?"+req.prefix]
}

func duplicateXML(body []byte) ([]byte, bool) {
	at := xmlEntry.FindIndex(body)
	if at == nil {
		return body, false
	}
	return bytes.Join([][]byte{body[:at[1]], body[at[0]:]}, nil), true
}

// loopXML sets the token of the next page to one that leads to this page.
func loopXML(body []byte, d dialect) ([]byte, bool) {
	if xmlEntry.Find(body) == nil {
		return body, false
	}
	token := loopToken
	if m := xmlNext.FindSubmatch(body); m != nil {
		if t := string(m[1]) + string(m[2]); t != "" {
			token = t
		}
		body = xmlNext.ReplaceAll(body, nil)
	}
	next := "<NextContinuationToken>" + token + "</NextContinuationToken>"
	if d == azure {
		next = "<NextMarker>" + token + "</NextMarker>"
	}
	body = xmlTruncated.ReplaceAll(body, []byte("<IsTruncated>true</IsTruncated>"))
	at := xmlEnd.FindIndex(body)
	if at == nil {
		return body, false
	}
	return bytes.Join([][]byte{body[:at[0]], []byte(next), body[at[0]:]}, nil), true
}

func duplicateJSON(body []byte) ([]byte, bool) {
	return editJSON(body, func(page map[string]any, items []any) {
		page["items"] = append([]any{items[0]}, items...)
	})
}

func loopJSON(body []byte) ([]byte, bool) {
	return editJSON(body, func(page map[string]any, _ []any) {
		if t, _ := page["nextPageToken"].(string); t == "" {
			page["nextPageToken"] = loopToken
		}
	})
}

func editJSON(body []byte, edit func(page map[string]any, items []any)) ([]byte, bool) {
	var page map[string]any
	if json.Unmarshal(body, &page) != nil {
		return body, false
	}
	items, _ := page["items"].([]any)
	if len(items) == 0 {
		return body, false
	}
	edit(page, items)
	changed, err := json.Marshal(page)
	return changed, err == nil
}
