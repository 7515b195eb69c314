// Errors of requests.
import { count } from './text'
import type { Problem } from './api'

/** Shows an error with the place in the file, and the lines around it where the server has sent them. */
export function ProblemView({ problem }: { problem: Problem }) {
  const { byte, line, feature, field } = problem
  const lines = problem.lines ?? []
  const bad = byte === undefined ? -1 : lines.findLastIndex((l) => l.byte <= byte)
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
            <span key={i} class={i === bad ? 'bad' : undefined}>
              {String(l.number ?? l.byte).padStart(8)}  {l.text}{'\n'}
            </span>
          ))}
        </pre>
      )}
    </div>
  )
}
