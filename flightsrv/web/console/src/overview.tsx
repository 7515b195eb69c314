// Schema, statistics, first rows and extent of a table.
import { useEffect, useState } from 'preact/hooks'
import { problemOf, request, rowsURL, sendQuery, type About, type Problem } from './api'
import { firstRows, cell, type Rows } from './arrow'
import { ExtentMap } from './extent'
import { ProblemView } from './problem'
import { bytes, count, degrees, identifier, seconds, time, value } from './text'
import { geometryOf } from './table'

const shownRows = 20
const maxColumns = 60 // with statistics

export function Overview({ about }: { about: About }) {
  return (
    <div class="columns">
      <div>
        <h2>About</h2>
        <dl class="facts">
          <dt>Format</dt><dd>{about.format}</dd>
          <dt>Rows</dt><dd>{count(about.rows)}</dd>
          <dt>Columns</dt><dd>{count(about.columns.length)}</dd>
          <dt>File</dt><dd>{bytes(about.file_bytes)}</dd>
          <dt>Table</dt><dd>{bytes(about.bytes)}</dd>
          <dt>Modified</dt><dd>{time(about.modified)} UTC</dd>
          <dt>Parsed</dt><dd>in {seconds(about.parse_seconds)}, engine {about.engine}</dd>
          <dt>Version</dt><dd class="wrap">{about.version}</dd>
          {geometryOf(about) && <><dt>Geometry</dt><dd>{about.geometry_types?.join(', ') ?? 'not known'}</dd></>}
          {geometryOf(about) && <><dt>CRS</dt><dd class="wrap">{about.crs ?? 'not known'}</dd></>}
          {about.bbox && <><dt>Extent</dt><dd>{about.bbox.map(degrees).join(', ')}</dd></>}
        </dl>
        {about.bbox && <ExtentMap bbox={about.bbox} crs={about.crs} />}
      </div>
      <div class="grow">
        <Columns about={about} />
        <FirstRows about={about} />
      </div>
    </div>
  )
}

/** Statistics of a column, as texts. */
interface Statistics {
  nulls: string
  distinct: string
  min: string
  max: string
}

function Columns({ about }: { about: About }) {
  const [stats, setStats] = useState<Statistics[] | null>(null)
  const [state, setState] = useState<'' | 'computing' | Problem>('')

  const compute = async () => {
    setState('computing')
    try {
      setStats(await statistics(about))
      setState('')
    } catch (e) {
      setState(problemOf(e))
    }
  }
  useEffect(() => {
    if (about.rows <= 200_000 && about.columns.length <= maxColumns) void compute()
  }, [])

  const withoutSQL = typeof state === 'object' && state.status === 501
  return (
    <>
      <div class="title">
        <h2>Columns</h2>
        {!stats && !withoutSQL && (
          <button type="button" disabled={state === 'computing'} onClick={compute}>
            {state === 'computing' ? 'Computing…' : 'Compute statistics'}
          </button>
        )}
      </div>
      {typeof state === 'object' && !withoutSQL && <ProblemView problem={state} />}
      <div class="scroll short" tabIndex={0} role="region" aria-label="Columns of the table">
        <table class="list" id="columns">
          <thead>
            <tr>
              <th scope="col">Name</th><th scope="col">Type</th>
              {stats && <><th scope="col" class="number">Nulls</th><th scope="col" class="number">Distinct, about</th>
                <th scope="col">Minimum</th><th scope="col">Maximum</th></>}
            </tr>
          </thead>
          <tbody>
            {about.columns.map((c, i) => (
              <tr key={i}>
                <th scope="row" class="wrap">{c.name}</th>
                <td class="wrap">{typeOf(c.type, c.metadata)}</td>
                {stats && (
                  <><td class="number">{stats[i]?.nulls}</td><td class="number">{stats[i]?.distinct}</td>
                    <td class="wrap">{stats[i]?.min}</td><td class="wrap">{stats[i]?.max}</td></>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function typeOf(type: string, metadata?: Record<string, string>): string {
  return metadata?.['ARROW:extension:name'] ?? type
}

/** Computes statistics by SQL, in one pass over the table. */
async function statistics(about: About): Promise<Statistics[]> {
  const geometry = geometryOf(about)
  const columns = about.columns.slice(0, maxColumns)
  const terms = columns.flatMap((c, i) => {
    const id = identifier(c.name)
    const nulls = `count(*) - count(${id}) AS n${i}`
    if (c.name === geometry || /^(list|struct|map|fixed_size_list)/.test(c.type)) return [nulls]
    return [nulls, `approx_count_distinct(${id}) AS d${i}`, `min(${id})::VARCHAR AS a${i}`, `max(${id})::VARCHAR AS z${i}`]
  })
  const rows = await firstRows(sendQuery(`SELECT ${terms.join(', ')} FROM ${identifier(about.name)}`), 1)
  const get = (name: string) => {
    const at = rows.schema.fields.findIndex((f) => f.name === name)
    return at < 0 ? '' : value(cell(rows, 0, at))
  }
  return columns.map((_, i) => ({ nulls: get(`n${i}`), distinct: get(`d${i}`), min: get(`a${i}`), max: get(`z${i}`) }))
}

function FirstRows({ about }: { about: About }) {
  const [rows, setRows] = useState<Rows | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const path = rowsURL(about.name, { limit: shownRows }, { geometry_encoding: 'wkt' })
    firstRows(request(path, { signal: stop.signal }), shownRows)
      .then(setRows, (e) => !stop.signal.aborted && setProblem(problemOf(e)))
    return () => stop.abort()
  }, [])
  return (
    <>
      <h2>First rows</h2>
      {problem && <ProblemView problem={problem} />}
      {rows && (
        <div class="scroll" tabIndex={0} role="region" aria-label="First rows of the table">
          <table class="list" id="rows">
            <thead><tr>{rows.schema.fields.map((f, i) => <th key={i} scope="col">{f.name}</th>)}</tr></thead>
            <tbody>
              {Array.from({ length: Math.min(rows.count, shownRows) }, (_, r) => (
                <tr key={r}>
                  {rows.schema.fields.map((f, c) => <td key={c} class="cell">{value(cell(rows, r, c), f.type)}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}
