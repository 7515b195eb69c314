// The map of a result of SQL.
import { useEffect, useState } from 'preact/hooks'
import { problemOf, type Problem } from './api'
import type { Rows } from './arrow'
import { isColourable, type Scale } from './geo/colours'
import { encodingOf } from './geo/shapes'
import { Attributes, Legend, type Attribute } from './mapview'
import { ProblemView } from './problem'
import { value } from './text'
import { useMap } from './usemap'

export function ResultMap({ rows }: { rows: Rows }) {
  const { box, map } = useMap((p, m) => {
    if (!p || !('row' in p)) return setAttributes(null)
    const batch = m.batch(p.batch)
    setAttributes(batch.schema.fields.flatMap((f, i): Attribute[] =>
      encodingOf(f) ? [] : [[f.name, value(batch.getChildAt(i)?.get(p.row), f.type)]]))
  })
  const [column, setColumn] = useState('')
  const [scale, setScale] = useState<Scale | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [attributes, setAttributes] = useState<Attribute[] | null>(null)

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
