// Geometries of a record batch as flat arrays, which go to the GPU as they are.
import { type Data, type Field, type RecordBatch, type Schema } from 'apache-arrow'
import { ShapeBuilder } from './builder'
import { decodeWKB } from './wkb'

/** Points, one position each. */
export interface Points {
  xy: Float64Array<ArrayBuffer>
  rows: Uint32Array | null // of each point; null: its own index
}

/** Lines: line i has the positions from starts[i] to starts[i+1]. */
export interface Lines {
  xy: Float64Array<ArrayBuffer>
  starts: Uint32Array | Int32Array
  rows: Uint32Array | null
}

/** Polygons: polygon i has the rings from starts[i] to starts[i+1]. */
export interface Polygons {
  xy: Float64Array<ArrayBuffer>
  rings: Uint32Array | Int32Array // ring r has the positions from rings[r] to rings[r+1]
  starts: Uint32Array | Int32Array
  rows: Uint32Array | null
}

/** The answer of the triangulator. */
export interface Triangles {
  id: number
  indices: Uint32Array<ArrayBuffer>
}

/** The geometries of a record batch. */
export interface Shapes {
  points?: Points
  lines?: Lines
  polygons?: Polygons
}

/** The GeoArrow type of a field, such as "point" or "wkb"; "" if it has no geometry. */
export function encodingOf(field: Field): string {
  const name = field.metadata.get('ARROW:extension:name') ?? ''
  return name.startsWith('geoarrow.') ? name.slice('geoarrow.'.length) : ''
}

/** The field with the geometry that a map shows: the first one that it can read. */
export function geometryField(schema: Schema): Field | undefined {
  return schema.fields.find((f) => !['', 'wkt', 'box'].includes(encodingOf(f)))
}

/** The coordinate reference system of a field, such as "OGC:CRS84"; "" if it is not known. */
export function crsOf(field: Field): string {
  let about: { crs?: unknown }
  try {
    about = JSON.parse(field.metadata.get('ARROW:extension:metadata') || '{}')
  } catch {
    return ''
  }
  const crs = about.crs
  if (typeof crs === 'string') return crs
  if (typeof crs !== 'object' || crs === null) return ''
  const { id, name } = crs as { id?: { authority: string; code: string | number }; name?: string }
  return id ? `${id.authority}:${id.code}` : (name ?? '')
}

/** Reports whether positions are longitude and latitude, as the map has them. */
export function isGeographic(crs: string): boolean {
  return crs === '' || crs === 'OGC:CRS84' || crs === 'EPSG:4326' || crs.startsWith('WGS 84 (CRS84)')
}

/** Reads the geometries of a batch. */
export function shapesOf(batch: RecordBatch, field: Field): Shapes {
  const at = batch.schema.fields.findIndex((f) => f.name === field.name)
  const data = batch.data.children[at]
  const kind = encodingOf(field)
  switch (kind) {
    case 'point':
      return { points: pointsOf(data) }
    case 'multipoint': {
      const inner = data.children[0]
      return { points: { xy: positionsOf(inner), rows: rowsOf(offsetsOf(data)) } }
    }
    case 'linestring':
      return { lines: { xy: positionsOf(data.children[0]), starts: offsetsOf(data), rows: null } }
    case 'multilinestring': {
      const lines = data.children[0]
      return {
        lines: { xy: positionsOf(lines.children[0]), starts: offsetsOf(lines), rows: rowsOf(offsetsOf(data)) },
      }
    }
    case 'polygon':
      return { polygons: polygonsOf(data, null) }
    case 'multipolygon':
      return { polygons: polygonsOf(data.children[0], rowsOf(offsetsOf(data))) }
    case 'wkb': {
      const out = new ShapeBuilder()
      const column = batch.getChildAt(at)
      for (let i = 0; i < batch.numRows; i++) {
        const bytes = column?.get(i) as Uint8Array | null
        if (bytes) decodeWKB(bytes, i, out)
      }
      return out.finish()
    }
  }
  throw new Error(`the map does not draw geoarrow.${kind}`)
}

function polygonsOf(polygons: Data, rows: Uint32Array | null): Polygons {
  const rings = polygons.children[0]
  return { xy: positionsOf(rings.children[0]), rings: offsetsOf(rings), starts: offsetsOf(polygons), rows }
}

/** Offsets of a list's values; that of a null is the next one. */
function offsetsOf(list: Data): Int32Array {
  return (list.valueOffsets as Int32Array).subarray(0, list.length + 1)
}

/** The row of each item of the lists, one list per row. */
function rowsOf(offsets: Int32Array): Uint32Array {
  const rows = new Uint32Array(offsets[offsets.length - 1] ?? 0)
  for (let i = 0; i + 1 < offsets.length; i++) rows.fill(i, offsets[i], offsets[i + 1])
  return rows
}

/** Points without the nulls. */
function pointsOf(data: Data): Points {
  const xy = positionsOf(data)
  if (data.nullCount === 0) return { xy, rows: null }
  const rows = new Uint32Array(data.length - data.nullCount)
  const kept = new Float64Array(2 * rows.length)
  let n = 0
  for (let i = 0; i < data.length; i++) {
    if (!data.getValid(i)) continue
    rows[n] = i
    kept[2 * n] = xy[2 * i]
    kept[2 * n + 1] = xy[2 * i + 1]
    n++
  }
  return { xy: kept, rows }
}

/** The positions of coordinates, x and y of each, without a copy where they are interleaved. */
function positionsOf(data: Data): Float64Array<ArrayBuffer> {
  if (data.children.length > 1) { // separated: a struct of x, y, …
    const [x, y] = data.children.map((c) => c.values as Float64Array)
    const xy = new Float64Array(2 * data.length)
    for (let i = 0; i < data.length; i++) {
      xy[2 * i] = x[i]
      xy[2 * i + 1] = y[i]
    }
    return xy
  }
  const size = (data.type as unknown as { listSize: number }).listSize
  const values = data.children[0].values as Float64Array<ArrayBuffer>
  if (size === 2) return values.subarray(0, 2 * data.length)
  const xy = new Float64Array(2 * data.length)
  for (let i = 0; i < data.length; i++) {
    xy[2 * i] = values[size * i]
    xy[2 * i + 1] = values[size * i + 1]
  }
  return xy
}

/** The box of the positions, xmin ymin xmax ymax; null if there are none. */
export function boundsOf(shapes: Shapes): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity]
  for (const part of [shapes.points, shapes.lines, shapes.polygons]) {
    const xy = part?.xy ?? []
    for (let i = 0; i + 1 < xy.length; i += 2) {
      const x = xy[i], y = xy[i + 1]
      if (x < box[0]) box[0] = x
      if (x > box[2]) box[2] = x
      if (y < box[1]) box[1] = y
      if (y > box[3]) box[3] = y
    }
  }
  return box[0] <= box[2] && box[1] <= box[3] ? box : null
}

export type Box = [xmin: number, ymin: number, xmax: number, ymax: number]

/** The smallest box with both. */
export function union(a: Box | null, b: Box | null): Box | null {
  if (!a || !b) return a ?? b
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}
