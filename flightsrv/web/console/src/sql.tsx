// The page for SQL.
import { useEffect, useRef, useState } from 'preact/hooks'
import { describe, formats, listTables, problemOf, sendQuery, type Entry, type Problem } from './api'
import { cell, firstRows, type Rows } from './arrow'
import { Editor } from './editor'
import { geometryField } from './geo/shapes'
import { Grid } from './grid'
import { Lazy } from './lazy'
import { ProblemView } from './problem'
import { count, seconds } from './text'

const maxShown = 10_000 // rows of a result
const maxDescribed = 64_000_000 // bytes of a file that completion may parse
const historyKey = 'vibeflight-queries'
const maxHistory = 50

/** A result: rows, or the plan of a query. */
interface Result {
  query: string
  rows: Rows
  plan: string | null
  seconds: number
}

export function SQLPage({ first }: { first: string }) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const running = useRef<AbortController | null>(null)
  const [result, setResult] = useState<Result | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const [shown, setShown] = useState<'table' | 'map'>('table')
  const [past, setPast] = useState(readHistory)

  const run = async (explain: boolean) => {
    const query = editor.current!.text().trim().replace(/;\s*$/, '')
    if (!query) return
    running.current?.abort()
    const stop = running.current = new AbortController()
    setBusy(true)
    setProblem(null)
    setResult(null)
    const start = performance.now()
    try {
      const rows = await firstRows(sendQuery(explain ? `EXPLAIN ${query}` : query, stop.signal), maxShown)
      if (!rows.complete) stop.abort()
      const plan = explain ? planOf(rows) : null
      setResult({ query, rows, plan, seconds: (performance.now() - start) / 1000 })
      if (!geometryField(rows.schema)) setShown('table')
      setPast(addHistory(query))
    } catch (e) {
      if (running.current === stop && !stop.signal.aborted) setProblem(problemOf(e))
    } finally {
      if (running.current === stop) setBusy(false)
    }
  }
  const cancel = () => {
    running.current?.abort()
    setBusy(false)
  }

  useEffect(() => {
    const names = new Catalogue()
    const e = new Editor(host.current!, first || past[0] || 'SELECT 1 AS one', names, () => void run(false))
    editor.current = e
    return () => {
      e.close()
      names.close()
      running.current?.abort()
    }
  }, [])

  const geometry = result && !result.plan && geometryField(result.rows.schema)
  return (
    <section class="page">
      <h1>SQL</h1>
      <div class="editor" ref={host} id="editor" />
      <div class="actions">
        <button type="button" class="primary" disabled={busy} onClick={() => run(false)}>Run</button>
        <button type="button" disabled={busy} onClick={() => run(true)}>Plan</button>
        {busy && <button type="button" onClick={cancel}>Cancel</button>}
        <span role="status" id="sql-status">{busy ? 'Running…' : result ? summary(result) : ''}</span>
      </div>
      {problem && <ProblemView problem={problem} />}
      {result?.plan && <pre tabIndex={0} aria-label="Plan of the query">{result.plan}</pre>}
      {result && !result.plan && (
        <>
          <div class="actions">
            {geometry && (
              <fieldset class="actions">
                <legend class="hidden">Show the result as</legend>
                <label><input type="radio" name="as" checked={shown === 'table'} onChange={() => setShown('table')} /> Table</label>
                <label><input type="radio" name="as" checked={shown === 'map'} onChange={() => setShown('map')} /> Map</label>
              </fieldset>
            )}
            <Download query={result.query} report={setProblem} />
          </div>
          {shown === 'map' && geometry
            ? <Lazy key={result} load={() => import('./resultmap').then((m) => m.ResultMap)} props={{ rows: result.rows }} />
            : <Grid rows={result.rows} limit={maxShown} label="Rows of the result" />}
        </>
      )}
      {past.length > 0 && (
        <details>
          <summary>History</summary>
          <ul class="history">
            {past.map((q) => <li key={q}><button type="button" onClick={() => editor.current!.set(q)}>{q}</button></li>)}
          </ul>
        </details>
      )}
    </section>
  )
}

function summary({ rows, plan, seconds: s }: Result): string {
  if (plan) return `Plan in ${seconds(s)}`
  return rows.complete ? `${count(rows.count)} rows in ${seconds(s)}`
    : `The first ${count(Math.min(rows.count, maxShown))} rows in ${seconds(s)}; a download has all`
}

function planOf(rows: Rows): string {
  const at = rows.schema.fields.findIndex((f) => f.name === 'explain_value')
  return Array.from({ length: rows.count }, (_, r) => String(cell(rows, r, at) ?? '')).join('\n')
}

function readHistory(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(historyKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter((q) => typeof q === 'string') : []
  } catch {
    return []
  }
}

function addHistory(query: string): string[] {
  const all = [query, ...readHistory().filter((q) => q !== query)].slice(0, maxHistory)
  localStorage.setItem(historyKey, JSON.stringify(all))
  return all
}

/** The result in a format, as a file. */
function Download({ query, report }: { query: string; report: (p: Problem | null) => void }) {
  const [format, setFormat] = useState<string>(formats[0].name)
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    report(null)
    try {
      const file = await (await sendQuery(query, undefined, format)).blob()
      const link = document.createElement('a')
      link.href = URL.createObjectURL(file)
      link.download = `result.${formats.find((f) => f.name === format)!.extension}`
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    } catch (e) {
      report(problemOf(e))
    } finally {
      setBusy(false)
    }
  }
  return (
    <span class="actions">
      <label><span class="hidden">Format of the download</span>
        <select value={format} onChange={(e) => setFormat(e.currentTarget.value)}>
          {formats.map((f) => <option key={f.name} value={f.name}>{f.label}</option>)}
        </select>
      </label>
      <button type="button" disabled={busy} onClick={download}>{busy ? 'Downloading…' : 'Download'}</button>
    </span>
  )
}

/** Names for completion. */
class Catalogue {
  private stop = new AbortController()
  private entries: Entry[] = []
  private known = new Map<string, Promise<string[]>>()

  constructor() {
    void this.load().catch(() => {}) // completion then has keywords only
  }

  tables() {
    return this.entries.map((e) => e.name)
  }

  columns(table: string): Promise<string[]> {
    const entry = this.entries.find((e) => e.name === table)
    if (!entry || (entry.rows === null && entry.file_bytes > maxDescribed)) return Promise.resolve([])
    let names = this.known.get(table)
    if (!names) {
      names = describe(table, this.stop.signal).then((a) => a.columns.map((c) => c.name), () => [])
      this.known.set(table, names)
    }
    return names
  }

  close() {
    this.stop.abort()
  }

  private async load() {
    for await (const page of listTables(this.stop.signal)) this.entries.push(...page)
  }
}
