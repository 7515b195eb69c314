// The map: MapLibre for the camera and for tiles, deck.gl for record batches.
import type { Layer } from '@deck.gl/core'
import { MapLibreOverlay } from '@deck.gl/maplibre'
import type { RecordBatch } from 'apache-arrow'
import { Map as MapLibre, NavigationControl, ScaleControl, setWorkerUrl, type MapMouseEvent } from 'maplibre-gl'
import { openStream, type Stream } from '../arrow'
import countries from './countries.arrows'
import { coloursOf, expressionOf, scaleOf, type Scale } from './colours'
import { layersOf, rowOf, type Drawn, type Look } from './layers'
import { boundsOf, crsOf, geometryField, isGeographic, shapesOf, union, type Box } from './shapes'
import { Triangulator } from './triangles'

setWorkerUrl(__TILE_WORKER__)

/** Beyond this budget the map shows tiles. */
export const maxRows = 2_000_000
export const maxBytes = 200_000_000

/** A feature that was clicked: a row of a batch, or a feature of a tile, whose ID is the number of its row. */
export type Picked = { batch: number; row: number } | { id?: number | string; attributes: Record<string, unknown> }

interface Palette {
  sea: string
  land: [number, number, number, number]
  border: [number, number, number, number]
}

const light: Palette = { sea: '#dfe8ef', land: [250, 249, 245, 255], border: [150, 160, 170, 255] }
const dark: Palette = { sea: '#10171f', land: [36, 44, 53, 255], border: [96, 108, 120, 255] }

const tileSource = 'tiles'
const countriesBelow = 'countries-below' // the layer that the countries are below, and the features above
const frameInterval = 250 // milliseconds between two frames with more batches

/** A map with the countries of the world and features. */
export class FeatureMap {
  private map: MapLibre
  private overlay: MapLibreOverlay
  private triangulator = new Triangulator()
  private base: Drawn[] = []
  private placed = false // the countries are among the layers of MapLibre
  private drawn: Drawn[] = []
  private batches: RecordBatch[] = []
  private scale: Scale | null = null
  private palette: Palette
  private frame = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private waits = false // to draw
  private lastFrame = 0 // when it was drawn
  private numRows = 0 // of the features
  private seen = () => {} // called when there are features on the map
  private loaded: Promise<void>
  private closed = false
  private generation = 0 // of the features; batches of a former one are not added
  box: Box | null = null // of all batches

  constructor(container: HTMLElement, isDark: boolean, private picked: (p: Picked | null) => void) {
    this.palette = isDark ? dark : light
    this.map = new MapLibre({
      container,
      style: {
        version: 8, sources: {},
        layers: [
          { id: 'background', type: 'background', paint: { 'background-color': this.palette.sea } },
          { id: countriesBelow, type: 'background', layout: { visibility: 'none' } },
        ],
      },
      attributionControl: false, dragRotate: false, pitchWithRotate: false, renderWorldCopies: false,
      center: [0, 20], zoom: 0.6, fadeDuration: 0,
    })
    this.map.touchZoomRotate.disableRotation()
    this.map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
    this.map.addControl(new ScaleControl({}), 'bottom-left')
    this.overlay = new MapLibreOverlay({ interleaved: true, layers: [] })
    this.map.addControl(this.overlay)
    this.loaded = new Promise((resolve) => this.map.once('load', () => resolve()))
    this.map.on('click', (e: MapMouseEvent) => this.pick(e.point.x, e.point.y))
    const canvas = this.map.getCanvas()
    canvas.addEventListener('keydown', (e) => {
      if (e.key === 'Enter') this.pick(canvas.clientWidth / 2, canvas.clientHeight / 2)
    })
    // The countries come after the first features: both would compete for the processor.
    const waited = new Promise<void>((resolve) => setTimeout(resolve, 1500))
    const seen = new Promise<void>((resolve) => { this.seen = resolve })
    void Promise.race([seen, waited]).then(() => this.addCountries())
  }

  /** The box that is visible. */
  view(): Box {
    const b = this.map.getBounds()
    return [b.getWest(), b.getSouth(), b.getEast(), b.getNorth()]
  }

  setDark(isDark: boolean) {
    this.palette = isDark ? dark : light
    void this.loaded.then(() => {
      if (this.closed) return
      this.map.setPaintProperty('background', 'background-color', this.palette.sea)
      this.draw()
    })
  }

  /** Moves to a box. */
  fit(box: Box, animate = false) {
    const [x0, y0, x1, y1] = box
    const clamp = (v: number) => Math.max(-85, Math.min(85, v))
    this.map.fitBounds([[Math.max(-180, x0), clamp(y0)], [Math.min(180, x1), clamp(y1)]],
      { padding: 30, maxZoom: 15, animate })
  }

  /** Removes all features. */
  clear() {
    this.generation++
    this.drawn = []
    this.batches = []
    this.scale = null
    this.box = null
    if (this.map.getSource(tileSource)) {
      for (const id of ['tile-fill', 'tile-line', 'tile-point']) if (this.map.getLayer(id)) this.map.removeLayer(id)
      this.map.removeSource(tileSource)
    }
    this.draw()
  }

  /**
   * Draws the batches of a stream as they come, coloured by a column. The number of rows may be an
   * estimate. Calls progress after each batch, and ends early if it returns false.
   */
  async show(stream: Stream, column: string | null, numRows: number,
    progress: (rows: number, bytes: number) => boolean) {
    const field = geometryField(stream.schema)
    if (!field) throw new Error('there is no geometry')
    if (!isGeographic(crsOf(field))) {
      throw new Error(`the coordinates are of ${crsOf(field)}, and the map needs longitude and latitude`)
    }
    const generation = this.generation
    this.numRows = numRows
    let rows = 0, bytes = 0
    for await (const batch of stream.batches) {
      if (generation !== this.generation) return
      if (batch.numRows === 0) continue
      rows += batch.numRows
      bytes += batch.data.byteLength
      const first = this.batches.length === 0
      this.batches.push(batch)
      if (first && column) this.scale = scaleOf(column, this.batches)
      this.add(batch, field.name)
      if (!progress(rows, bytes)) return
      if (first) { // the first features are seen before the next ones are prepared
        await this.rendered()
        this.seen()
      }
      await new Promise((resolve) => setTimeout(resolve)) // lets the browser draw
    }
    if (column && this.batches.length > 1) this.recolour(scaleOf(column, this.batches))
  }

  /** The colours of the features; null without a column. */
  currentScale(): Scale | null {
    return this.scale
  }

  batch(i: number): RecordBatch {
    return this.batches[i]
  }

  /** The number of rows of the batches before a batch. */
  rowsBefore(i: number): number {
    return this.batches.slice(0, i).reduce((n, b) => n + b.numRows, 0)
  }

  /** Shows vector tiles that a TileJSON document describes. */
  async showTiles(about: TileJSON, scale: Scale | null) {
    await this.loaded
    if (this.closed) return
    this.seen()
    this.scale = scale
    const layer = about.vector_layers?.[0]?.id ?? 'default'
    this.map.addSource(tileSource, {
      type: 'vector', tiles: about.tiles.map((t) => location.origin + t.replace(/^[a-z]+:\/\/[^/]+/, '')),
      minzoom: about.minzoom ?? 0, maxzoom: about.maxzoom ?? 14,
    })
    const colour = expressionOf(scale) as never
    const source = { source: tileSource, 'source-layer': layer }
    this.map.addLayer({
      id: 'tile-fill', type: 'fill', ...source, filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colour, 'fill-opacity': 0.7, 'fill-antialias': true },
    })
    this.map.addLayer({
      id: 'tile-line', type: 'line', ...source, filter: ['!=', ['geometry-type'], 'Point'],
      paint: { 'line-color': colour, 'line-width': 1.2 },
    })
    this.map.addLayer({
      id: 'tile-point', type: 'circle', ...source, filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': colour, 'circle-radius': 3 },
    })
  }

  close() {
    this.closed = true
    this.generation++
    cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    this.triangulator.close()
    this.map.remove()
  }

  private async addCountries() {
    if (this.closed) return
    const { schema, batches } = await openStream(fetch(countries))
    const field = geometryField(schema)!
    for await (const batch of batches) {
      const shapes = shapesOf(batch, field)
      const triangles = await this.triangulator.triangulate(shapes.polygons!)
      this.base.push({ id: `land-${this.base.length}`, shapes, triangles, fill: new Uint8Array(), line: new Uint8Array() })
    }
    this.draw()
  }

  private add(batch: RecordBatch, geometry: string) {
    const field = batch.schema.fields.find((f) => f.name === geometry)!
    const shapes = shapesOf(batch, field)
    const drawn: Drawn = {
      id: `g${this.generation}-${this.drawn.length}`, shapes, triangles: null,
      fill: coloursOf(batch, this.scale, shapes.polygons ? 180 : 220), line: coloursOf(batch, this.scale, 255),
    }
    this.drawn.push(drawn)
    this.box = union(this.box, boundsOf(shapes))
    this.draw()
    if (shapes.polygons) {
      void this.triangulator.triangulate(shapes.polygons).then((indices) => {
        drawn.triangles = indices
        drawn.layers = undefined
        this.draw()
      })
    }
  }

  private recolour(scale: Scale | null) {
    this.scale = scale
    this.drawn.forEach((d, i) => {
      d.fill = coloursOf(this.batches[i], scale, d.shapes.polygons ? 180 : 220)
      d.line = coloursOf(this.batches[i], scale, 255)
      d.layers = undefined
    })
    this.draw()
  }

  /** Draws soon: the first batch at the next frame, later ones together, since each frame draws all features. */
  private draw() {
    if (this.waits || this.closed) return
    this.waits = true
    const pause = this.drawn.length > 1 ? this.lastFrame + frameInterval - performance.now() : 0
    const atFrame = () => { this.frame = requestAnimationFrame(() => this.drawNow()) }
    if (pause > 0) this.timer = setTimeout(atFrame, pause)
    else atFrame()
  }

  private drawNow() {
    this.waits = false
    this.lastFrame = performance.now()
    const radius = this.numRows > 200_000 ? 1.5 : this.numRows > 20_000 ? 2 : 4
    const features = this.drawn.flatMap((d) =>
      cachedLayers(d, { pickable: true, radius, width: this.numRows > 50_000 ? 0.6 : 1 }))
    this.overlay.setProps({ layers: [...this.background(), ...features] })
  }

  /** The countries. While tiles load, deck.gl would draw new layers on top of everything, so they wait. */
  private background(): Layer[] {
    if (!this.placed && !this.map.isStyleLoaded()) {
      this.map.once('idle', () => this.draw())
      return []
    }
    this.placed = this.base.length > 0
    return this.base.flatMap((d) => {
      const n = landRows(d)
      d.fill = filled(n, this.palette.land)
      d.line = filled(n, this.palette.border)
      return cachedLayers(d, { pickable: false, radius: 0, width: 0.8, beforeId: countriesBelow }, this.palette.sea)
    })
  }

  /**
   * Waits until features are drawn, at most half a second: a hidden page draws nothing. The first frames have none,
   * because the shaders are compiled meanwhile.
   */
  private rendered(): Promise<void> {
    return new Promise((resolve) => {
      let frames = 4
      const next = () => {
        if (--frames < 0 || this.closed) return resolve()
        this.map.once('render', () => requestAnimationFrame(next))
        this.map.triggerRepaint()
      }
      next()
      setTimeout(resolve, 500)
    })
  }

  private pick(x: number, y: number) {
    if (this.map.getLayer('tile-fill')) {
      const [found] = this.map.queryRenderedFeatures([[x - 3, y - 3], [x + 3, y + 3]])
      this.picked(found ? { id: found.id, attributes: found.properties } : null)
      return
    }
    const found = this.overlay.pickObject({ x, y, radius: 4 })
    const i = this.drawn.findIndex((d) => found?.layer?.id.startsWith(d.id + '-'))
    this.picked(found && i >= 0 ? { batch: i, row: rowOf(this.drawn[i], found.layer!.id, found.index) } : null)
  }
}

/** The layers of a batch: the same ones until the batch, its look or its theme changes. */
function cachedLayers(d: Drawn, look: Look, theme = ''): Layer[] {
  const key = JSON.stringify([look, theme])
  if (d.layers?.key !== key) d.layers = { key, layers: layersOf(d, look) }
  return d.layers.layers
}

/** The number of rows of a batch of polygons. */
function landRows(d: Drawn): number {
  const p = d.shapes.polygons!
  return p.rows ? (p.rows.at(-1) ?? -1) + 1 : p.starts.length - 1
}

function filled(n: number, colour: [number, number, number, number]): Uint8Array {
  const out = new Uint8Array(4 * n)
  for (let i = 0; i < n; i++) out.set(colour, 4 * i)
  return out
}

/** A TileJSON document. */
export interface TileJSON {
  tiles: string[]
  minzoom?: number
  maxzoom?: number
  vector_layers?: { id: string }[]
}
