// Errors of requests.
import { count } from './text'
import type { Problem } from './api'

/** Shows an error with the place in the file, and the lines around it where the server has sent them. */
export function ProblemView({ problem }: { problem: Problem }) {
  const { byte, line, feature, field } = problem
  const lines = excerptLines(problem.excerpt)
  return (
    <div class="problem" role="alert">
      <strong>{problem.title}</strong>
      <p class="wrap">{problem.detail}</p>
      {byte !== undefined && (
        <dl class="facts">
          <dt>Byte</dt><dd>{count(byte)}</dd>
          {line !== undefined && <><dt>Line</dt><dd>{count(line)}</dd></>}
          {feature !== undefined && <><dt>Feature</dt><dd>{count(feature)}</dd></>}
          {field && <><dt>Field</dt><dd>{field}</dd></>}
        </dl>
      )}
      {lines.length > 0 && (
        <pre class="excerpt" tabIndex={0} aria-label="Lines around the error">
          {lines.map((l, i) => (
            <span key={i} class={l.number !== undefined && l.number === line ? 'bad' : undefined}>
              {l.number !== undefined ? `${String(l.number).padStart(6)}  ` : ''}{l.text}{'\n'}
            </span>
          ))}
        </pre>
      )}
    </div>
  )
}

/** Reads an excerpt: a text, lines, or lines with numbers. */
function excerptLines(excerpt: unknown): { number?: number; text: string }[] {
  if (typeof excerpt === 'string') return excerpt.split('\n').map((text) => ({ text }))
  if (typeof excerpt !== 'object' || excerpt === null) return []
  const from = excerpt as { lines?: unknown; text?: unknown; line?: unknown; first_line?: unknown }
  if (typeof from.text === 'string') {
    const first = Number(from.first_line ?? from.line)
    return from.text.split('\n').map((text, i) => ({ number: Number.isFinite(first) ? first + i : undefined, text }))
  }
  const lines = Array.isArray(excerpt) ? excerpt : Array.isArray(from.lines) ? from.lines : []
  return lines.map((l: unknown) => {
    if (typeof l !== 'object' || l === null) return { text: String(l) }
    const { line, number, text } = l as { line?: number; number?: number; text?: string }
    return { number: number ?? line, text: String(text ?? '') }
  })
}
