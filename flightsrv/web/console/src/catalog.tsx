// The list of tables.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { act, describe, listTables, problemOf, type Entry, type Problem } from './api'
import { ProblemView } from './problem'
import { tableHref } from './route'
import { bytes, count, degrees, time } from './text'

const shownAtFirst = 200

export function Catalog() {
  const [entries, setEntries] = useState<Entry[]>([])
  const [state, setState] = useState<'loading' | 'done' | Problem>('loading')
  const [text, setText] = useState('')
  const [limit, setLimit] = useState(shownAtFirst)
  const [round, setRound] = useState(0)

  useEffect(() => {
    const stop = new AbortController()
    setState('loading')
    const load = async () => {
      const all: Entry[] = []
      for await (const page of listTables(stop.signal)) {
        all.push(...page)
        setEntries([...all])
      }
      setEntries(all)
      setState('done')
    }
    load().catch((e) => !stop.signal.aborted && setState(problemOf(e)))
    return () => stop.abort()
  }, [round])

  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = useMemo(
    () => entries.filter((e) => words.every((w) => e.name.toLowerCase().includes(w) || e.format === w)),
    [entries, text],
  )
  const shown = found.slice(0, limit)

  const refresh = async () => {
    await act('refresh').catch(() => {}) // the list is loaded again in any case
    setRound(round + 1)
  }

  return (
    <section class="page">
      <div class="title">
        <h1>Tables</h1>
        <form class="search" role="search" onSubmit={(e) => e.preventDefault()}>
          <label>
            <span class="hidden">Search tables by name or format</span>
            <input type="search" placeholder="Name or format" value={text} autocomplete="off"
              onInput={(e) => {
                setText(e.currentTarget.value)
                setLimit(shownAtFirst)
              }} />
          </label>
          <button type="button" onClick={refresh}>Refresh</button>
        </form>
      </div>
      <p role="status">
        {state === 'loading' ? 'Loading…' : `${count(found.length)} of ${count(entries.length)} tables`}
      </p>
      {typeof state === 'object' && <ProblemView problem={state} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="List of tables">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Name</th><th scope="col">Format</th><th scope="col" class="number">Rows</th>
              <th scope="col">Extent</th><th scope="col" class="number">File</th><th scope="col">Modified (UTC)</th>
            </tr>
          </thead>
          <tbody>{shown.map((e) => <Row key={e.name} entry={e} />)}</tbody>
        </table>
      </div>
      {found.length > shown.length && (
        <p><button type="button" onClick={() => setLimit(limit + 1000)}>Show more</button></p>
      )}
    </section>
  )
}

/** An entry. What only a parse can tell is shown after a click. */
function Row({ entry }: { entry: Entry }) {
  const [known, setKnown] = useState<Pick<Entry, 'rows' | 'bbox'>>(entry)
  const [state, setState] = useState<'' | 'reading' | Problem>('')
  useEffect(() => setKnown(entry), [entry])
  const read = async () => {
    setState('reading')
    try {
      const about = await describe(entry.name)
      setKnown({ rows: about.rows, bbox: about.bbox })
      setState('')
    } catch (e) {
      setState(problemOf(e))
    }
  }
  const failed = typeof state === 'object' ? state : null
  return (
    <tr>
      <th scope="row" class="wrap">
        <a href={tableHref(entry.name)}>{entry.name}</a>
        {failed && (
          <p class="error" role="alert">
            {failed.byte !== undefined && <span>byte {count(failed.byte)}{failed.line !== undefined && `, line ${count(failed.line)}`}: </span>}
            {failed.detail}
          </p>
        )}
      </th>
      <td>{entry.format}</td>
      <td class="number">
        {known.rows !== null ? count(known.rows) : failed ? 'error' : (
          <button type="button" class="quiet" disabled={state === 'reading'} onClick={read}
            aria-label={`Read ${entry.name}`}>{state === 'reading' ? 'reading…' : 'read'}</button>
        )}
      </td>
      <td class="extent">{known.bbox ? known.bbox.map(degrees).join(', ') : ''}</td>
      <td class="number">{bytes(entry.file_bytes)}</td>
      <td>{time(entry.modified)}</td>
    </tr>
  )
}
