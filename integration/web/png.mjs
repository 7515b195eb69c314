// Reads the screenshots of Chromium: PNG of 8 bits, RGB or RGBA, not interlaced (ISO/IEC 15948).
import { inflateSync } from 'node:zlib'

/** Decodes an image to three bytes for each pixel. */
export function decode(png) {
  const parts = []
  let width = 0, height = 0, channels = 0
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      channels = { 2: 3, 6: 4 }[body[9]]
      if (body[8] !== 8 || !channels || body[12] !== 0) throw new Error('this PNG is of another kind')
    }
    if (type === 'IDAT') parts.push(body)
    at += 12 + length
  }
  const bytes = inflateSync(Buffer.concat(parts))
  const stride = width * channels
  const out = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = bytes[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x >= channels ? out[at - channels] : 0
      const up = y ? out[at - stride] : 0
      const corner = x >= channels && y ? out[at - stride - channels] : 0
      out[at] = bytes[y * (stride + 1) + 1 + x] + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]
    }
  }
  const rgb = Buffer.alloc(3 * width * height)
  for (let i = 0; i < width * height; i++) out.copy(rgb, 3 * i, channels * i, channels * i + 3)
  return { width, height, rgb }
}

function paeth(a, b, c) {
  const p = a + b - c
  const [da, db, dc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)]
  return da <= db && da <= dc ? a : db <= dc ? b : c
}
