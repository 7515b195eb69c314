// The page of a table.
import { useEffect, useState } from 'preact/hooks'
import { describe, explainError, problemOf, type About, type Problem } from './api'
import { Lazy } from './lazy'
import { Overview } from './overview'
import { ProblemView } from './problem'
import { parts, tableHref, type Part } from './route'
import { count } from './text'
import { Use } from './use'

const labels: Record<Part, string> = { overview: 'Overview', map: 'Map', use: 'Use and download' }

const loadMap = () => import('./mapview').then((m) => m.MapView)

/** What of a table is selected: in snippets, in downloads, and on the map. */
export interface Chosen {
  columns: string[] | null // null: all
  bbox: number[] | null
}

export function TablePage({ name, part }: { name: string; part: Part }) {
  const [about, setAbout] = useState<About | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [chosen, setChosen] = useState<Chosen>({ columns: null, bbox: null })

  useEffect(() => {
    const stop = new AbortController()
    describe(name, stop.signal).then((a) => {
      setAbout(a)
      void loadMap() // so that the map is there at the click
    }, async (e) => {
      if (stop.signal.aborted) return
      setProblem(problemOf(e))
      setProblem(await explainError(name, problemOf(e), stop.signal))
    })
    return () => stop.abort()
  }, [name])

  return (
    <section class={part === 'map' ? 'page wide' : 'page'}>
      <div class="title">
        <h1 class="wrap">{name}</h1>
        {about && <p>{count(about.rows)} rows</p>}
      </div>
      {problem && <ProblemView problem={problem} />}
      {!about && !problem && <p role="status">Reading the table…</p>}
      {about && (
        <>
          <nav class="tabs" aria-label="Parts of this page">
            {parts.filter((p) => p !== 'map' || geometryOf(about)).map((p) => (
              <a key={p} href={tableHref(name, p)} aria-current={p === part ? 'page' : undefined}>{labels[p]}</a>
            ))}
          </nav>
          {part === 'overview' && <Overview about={about} />}
          {part === 'map' && (
            <Lazy load={loadMap} props={{ about, onBox: (bbox: number[]) => setChosen({ ...chosen, bbox }) }} />
          )}
          {part === 'use' && <Use about={about} chosen={chosen} choose={setChosen} />}
        </>
      )}
    </section>
  )
}

/** The name of the column that a map shows; "" if there is none. */
export function geometryOf(about: About): string {
  return about.columns.find((c) => c.metadata?.['ARROW:extension:name']?.startsWith('geoarrow.'))?.name ?? ''
}
