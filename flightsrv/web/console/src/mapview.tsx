// The map of a table.
import { useEffect, useState } from 'preact/hooks'
import { pathOf, problemOf, request, rowsURL, sendQuery, type About, type Problem } from './api'
import { cell, firstRows, openStream } from './arrow'
import { isColourableName, scaleOf, rgb, type Scale } from './geo/colours'
import { type FeatureMap, maxBytes, maxRows, type Picked, type TileJSON } from './geo/map'
import { isGeographic, type Box } from './geo/shapes'
import { ProblemView } from './problem'
import { geometryOf } from './table'
import { count, identifier, seconds, value } from './text'
import { useMap } from './usemap'

const sampledRows = 20_000 // for the colours of tiles

/** An attribute of a feature that was clicked. */
export type Attribute = [name: string, value: string]

export function MapView({ about, onBox }: { about: About; onBox: (bbox: Box) => void }) {
  const { box, map } = useMap((p, m) => void pick(p, m))
  const [column, setColumn] = useState('')
  const [scale, setScale] = useState<Scale | null>(null)
  const [status, setStatus] = useState('Loading…')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [attributes, setAttributes] = useState<Attribute[] | null>(null)
  const geometry = geometryOf(about)
  const transformed = !isGeographic(about.crs ?? '')

  const pick = async (p: Picked | null, m: FeatureMap) => {
    if (!p) {
      setAttributes(null)
      return
    }
    try {
      setAttributes(await attributesOf(about, p, m, transformed))
    } catch (e) {
      setProblem(problemOf(e))
    }
  }

  useEffect(() => {
    const m = map.current!
    const stop = new AbortController()
    setProblem(null)
    setAttributes(null)
    setScale(null)
    m.clear()
    if (about.bbox && !transformed) m.fit(about.bbox)
    show(m, about, column, transformed, stop, setStatus)
      .then(() => !stop.signal.aborted && setScale(m.currentScale()))
      .catch((e) => {
        if (stop.signal.aborted) return
        setStatus('')
        setProblem(problemOf(e))
      })
    return () => stop.abort()
  }, [column])

  return (
    <div class="map-page">
      <div class="map-bar">
        <label>Colour by{' '}
          <select value={column} onChange={(e) => setColumn(e.currentTarget.value)}>
            <option value="">nothing</option>
            {about.columns.filter((c) => c.name !== geometry && isColourableName(c.type)).map((c) => (
              <option key={c.name} value={c.name}>{c.name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => map.current && onBox(map.current.view())}>Select the visible box</button>
        <span role="status" id="map-status">{status}</span>
      </div>
      {problem && <ProblemView problem={problem} />}
      <div class="map-frame">
        <div class="map" ref={box} id="map" role="region" aria-label="Map; arrow keys move, plus and minus zoom, Enter shows the feature in the middle" />
        {scale && <Legend scale={scale} />}
        {attributes && <Attributes list={attributes} close={() => setAttributes(null)} />}
      </div>
    </div>
  )
}

/** Shows the table's features, or tiles of them if they are too many. */
async function show(m: FeatureMap, about: About, column: string, transformed: boolean, stop: AbortController,
  setStatus: (s: string) => void) {
  const columns = [geometryOf(about), ...(column ? [column] : [])]
  const large = about.rows > maxRows || about.bytes > maxBytes
  if (large && !transformed) {
    const tiles = await tilesOf(about.name, column, stop.signal)
    if (tiles) {
      const scale = column ? await sampledScale(about.name, column, stop.signal) : null
      if (stop.signal.aborted) return
      await m.showTiles(tiles, scale)
      setStatus(`Vector tiles of ${count(about.rows)} rows`)
      return
    }
  }
  const start = performance.now()
  const answer = transformed
    ? sendQuery(`SELECT * REPLACE (ST_Transform(${identifier(columns[0])}, 'OGC:CRS84') AS ${identifier(columns[0])}) ` +
      `FROM ${identifier(about.name)} LIMIT ${maxRows}`, stop.signal)
    : request(rowsURL(about.name, { columns, limit: large ? maxRows : undefined }, { coords: 'interleaved' }),
      { signal: stop.signal })
  let shown = 0
  await m.show(await openStream(answer), column || null, about.rows, (rows, bytes) => {
    shown = rows
    if (stop.signal.aborted) return false
    setStatus(`${count(rows)} of ${count(about.rows)} rows`)
    return bytes <= maxBytes * 2
  })
  if (stop.signal.aborted) return
  if (transformed && m.box) m.fit(m.box)
  const part = shown < about.rows ? `The first ${count(shown)} of ${count(about.rows)} rows` : `${count(shown)} rows`
  setStatus(`${part} in ${seconds((performance.now() - start) / 1000)}`)
}

/** The TileJSON document of a table; null if the server has no tiles. */
async function tilesOf(name: string, column: string, signal: AbortSignal): Promise<TileJSON | null> {
  try {
    const q = column ? `?${new URLSearchParams({ columns: JSON.stringify([column]) })}` : ''
    return await (await request(pathOf('/tiles/', name) + q, { signal })).json() as TileJSON
  } catch {
    return null
  }
}

/** The colours of a column by some of its rows: a sample, or the first ones if the server has no SQL. */
async function sampledScale(name: string, column: string, signal: AbortSignal): Promise<Scale | null> {
  const sample = sendQuery(
    `SELECT ${identifier(column)} FROM ${identifier(name)} USING SAMPLE reservoir(${sampledRows} ROWS) REPEATABLE (1)`, signal)
  const answer = sample.catch(() => request(rowsURL(name, { columns: [column], limit: sampledRows }), { signal }))
  const rows = await firstRows(answer, sampledRows)
  return scaleOf(column, rows.batches)
}

/** All attributes of a feature that was clicked. */
async function attributesOf(about: About, p: Picked, m: FeatureMap, transformed: boolean): Promise<Attribute[]> {
  if ('attributes' in p && typeof p.id !== 'number') {
    return Object.entries(p.attributes).map(([k, v]) => [k, value(v)])
  }
  const geometry = geometryOf(about)
  if (transformed && 'row' in p) {
    const batch = m.batch(p.batch)
    return batch.schema.fields.flatMap((f, i): Attribute[] =>
      f.name === geometry ? [] : [[f.name, value(batch.getChildAt(i)?.get(p.row), f.type)]])
  }
  const row = 'row' in p ? m.rowsBefore(p.batch) + p.row : Number(p.id)
  const columns = about.columns.map((c) => c.name).filter((n) => n !== geometry)
  if (columns.length === 0) return [['row', count(row)]]
  const rows = await firstRows(request(rowsURL(about.name, { columns, rows: [row, row + 1] })), 1)
  return rows.schema.fields.map((f, i) => [f.name, value(cell(rows, 0, i), f.type)])
}

export function Legend({ scale }: { scale: Scale }) {
  return (
    <div class="legend" role="region" aria-label="Legend">
      <h2>{scale.column}</h2>
      <ul>
        {scale.items.map((item, i) => (
          <li key={i}><span class="swatch" style={{ backgroundColor: rgb(item.colour) }} /> {item.label}</li>
        ))}
      </ul>
    </div>
  )
}

export function Attributes({ list, close }: { list: Attribute[]; close: () => void }) {
  return (
    <div class="attributes" role="region" aria-label="Attributes of the feature" tabIndex={0}>
      <div class="title"><h2>Feature</h2><button type="button" class="quiet" onClick={close}>Close</button></div>
      <dl class="facts">
        {list.map(([k, v], i) => <><dt key={`k${i}`}>{k}</dt><dd key={`v${i}`} class="wrap">{v}</dd></>)}
      </dl>
    </div>
  )
}
