// Collects geometries of any kind, row by row.
import type { Shapes } from './shapes'

/** Numbers that grow. */
class Numbers {
  values = new Float64Array(1024)
  length = 0

  push2(x: number, y: number) {
    if (this.length + 2 > this.values.length) {
      const larger = new Float64Array(2 * this.values.length)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.length++] = x
    this.values[this.length++] = y
  }

  positions() {
    return this.length / 2
  }

  finish() {
    return this.values.slice(0, this.length)
  }
}

export class ShapeBuilder {
  private points = new Numbers()
  private pointRows: number[] = []
  private lines = new Numbers()
  private lineStarts = [0]
  private lineRows: number[] = []
  private polygons = new Numbers()
  private rings = [0]
  private polygonStarts = [0]
  private polygonRows: number[] = []

  point(x: number, y: number, row: number) {
    if (Number.isNaN(x) || Number.isNaN(y)) return // POINT EMPTY
    this.points.push2(x, y)
    this.pointRows.push(row)
  }

  linePosition(x: number, y: number) {
    this.lines.push2(x, y)
  }

  endLine(row: number) {
    this.lineStarts.push(this.lines.positions())
    this.lineRows.push(row)
  }

  ringPosition(x: number, y: number) {
    this.polygons.push2(x, y)
  }

  endRing() {
    this.rings.push(this.polygons.positions())
  }

  endPolygon(row: number) {
    this.polygonStarts.push(this.rings.length - 1)
    this.polygonRows.push(row)
  }

  finish(): Shapes {
    const shapes: Shapes = {}
    if (this.pointRows.length) {
      shapes.points = { xy: this.points.finish(), rows: Uint32Array.from(this.pointRows) }
    }
    if (this.lineRows.length) {
      shapes.lines = {
        xy: this.lines.finish(), starts: Uint32Array.from(this.lineStarts), rows: Uint32Array.from(this.lineRows),
      }
    }
    if (this.polygonRows.length) {
      shapes.polygons = {
        xy: this.polygons.finish(), rings: Uint32Array.from(this.rings),
        starts: Uint32Array.from(this.polygonStarts), rows: Uint32Array.from(this.polygonRows),
      }
    }
    return shapes
  }
}
