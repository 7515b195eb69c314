// Numbers, times and values as text.

const numbers = new Intl.NumberFormat('en')

export function count(n: number | bigint): string {
  return numbers.format(n)
}

export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let i = 0
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`
}

export function time(text: string): string {
  const t = new Date(text)
  return Number.isNaN(t.getTime()) ? text : t.toISOString().slice(0, 19).replace('T', ' ')
}

export function seconds(s: number): string {
  if (s < 1) return `${Math.round(s * 1000)} ms`
  return s < 120 ? `${s.toFixed(1)} s` : `${Math.round(s / 60)} min`
}

export function degrees(v: number): string {
  return String(Math.round(v * 1e5) / 1e5)
}

const longest = 300 // characters of a value in a cell

/** A value of a column as text. Dates and times are those of apache-arrow. */
export function value(v: unknown, type?: { typeId: number; toString(): string }): string {
  if (v === null || v === undefined) return ''
  if (v instanceof Uint8Array) return `${count(v.length)} bytes`
  if (typeof v === 'number' || typeof v === 'bigint') {
    const name = type?.toString() ?? ''
    if (name.startsWith('Timestamp')) return timestamp(Number(v))
    if (name.startsWith('Date')) return timestamp(Number(v)).slice(0, 10)
    return String(v)
  }
  if (v instanceof Date) return v.toISOString()
  const text = typeof v === 'object' ? JSON.stringify(v, plainJSON) ?? String(v) : String(v)
  return text.length > longest ? text.slice(0, longest) + '…' : text
}

function plainJSON(_: string, v: unknown): unknown {
  return typeof v === 'bigint' ? String(v) : v
}

function timestamp(ms: number): string {
  const t = new Date(ms)
  return Number.isNaN(t.getTime()) ? String(ms) : t.toISOString().replace('T', ' ').replace(/(\.000)?Z$/, '')
}

/** An identifier of SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
