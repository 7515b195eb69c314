// Programs that read a table with a selection.
import { rowsURL, type About } from './api'
import { geometryOf, type Chosen } from './table'
import { identifier } from './text'

/** The programs, with the selection of columns and the box. */
export function snippets(about: About, chosen: Chosen, url: string): { label: string; text: string }[] {
  const ticket: Record<string, unknown> = { name: about.name }
  if (chosen.columns) ticket.columns = chosen.columns
  if (chosen.bbox) ticket.bbox = chosen.bbox
  const selection = { columns: chosen.columns ?? undefined, bbox: chosen.bbox ?? undefined }
  const http = location.origin + rowsURL(about.name, selection)
  const options = [
    chosen.columns ? `columns=${python(chosen.columns)}` : '',
    chosen.bbox ? `bbox=${python(chosen.bbox)}` : '',
  ].filter(Boolean).map((o) => ', ' + o).join('')
  const table = `server.table(${python(about.name)}${options})`
  const connect = (then: string) => `import vibeflight\n\nwith vibeflight.connect(${python(url)}) as server:\n${then}\n`
  const all = [
    {
      label: 'pyarrow',
      text: `import json\nimport pyarrow.flight as flight\n\nclient = flight.connect(${python(url)})\n` +
        `ticket = ${python(ticket)}\ntable = client.do_get(flight.Ticket(json.dumps(ticket))).read_all()\n`,
    },
    { label: 'GeoPandas', text: connect(`    frame = ${table}.geopandas()`) },
    {
      label: 'DuckDB',
      text: connect(`    rows = ${table}.duckdb()\n    print(rows.limit(10))`),
    },
    { label: 'Polars', text: connect(`    frame = ${table}.polars()`) },
    {
      label: 'SQL',
      text: `SELECT ${chosen.columns ? chosen.columns.map(identifier).join(', ') : '*'}\nFROM ${identifier(about.name)}\n` +
        (chosen.bbox && geometryOf(about)
          ? `WHERE ${identifier(geometryOf(about))} && ST_MakeEnvelope(${chosen.bbox.join(', ')})\n` : ''),
    },
    { label: 'curl', text: `curl -o table.arrows ${shell(http)}\n` },
  ]
  if (geometryOf(about)) {
    all.splice(4, 0, {
      label: 'QGIS',
      text: `Layer > Add Layer > Add WFS / OGC API - Features Layer > New\nURL: ${location.origin}/ogc\n` +
        `Collection: ${about.name}\n`,
    })
  }
  return all
}

/** The usual address of Flight on this server's host. */
export function usualAddress(): string {
  return `${location.protocol === 'https:' ? 'grpc+tls' : 'grpc'}://${location.hostname}:8815`
}

/** A literal of Python. */
function python(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(python).join(', ')}]`
  if (typeof v === 'object' && v !== null) {
    return `{${Object.entries(v).map(([k, x]) => `${python(k)}: ${python(x)}`).join(', ')}}`
  }
  return JSON.stringify(v)
}

/** A word of a shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
