// What the server does now.
import { useEffect, useState } from 'preact/hooks'
import { act, problemOf, type Problem } from './api'
import { ProblemView } from './problem'
import { bytes, count, seconds, time } from './text'

const interval = 2000 // milliseconds between two looks

interface Query {
  id: string
  user: string
  address: string
  method: string
  name?: string
  sql?: string
  state: string
  seconds: number
  rows: number
  bytes: number
}

interface Session {
  user: string
  calls: number
  sessions: number
  prepared: number
  results: number
  used: string
}

interface Turns {
  running: number
  waiting: number
}

interface Device {
  name: string
  memory_bytes: number
  used_bytes: number
  faults: number
}

interface Stats {
  entries: number
  tables: number
  bytes: number
  budget_bytes: number
  hits: number
  misses: number
  evictions: number
  parsing: number
  parses: number
  parse_errors: number
  parse_seconds: number
  cache?: { tables: number; bytes: number; budget_bytes: number; loads: number; saves: number }
  engines?: { choice: string; devices: Device[] | null }
  sql?: { queries: number; failed: number }
  connections: { open: number; calls: number; refused_calls: number }
  admission: { calls: Turns; queries: Turns; parses: Turns }
  process: { heap_bytes: number; goroutines: number }
}

interface Now {
  stats: Stats
  queries: Query[]
  sessions: Session[]
}

export function ServerPage() {
  const [now, setNow] = useState<Now | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [paused, setPaused] = useState(false)

  useEffect(() => {
    if (paused) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const stats = await act<Stats>('stats', undefined, stop.signal)
        const { queries } = await act<{ queries: Query[] }>('queries', undefined, stop.signal)
        const { sessions } = await act<{ sessions: Session[] }>('sessions', undefined, stop.signal)
        setNow({ stats, queries, sessions })
        setProblem(null)
      } catch (e) {
        if (stop.signal.aborted) return
        setProblem(problemOf(e))
        if (problemOf(e).status === 403) return
      }
      timer = setTimeout(look, interval)
    }
    void look()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [paused])

  const kill = async (id: string) => {
    try {
      await act('kill', { id })
    } catch (e) {
      setProblem(problemOf(e))
    }
  }

  return (
    <section class="page">
      <div class="title">
        <h1>Server</h1>
        <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>{paused ? 'Continue' : 'Pause'}</button>
      </div>
      {problem && <ProblemView problem={problem} />}
      {!now && !problem && <p role="status">Loading…</p>}
      {now && (
        <>
          <Numbers stats={now.stats} />
          <Queries queries={now.queries} kill={kill} />
          <Sessions sessions={now.sessions} />
          <Devices stats={now.stats} />
        </>
      )}
    </section>
  )
}

function Numbers({ stats: s }: { stats: Stats }) {
  const turns = (t: Turns) => count(t.running) + (t.waiting ? `, ${count(t.waiting)} waiting` : '')
  const list: [string, string][] = [
    ['Calls now', turns(s.admission.calls)],
    ['Queries now', turns(s.admission.queries)],
    ['Parses now', turns(s.admission.parses)],
    ['Connections', count(s.connections.open)],
    ['Tables in memory', `${count(s.tables)}, ${bytes(s.bytes)}`],
    ['of a budget of', bytes(s.budget_bytes)],
    ['Found, not found', `${count(s.hits)}, ${count(s.misses)}`],
    ['Parses', `${count(s.parses)} in ${seconds(s.parse_seconds)}`],
    ['Parses with errors', count(s.parse_errors)],
    ['Heap', bytes(s.process.heap_bytes)],
  ]
  if (s.cache) {
    list.push(['Cache on disk', `${count(s.cache.tables)}, ${bytes(s.cache.bytes)}`],
      ['Loads, saves', `${count(s.cache.loads)}, ${count(s.cache.saves)}`])
  }
  if (s.sql) list.push(['SQL queries', `${count(s.sql.queries)}, ${count(s.sql.failed)} failed`])
  return <dl class="tiles">{list.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
}

function Queries({ queries, kill }: { queries: Query[]; kill: (id: string) => void }) {
  return (
    <>
      <h2>Calls in progress</h2>
      {queries.length === 0 && <p>None.</p>}
      {queries.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Calls in progress">
          <table class="list" id="queries">
            <thead>
              <tr>
                <th scope="col">User</th><th scope="col">Call</th><th scope="col">Table or query</th><th scope="col">State</th>
                <th scope="col" class="number">Time</th><th scope="col" class="number">Rows</th>
                <th scope="col" class="number">Sent</th><th scope="col"><span class="hidden">End the call</span></th>
              </tr>
            </thead>
            <tbody>
              {queries.map((q) => (
                <tr key={q.id}>
                  <td>{q.user}</td><td>{q.method}</td><td class="wrap">{q.sql || q.name}</td><td>{q.state}</td>
                  <td class="number">{seconds(q.seconds)}</td><td class="number">{count(q.rows)}</td>
                  <td class="number">{bytes(q.bytes)}</td>
                  <td><button type="button" class="quiet" aria-label={`End call ${q.id}`} onClick={() => kill(q.id)}>End</button></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function Sessions({ sessions }: { sessions: Session[] }) {
  if (sessions.length === 0) return null
  return (
    <>
      <h2>Users</h2>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">User</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Sessions</th>
            <th scope="col" class="number">Prepared</th><th scope="col" class="number">Results</th><th scope="col">Last used (UTC)</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((s) => (
            <tr key={s.user}>
              <td>{s.user}</td><td class="number">{count(s.calls)}</td><td class="number">{count(s.sessions)}</td>
              <td class="number">{count(s.prepared)}</td><td class="number">{count(s.results)}</td><td>{time(s.used)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Devices({ stats }: { stats: Stats }) {
  if (!stats.engines) return null
  const devices = stats.engines.devices ?? []
  return (
    <>
      <h2>Engines</h2>
      <p class="wrap">{stats.engines.choice}</p>
      {devices.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">GPU</th><th scope="col" class="number">Memory</th><th scope="col" class="number">Used by this server</th>
              <th scope="col" class="number">Faults</th>
            </tr>
          </thead>
          <tbody>
            {devices.map((d, i) => (
              <tr key={i}>
                <td>{d.name}</td><td class="number">{bytes(d.memory_bytes)}</td><td class="number">{bytes(d.used_bytes)}</td>
                <td class="number">{count(d.faults)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
