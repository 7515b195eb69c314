// Triangulation in workers, so that the page stays responsive.
import type { Polygons, Triangles } from './shapes'

const size = Math.min(4, Math.max(1, (navigator.hardwareConcurrency || 2) - 1))

/** Workers that divide polygons into triangles. */
export class Triangulator {
  private workers: Worker[] = []
  private waiting = new Map<number, (indices: Uint32Array) => void>()
  private last = 0

  /** Returns indices of positions, three for each triangle. */
  triangulate(polygons: Polygons): Promise<Uint32Array> {
    if (this.workers.length < size) this.workers.push(this.start())
    const id = ++this.last
    const copy = { xy: polygons.xy.slice(), rings: polygons.rings.slice(), starts: polygons.starts.slice(), rows: null }
    this.workers[id % this.workers.length].postMessage({ id, polygons: copy }, [copy.xy.buffer])
    return new Promise((resolve) => this.waiting.set(id, resolve))
  }

  close() {
    for (const w of this.workers) w.terminate()
    this.workers = []
    this.waiting.clear()
  }

  private start(): Worker {
    const w = new Worker(__TRIANGULATOR__, { type: 'module' })
    w.onmessage = (e: MessageEvent<Triangles>) => {
      this.waiting.get(e.data.id)?.(e.data.indices)
      this.waiting.delete(e.data.id)
    }
    return w
  }
}
