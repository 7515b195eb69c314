// Requests of the server. All have the page's own origin.

/** An entry in the list of tables. */
export interface Entry {
  name: string
  format: string
  file_bytes: number
  modified: string
  rows: number | null
  bbox: [number, number, number, number] | null
  crs: string | null
  href: string
}

/** What the action describe says of a table. */
export interface About {
  name: string
  version: string
  file_bytes: number
  modified: string
  rows: number
  bytes: number
  columns: Column[]
  format: string
  engine: string
  crs: string | null
  bbox: [number, number, number, number] | null
  geometry_types: string[] | null
  parse_seconds: number
  cached: boolean
  layers?: string[] | null
}

export interface Column {
  name: string
  type: string
  nullable: boolean
  metadata?: Record<string, string>
}

/** An error, as RFC 9457 has it. The position is that of a malformed file. */
export interface Problem {
  title: string
  status: number
  code: string
  detail: string
  byte?: number
  line?: number
  feature?: number
  field?: string
  lines?: Line[] // around the position
}

/** A line of a file. */
export interface Line {
  number?: number // from 1
  byte: number // where it begins
  text: string
}

/** The error of a request. */
export class RequestError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** Converts what was thrown to a problem. */
export function problemOf(e: unknown): Problem {
  if (e instanceof RequestError) return e.problem
  const detail = e instanceof Error ? e.message : String(e)
  return { title: 'Error', status: 0, code: '', detail }
}

let onUnauthenticated = () => {}

/** Sets what is done when a request needs a login. */
export function whenUnauthenticated(f: () => void) {
  onUnauthenticated = f
}

/** Sends a request. Throws a RequestError for an answer that is an error. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, { credentials: 'same-origin', ...init })
  } catch (e) {
    if (init.signal?.aborted) throw e
    throw new RequestError({ title: 'No connection', status: 0, code: 'UNAVAILABLE', detail: 'the server does not answer' })
  }
  if (answer.ok) return answer
  let problem: Problem = {
    title: answer.statusText, status: answer.status, code: '', detail: `the server answered ${answer.status}`,
  }
  if (answer.headers.get('Content-Type')?.startsWith('application/problem+json')) {
    problem = { ...problem, ...await answer.json() as Problem }
  }
  if (answer.status === 401 && path !== '/v1/session') onUnauthenticated()
  throw new RequestError(problem)
}

/** The path of an entry below a prefix. A name has folders. */
export function pathOf(prefix: string, name: string): string {
  return prefix + name.split('/').map(encodeURIComponent).join('/')
}

/** The entries, page by page. */
export async function* listTables(signal: AbortSignal): AsyncGenerator<Entry[]> {
  let next: string | undefined = '/v1/tables?limit=1000'
  while (next) {
    const answer = await request(next, { signal })
    const page = await answer.json() as { tables: Entry[]; next?: string }
    yield page.tables
    next = page.next
  }
}

/** Runs an action of the server. */
export async function act<T>(action: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await request(`/v1/actions/${action}`, {
    method: 'POST', body: body === undefined ? '' : JSON.stringify(body), signal,
  })
  return await answer.json() as T
}

/** Describes a table. The file is parsed if it was not yet. */
export async function describe(name: string, signal?: AbortSignal): Promise<About> {
  return await act<About>('describe', { name }, signal)
}

/** The same from /v1/info, whose errors have lines of the file. */
export async function explainError(name: string, problem: Problem, signal?: AbortSignal): Promise<Problem> {
  if (problem.byte === undefined) return problem
  try {
    await request(pathOf('/v1/info/', name), { signal })
  } catch (e) {
    const p = problemOf(e)
    if (p.byte !== undefined) return p
  }
  return problem
}

/** What a request for rows selects. */
export interface Selection {
  columns?: string[]
  bbox?: number[]
  limit?: number
  rows?: [from: number, to: number]
}

/** The address of rows, with more parameters such as the format. */
export function rowsURL(name: string, s: Selection, more: Record<string, string> = {}): string {
  const q = new URLSearchParams(more)
  if (s.columns) q.set('columns', JSON.stringify(s.columns))
  if (s.bbox) q.set('bbox', s.bbox.join(','))
  if (s.limit !== undefined) q.set('limit', String(s.limit))
  if (s.rows) q.set('rows', s.rows.join(','))
  const text = q.toString()
  return pathOf('/v1/tables/', name) + (text ? '?' + text : '')
}

/** Sends a query of SQL. */
export async function sendQuery(query: string, signal?: AbortSignal, format?: string): Promise<Response> {
  return await request('/v1/sql' + (format ? `?format=${format}` : ''), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query }), signal,
  })
}

/** Logs in, and returns the name of the user, "" if the server has no login. */
export async function logIn(authorization?: string): Promise<string> {
  const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
  const answer = await request('/v1/session', { method: 'POST', headers })
  return ((await answer.json()) as { user: string }).user
}

export async function logOut(): Promise<void> {
  await request('/v1/session', { method: 'DELETE' })
}

/** The formats of answers with rows. */
export const formats = [
  { name: 'arrow', label: 'Arrow', extension: 'arrows' },
  { name: 'geoparquet', label: 'GeoParquet', extension: 'parquet' },
  { name: 'geojson', label: 'GeoJSON', extension: 'geojson' },
  { name: 'geojsonseq', label: 'GeoJSON Text Sequence', extension: 'geojsons' },
  { name: 'geojsonl', label: 'GeoJSON, one feature per line', extension: 'geojsonl' },
  { name: 'flatgeobuf', label: 'FlatGeobuf', extension: 'fgb' },
  { name: 'csv', label: 'CSV', extension: 'csv' },
] as const
