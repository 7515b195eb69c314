// An entry point of the build alone, which gives these packages a chunk of their own: changes of the console then
// leave that file as it is.
export { MapLibreOverlay } from '@deck.gl/maplibre'
export { PathLayer, ScatterplotLayer, SolidPolygonLayer } from '@deck.gl/layers'
export { Map, NavigationControl, ScaleControl, setWorkerUrl } from 'maplibre-gl'
