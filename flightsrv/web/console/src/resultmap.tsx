// The map of a result of SQL.
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf, type Problem } from './api'
import type { Rows } from './arrow'
import { isColourable, type Scale } from './geo/colours'
import { FeatureMap } from './geo/map'
import { encodingOf } from './geo/shapes'
import { Attributes, Legend, type Attribute } from './mapview'
import { ProblemView } from './problem'
import { value } from './text'
import { isDark, onThemeChange } from './theme'

export function ResultMap({ rows }: { rows: Rows }) {
  const box = useRef<HTMLDivElement>(null)
  const map = useRef<FeatureMap | null>(null)
  const [column, setColumn] = useState('')
  const [scale, setScale] = useState<Scale | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [attributes, setAttributes] = useState<Attribute[] | null>(null)

  useEffect(() => {
    const m = new FeatureMap(box.current!, isDark(), {
      picked: (p) => {
        if (!p || !('row' in p)) return setAttributes(null)
        const batch = m.batch(p.batch)
        setAttributes(batch.schema.fields.flatMap((f, i): Attribute[] =>
          encodingOf(f) ? [] : [[f.name, value(batch.getChildAt(i)?.get(p.row), f.type)]]))
      },
      moved: () => {},
    })
    map.current = m
    const off = onThemeChange((dark) => m.setDark(dark))
    return () => {
      off()
      m.close()
    }
  }, [])

  useEffect(() => {
    const m = map.current!
    const first = column === ''
    setScale(null)
    m.clear()
    const batches = async function* () { yield* rows.batches }
    m.show({ schema: rows.schema, batches: batches() }, column || null, rows.count, () => true).then(() => {
      setScale(m.currentScale())
      if (first && m.box) m.fit(m.box)
    }, (e) => setProblem(problemOf(e)))
  }, [column])

  return (
    <div class="map-page">
      <div class="map-bar">
        <label>Colour by{' '}
          <select value={column} onChange={(e) => setColumn(e.currentTarget.value)}>
            <option value="">nothing</option>
            {rows.schema.fields.filter((f) => !encodingOf(f) && isColourable(f.type)).map((f) => (
              <option key={f.name} value={f.name}>{f.name}</option>
            ))}
          </select>
        </label>
      </div>
      {problem && <ProblemView problem={problem} />}
      <div class="map-frame">
        <div class="map" ref={box} id="map" role="region" aria-label="Map of the result" />
        {scale && <Legend scale={scale} />}
        {attributes && <Attributes list={attributes} close={() => setAttributes(null)} />}
      </div>
    </div>
  )
}
