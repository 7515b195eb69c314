package ogc

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
)

// page is what a page in HTML shows. Texts are of files and clients: html/template escapes them.
type page struct {
	Title  string
	Text   string
	Lines  []string
	Facts  [][2]string
	Links  []link
	Header []string // of Rows
	Rows   []pageRow
}

// pageRow is a row of a table. Href is the link of its first cell; may be empty.
type pageRow struct {
	Href  string
	Cells []string
}

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1b1f23;` +
	`background:#fff}h1{font-size:1.5rem;overflow-wrap:anywhere}table{border-collapse:collapse;display:block;` +
	`overflow-x:auto}td,th{border:1px solid #ccd1d6;padding:.2rem .6rem;text-align:left;vertical-align:top}` +
	`th{background:#f2f4f6}a{color:#0550ae}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}` +
	`@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14181c}th{background:#22282e}` +
	`td,th{border-color:#3a424a}a{color:#79b8ff}}`

// pagePolicy allows a page its style, and nothing else.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Page.Title}}</title><style>` + style + `</style></head><body>
<nav><a href="{{.Base}}">Start</a> <a href="{{.Base}}/collections?f=html">Collections</a></nav>
<main><h1>{{.Page.Title}}</h1>
{{with .Page.Text}}<p>{{.}}</p>{{end}}
{{with .Page.Facts}}<dl>{{range .}}<dt>{{index . 0}}</dt><dd>{{index . 1}}</dd>{{end}}</dl>{{end}}
{{with .Page.Lines}}<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{if .Page.Rows}}<table><thead><tr>{{range .Page.Header}}<th scope="col">{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Page.Rows}}{{$href := .Href}}<tr>{{range $i, $cell := .Cells}}<td>{{if and (eq $i 0) $href -}}
<a href="{{$href}}">{{$cell}}</a>{{else}}{{$cell}}{{end}}</td>{{end}}</tr>
{{end}}</tbody></table>{{end}}
{{with .Page.Links}}<h2>Links</h2><ul>{{range .}}<li><a href="{{.Href}}" rel="{{.Rel}}">
{{- or .Title .Href}}</a> ({{.Rel}}{{with .Type}}, {{.}}{{end}})</li>{{end}}</ul>{{end}}
</main></body></html>
`))

// sendPage answers with a page.
func (q *request) sendPage(p page) error {
	head := q.w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", pagePolicy)
	return pageTemplate.Execute(q.w, struct {
		Page page
		Base string
	}{p, q.base})
}
