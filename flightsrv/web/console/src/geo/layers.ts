// Layers of deck.gl for the geometries of a record batch.
import type { Layer } from '@deck.gl/core'
import { PathLayer, ScatterplotLayer, SolidPolygonLayer } from '@deck.gl/layers'
import type { Shapes } from './shapes'

/** A record batch on the map. */
export interface Drawn {
  id: string
  shapes: Shapes
  triangles: Uint32Array | null // of the polygons; null until they are known
  fill: Uint8Array // colour of each row, 4 bytes
  line: Uint8Array
  layers?: { key: string; layers: Layer[] } // made before
}

/** Looks of a layer. */
export interface Look {
  pickable: boolean
  radius: number // of points, in pixels
  width: number // of lines, in pixels
  beforeId?: string
}

/** The row of an object that deck.gl has picked in a layer of [layersOf]. */
export function rowOf(drawn: Drawn, layer: string, index: number): number {
  const { points, lines, polygons } = drawn.shapes
  const part = layer.endsWith('points') ? points : layer.endsWith('lines') ? lines : polygons
  return part?.rows ? part.rows[index] : index
}

/** The layers of a batch, polygons first, so that points are on top. */
export function layersOf(d: Drawn, look: Look): Layer[] {
  const layers: Layer[] = []
  const { points, lines, polygons } = d.shapes
  if (polygons && polygons.starts.length > 1) {
    const ringRows = rowsOfRings(polygons.starts, polygons.rows)
    if (d.triangles) {
      const starts = positionStarts(polygons.rings, polygons.starts)
      layers.push(new SolidPolygonLayer({
        id: `${d.id}-polygons`,
        data: {
          length: polygons.starts.length - 1,
          startIndices: starts,
          attributes: {
            getPolygon: { value: polygons.xy, size: 2 },
            indices: { value: d.triangles, size: 1 },
            getFillColor: { value: spread(d.fill, starts, polygons.rows), size: 4, type: 'unorm8', normalized: true },
          },
        } as never,
        positionFormat: 'XY',
        _normalize: false,
        pickable: look.pickable,
        ...placed(look),
      }))
    }
    layers.push(pathLayer(`${d.id}-rings`, polygons.xy, polygons.rings, spread(d.line, polygons.rings, ringRows),
      { ...look, pickable: false }))
  }
  if (lines && lines.starts.length > 1) {
    layers.push(pathLayer(`${d.id}-lines`, lines.xy, lines.starts, spread(d.fill, lines.starts, lines.rows),
      { ...look, width: look.width + 1 }))
  }
  if (points && points.xy.length) {
    layers.push(new ScatterplotLayer({
      id: `${d.id}-points`,
      data: {
        length: points.xy.length / 2,
        attributes: {
          getPosition: { value: points.xy, size: 2 },
          getFillColor: { value: points.rows ? gather(d.fill, points.rows) : d.fill, size: 4, type: 'unorm8', normalized: true },
        },
      } as never,
      radiusUnits: 'pixels',
      getRadius: look.radius,
      pickable: look.pickable,
      ...placed(look),
    }))
  }
  return layers
}

function pathLayer(id: string, xy: Float64Array, starts: Uint32Array | Int32Array, colours: Uint8Array, look: Look) {
  return new PathLayer({
    id,
    data: {
      length: starts.length - 1,
      startIndices: starts,
      attributes: {
        getPath: { value: xy, size: 2 },
        getColor: { value: colours, size: 4, type: 'unorm8', normalized: true },
      },
    } as never,
    positionFormat: 'XY',
    _pathType: 'open',
    widthUnits: 'pixels',
    getWidth: look.width,
    pickable: look.pickable,
    ...placed(look),
  })
}

/** The place of a layer: the order of layers alone decides what is on top, also among layers of MapLibre. */
function placed(look: Look): object {
  const parameters = { depthWriteEnabled: false, depthCompare: 'always' }
  return look.beforeId ? { parameters, beforeId: look.beforeId } : { parameters }
}

/** The first position of each polygon, and the end of the last one. */
function positionStarts(rings: Uint32Array | Int32Array, starts: Uint32Array | Int32Array): Uint32Array {
  return Uint32Array.from(starts, (ring) => rings[ring])
}

/** The row of each ring. */
function rowsOfRings(starts: Uint32Array | Int32Array, rows: Uint32Array | null): Uint32Array {
  const of = new Uint32Array(starts[starts.length - 1])
  for (let p = 0; p + 1 < starts.length; p++) of.fill(rows ? rows[p] : p, starts[p], starts[p + 1])
  return of
}

/** Colours of rows as colours of positions. */
function spread(colours: Uint8Array, starts: Uint32Array | Int32Array, rows: Uint32Array | null): Uint8Array {
  const of = new Uint32Array(colours.buffer, colours.byteOffset, colours.byteLength / 4)
  const out = new Uint32Array(starts[starts.length - 1] ?? 0)
  for (let i = 0; i + 1 < starts.length; i++) out.fill(of[rows ? rows[i] : i], starts[i], starts[i + 1])
  return new Uint8Array(out.buffer)
}

function gather(colours: Uint8Array, rows: Uint32Array): Uint8Array {
  const of = new Uint32Array(colours.buffer, colours.byteOffset, colours.byteLength / 4)
  const out = new Uint32Array(rows.length)
  for (let i = 0; i < rows.length; i++) out[i] = of[rows[i]]
  return new Uint8Array(out.buffer)
}
