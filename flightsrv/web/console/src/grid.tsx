// A table of many rows, of which only the visible ones are in the page.
import { useRef, useState } from 'preact/hooks'
import { cell, type Rows } from './arrow'
import { value } from './text'

const rowHeight = 28 // pixels, as in style.css
const margin = 20 // rows above and below the visible ones

export function Grid({ rows, limit, label }: { rows: Rows; limit: number; label: string }) {
  const [top, setTop] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const count = Math.min(rows.count, limit)
  const height = box.current?.clientHeight || 420
  const first = Math.max(0, Math.floor(top / rowHeight) - margin)
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + margin)
  const fields = rows.schema.fields
  const spacer = (n: number) => n > 0 && (
    <tr class="spacer" aria-hidden="true"><td colSpan={fields.length} style={{ height: `${n * rowHeight}px` }} /></tr>
  )
  return (
    <div class="grid" ref={box} tabIndex={0} role="region" aria-label={label}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <table class="list" aria-rowcount={count + 1}>
        <thead>
          <tr aria-rowindex={1}>{fields.map((f, i) => <th key={i} scope="col" title={f.type.toString()}>{f.name}</th>)}</tr>
        </thead>
        <tbody>
          {spacer(first)}
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((r) => (
            <tr key={r} aria-rowindex={r + 2}>
              {fields.map((f, c) => <td key={c} class="cell">{value(cell(rows, r, c), f.type)}</td>)}
            </tr>
          ))}
          {spacer(count - last)}
        </tbody>
      </table>
    </div>
  )
}
