// A small map with the extent of a table, drawn without WebGL.
import { useEffect, useRef } from 'preact/hooks'
import countries from './geo/countries.arrows'
import { openStream } from './arrow'
import { geometryField, isGeographic, shapesOf, type Polygons } from './geo/shapes'
import { onThemeChange } from './theme'
import { degrees } from './text'

const width = 320, height = 160

let land: Promise<Polygons> | undefined

async function loadLand(): Promise<Polygons> {
  const { schema, batches } = await openStream(fetch(countries))
  for await (const batch of batches) return shapesOf(batch, geometryField(schema)!).polygons!
  throw new Error('there are no countries')
}

export function ExtentMap({ bbox, crs }: { bbox: number[]; crs: string | null }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [x0, y0, x1, y1] = bbox
  const drawable = isGeographic(crs ?? '') && x0 >= -360 && x1 <= 360 && y0 >= -90.1 && y1 <= 90.1
  useEffect(() => {
    if (!drawable) return
    let gone = false
    const draw = async () => {
      land ??= loadLand()
      const polygons = await land
      const context = canvas.current?.getContext('2d')
      if (!gone && context) paint(context, polygons, bbox)
    }
    void draw()
    const off = onThemeChange(() => void draw())
    return () => {
      gone = true
      off()
    }
  }, [])
  if (!drawable) return null
  return (
    <canvas ref={canvas} class="extent-map" width={2 * width} height={2 * height} role="img"
      aria-label={`Extent: longitude ${degrees(x0)} to ${degrees(x1)}, latitude ${degrees(y0)} to ${degrees(y1)}`} />
  )
}

function paint(c: CanvasRenderingContext2D, { xy, rings }: Polygons, bbox: number[]) {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name)
  const x = (lon: number) => ((lon + 180) / 360) * 2 * width
  const y = (lat: number) => ((90 - lat) / 180) * 2 * height
  c.fillStyle = colour('--sea')
  c.fillRect(0, 0, 2 * width, 2 * height)
  c.beginPath()
  for (let r = 0; r + 1 < rings.length; r++) {
    for (let i = rings[r]; i < rings[r + 1]; i++) {
      if (i === rings[r]) c.moveTo(x(xy[2 * i]), y(xy[2 * i + 1]))
      else c.lineTo(x(xy[2 * i]), y(xy[2 * i + 1]))
    }
  }
  c.fillStyle = colour('--land')
  c.strokeStyle = colour('--border')
  c.fill('evenodd')
  c.stroke()
  const [x0, y0, x1, y1] = bbox
  const w = Math.max(6, x(x1) - x(x0)), h = Math.max(6, y(y0) - y(y1))
  c.strokeStyle = colour('--accent')
  c.lineWidth = 3
  c.strokeRect(x(x0), y(y1), w, h)
  c.globalAlpha = 0.2
  c.fillStyle = colour('--accent')
  c.fillRect(x(x0), y(y1), w, h)
  c.globalAlpha = 1
}
