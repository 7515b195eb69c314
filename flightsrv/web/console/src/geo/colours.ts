// Colours by value: quantiles of numbers, and the most frequent texts.
import { DataType, type RecordBatch, type Vector } from 'apache-arrow'

export type Colour = [r: number, g: number, b: number]

/** What a legend shows: the colour of a range of values, or of a value. */
export interface LegendItem {
  colour: Colour
  label: string
}

/** A scale gives the colours of a column. */
export interface Scale {
  column: string
  numeric: boolean
  breaks: number[] // numeric: colour i is for values less than break i, the last colour for the others
  values: string[] // not numeric: colour i is for value i
  items: LegendItem[]
}

/** Colour of features without an attribute, and of values that are null or not in the legend. */
export const plain: Colour = [31, 120, 200]
export const missing: Colour = [140, 140, 140]

// Viridis (CC0), and the qualitative scheme of Okabe and Ito: both can be told apart by the colour-blind.
const sequential: Colour[] = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]]
const qualitative: Colour[] = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66], [120, 94, 40],
]

const maxSample = 50_000

/** Reports whether a map can be coloured by values of a type. */
export function isColourable(type: DataType): boolean {
  return isNumeric(type) || DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isBool(type) ||
    DataType.isDictionary(type)
}

/** The same for the name of a type, as the action describe has it. */
export function isColourableName(type: string): boolean {
  return /^(u?int|float|utf8|large_utf8|bool|dictionary)/.test(type)
}

export function isNumeric(type: DataType): boolean {
  return DataType.isInt(type) || DataType.isFloat(type)
}

/** Makes a scale from values of a column in batches: from a sample where they are many. */
export function scaleOf(column: string, batches: RecordBatch[]): Scale | null {
  const type = batches[0]?.schema.fields.find((f) => f.name === column)?.type
  if (!type) return null
  const rows = batches.reduce((n, b) => n + b.numRows, 0)
  const step = Math.max(1, Math.floor(rows / maxSample))
  const sample: unknown[] = []
  for (const batch of batches) {
    const values = batch.getChild(column)
    for (let i = 0; values && i < values.length; i += step) {
      const v = values.get(i)
      if (v !== null && v !== undefined) sample.push(v)
    }
  }
  return isNumeric(type) ? quantiles(column, sample.map(Number)) : categories(column, sample.map(String))
}

function quantiles(column: string, sample: number[]): Scale {
  const sorted = Float64Array.from(sample.filter(Number.isFinite)).sort()
  const breaks: number[] = []
  for (let i = 1; i < sequential.length; i++) {
    const at = sorted[Math.floor((i * sorted.length) / sequential.length)]
    if (at !== undefined && at > (breaks.at(-1) ?? sorted[0])) breaks.push(at)
  }
  const items = [...breaks, Infinity].map((to, i) => {
    const from = i === 0 ? sorted[0] : breaks[i - 1]
    const end = to === Infinity ? sorted[sorted.length - 1] : to
    const label = sorted.length === 0 ? 'no values' : `${short(from)} – ${short(end)}`
    return { colour: sequentialColour(i, breaks.length + 1), label }
  })
  return { column, numeric: true, breaks, values: [], items }
}

function sequentialColour(i: number, n: number): Colour {
  return sequential[n === 1 ? 2 : Math.round((i * (sequential.length - 1)) / (n - 1))]
}

function categories(column: string, sample: string[]): Scale {
  const count = new Map<string, number>()
  for (const v of sample) count.set(v, (count.get(v) ?? 0) + 1)
  const sorted = [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  const values = sorted.slice(0, qualitative.length).map(([v]) => v)
  const items: LegendItem[] = values.map((v, i) => ({ colour: qualitative[i], label: v }))
  if (sorted.length > values.length) items.push({ colour: missing, label: `${sorted.length - values.length} others` })
  return { column, numeric: false, breaks: [], values, items }
}

function short(v: number): string {
  return new Intl.NumberFormat('en', { maximumSignificantDigits: 4, notation: Math.abs(v) >= 1e6 ? 'compact' : 'standard' })
    .format(v)
}

/** The colours of all rows of a batch, 4 bytes each. */
export function coloursOf(batch: RecordBatch, scale: Scale | null, alpha: number): Uint8Array {
  const n = batch.numRows
  const out = new Uint8Array(4 * n)
  const values = scale ? batch.getChild(scale.column) : null
  const indexOf = scale && values ? indexer(scale, values) : null
  for (let i = 0; i < n; i++) {
    const k = indexOf ? indexOf(i) : -2
    const c = k === -2 ? plain : k === -1 ? missing : scale!.items[k].colour
    out[4 * i] = c[0]
    out[4 * i + 1] = c[1]
    out[4 * i + 2] = c[2]
    out[4 * i + 3] = alpha
  }
  return out
}

/** A function that gives the index of the legend's item of a row; -1 if it has none. */
function indexer(scale: Scale, values: Vector): (row: number) => number {
  if (scale.numeric) {
    return (row) => {
      const v = values.get(row)
      if (v === null) return -1
      const x = Number(v)
      if (Number.isNaN(x)) return -1
      let k = 0
      while (k < scale.breaks.length && x >= scale.breaks[k]) k++
      return k
    }
  }
  const index = new Map(scale.values.map((v, i) => [v, i]))
  return (row) => {
    const v = values.get(row)
    return v === null ? -1 : (index.get(String(v)) ?? -1)
  }
}

/** The colours of a scale as an expression of MapLibre, for tiles. */
export function expressionOf(scale: Scale | null): unknown {
  if (!scale) return rgb(plain)
  const value = ['get', scale.column]
  if (scale.numeric) {
    const steps: unknown[] = []
    scale.breaks.forEach((b, i) => steps.push(b, rgb(scale.items[i + 1].colour)))
    const first = rgb(scale.items[0].colour)
    const colour = steps.length ? ['step', ['to-number', value], first, ...steps] : first
    return ['case', ['==', ['typeof', value], 'number'], colour, rgb(missing)]
  }
  const cases: unknown[] = []
  scale.values.forEach((v, i) => cases.push(v, rgb(scale.items[i].colour)))
  return cases.length ? ['match', ['to-string', value], ...cases, rgb(missing)] : rgb(missing)
}

export function rgb([r, g, b]: Colour): string {
  return `rgb(${r},${g},${b})`
}
