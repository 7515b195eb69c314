// Reads well-known binary: that of ISO 13249-3, with Z and M, and the flags of EWKB.
import type { ShapeBuilder } from './builder'

const maxDepth = 32 // of collections in collections

/** Adds the geometry of a row. Throws an error if the bytes are not WKB. */
export function decodeWKB(bytes: Uint8Array, row: number, out: ShapeBuilder) {
  new Reader(bytes, row, out).geometry(0)
}

class Reader {
  private view: DataView
  private at = 0
  private little = true

  constructor(bytes: Uint8Array, private row: number, private out: ShapeBuilder) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  geometry(depth: number) {
    if (depth > maxDepth) throw new Error('WKB: too many collections in collections')
    this.little = this.view.getUint8(this.at++) === 1
    const code = this.uint32()
    if (code & 0x20000000) this.uint32() // the SRID of EWKB
    const kind = code & 0x0fffffff
    let ordinates = 2
    if (code & 0x80000000) ordinates++
    if (code & 0x40000000) ordinates++
    const thousands = Math.floor(kind / 1000)
    if (thousands === 1 || thousands === 2) ordinates = 3
    if (thousands === 3) ordinates = 4
    const { out, row } = this
    switch (kind % 1000) {
      case 1:
        this.positions(1, ordinates, (x, y) => out.point(x, y, row))
        return
      case 2:
        this.positions(this.count(8 * ordinates), ordinates, (x, y) => out.linePosition(x, y))
        out.endLine(row)
        return
      case 3:
        for (let n = this.count(4); n > 0; n--) {
          this.positions(this.count(8 * ordinates), ordinates, (x, y) => out.ringPosition(x, y))
          out.endRing()
        }
        out.endPolygon(row)
        return
      case 4: case 5: case 6: case 7:
        for (let n = this.count(5); n > 0; n--) this.geometry(depth + 1)
        return
    }
    throw new Error(`WKB: type ${kind} of geometry is not known`)
  }

  private uint32() {
    const v = this.view.getUint32(this.at, this.little)
    this.at += 4
    return v
  }

  /** A count of things, each of which has at least some bytes. */
  private count(bytes: number) {
    const n = this.uint32()
    if (n * bytes > this.view.byteLength - this.at) throw new Error('WKB: a count is larger than the rest')
    return n
  }

  private positions(n: number, ordinates: number, each: (x: number, y: number) => void) {
    for (; n > 0; n--) {
      each(this.view.getFloat64(this.at, this.little), this.view.getFloat64(this.at + 8, this.little))
      this.at += 8 * ordinates
    }
  }
}
