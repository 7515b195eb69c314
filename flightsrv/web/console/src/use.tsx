// Snippets and downloads of a table with the current selection.
import { useState } from 'preact/hooks'
import { formats, rowsURL, type About } from './api'
import { snippets, usualAddress } from './snippets'
import type { Chosen } from './table'
import { degrees } from './text'

const addressKey = 'vibeflight-flight-address'

export function Use({ about, chosen, choose }: { about: About; chosen: Chosen; choose: (c: Chosen) => void }) {
  const [box, setBox] = useState(chosen.bbox?.map(degrees).join(', ') ?? '')
  const [address, setAddress] = useState(() => localStorage.getItem(addressKey) ?? usualAddress())
  const names = about.columns.map((c) => c.name)
  const selected = chosen.columns ?? names

  const toggle = (name: string) => {
    const columns = names.filter((n) => (n === name ? !selected.includes(n) : selected.includes(n)))
    choose({ ...chosen, columns: columns.length === names.length || columns.length === 0 ? null : columns })
  }
  const setText = (text: string) => {
    setBox(text)
    choose({ ...chosen, bbox: boxOf(text) })
  }
  const keepAddress = (text: string) => {
    setAddress(text)
    localStorage.setItem(addressKey, text)
  }
  const invalid = box.trim() !== '' && boxOf(box) === null
  const selection = { columns: chosen.columns ?? undefined, bbox: chosen.bbox ?? undefined }

  return (
    <div class="columns">
      <div>
        <h2>Selection</h2>
        <label class="field">Box: xmin, ymin, xmax, ymax
          <input id="box" value={box} aria-invalid={invalid} placeholder="all" onInput={(e) => setText(e.currentTarget.value)} />
        </label>
        {invalid && <p class="error" role="alert">Four numbers, separated by commas.</p>}
        <fieldset class="choices">
          <legend>Columns</legend>
          {names.map((n) => (
            <label key={n}><input type="checkbox" checked={selected.includes(n)} onChange={() => toggle(n)} /> {n}</label>
          ))}
        </fieldset>
        <h2>Download</h2>
        <ul class="downloads">
          {formats.map((f) => (
            <li key={f.name}>
              <a href={rowsURL(about.name, selection, { format: f.name })} download={`${baseName(about.name)}.${f.extension}`}>
                {f.label}
              </a>
            </li>
          ))}
        </ul>
      </div>
      <div class="grow">
        <h2>Use in a program</h2>
        <label class="field">Address of Flight (--listen)
          <input value={address} onInput={(e) => keepAddress(e.currentTarget.value)} />
        </label>
        {snippets(about, chosen, address).map((s) => <Snippet key={s.label} {...s} />)}
      </div>
    </div>
  )
}

function boxOf(text: string): number[] | null {
  const numbers = text.split(',').map((t) => (t.trim() === '' ? NaN : Number(t)))
  return numbers.length === 4 && numbers.every(Number.isFinite) ? numbers : null
}

function baseName(name: string): string {
  return name.split('/').at(-1)!.replace(/\.[^.]*$/, '') || 'table'
}

function Snippet({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <section class="snippet" aria-label={label}>
      <div class="title">
        <h3>{label}</h3>
        {isSecureContext && (
          <button type="button" class="quiet" onClick={copy} aria-label={`Copy the snippet for ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </button>
        )}
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  )
}
