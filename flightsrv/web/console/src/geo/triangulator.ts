// A worker that divides polygons into triangles.
import earcut from 'earcut'
import type { Polygons, Triangles } from './shapes'

self.onmessage = (e: MessageEvent<{ id: number; polygons: Polygons }>) => {
  const { id, polygons } = e.data
  const indices = triangulate(polygons)
  const answer: Triangles = { id, indices }
  self.postMessage(answer, { transfer: [indices.buffer] })
}

// triangulate returns indices of positions, three for each triangle.
function triangulate({ xy, rings, starts }: Polygons): Uint32Array<ArrayBuffer> {
  const all: number[] = []
  for (let p = 0; p + 1 < starts.length; p++) {
    const first = starts[p], last = starts[p + 1]
    if (first === last) continue
    const from = rings[first], to = rings[last]
    const holes: number[] = []
    for (let r = first + 1; r < last; r++) holes.push(rings[r] - from)
    const found = earcut(xy.subarray(2 * from, 2 * to), holes.length ? holes : undefined, 2)
    for (const i of found) all.push(i + from)
  }
  return Uint32Array.from(all)
}
