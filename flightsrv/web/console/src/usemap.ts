// A map as a part of a page.
import { useEffect, useRef } from 'preact/hooks'
import { FeatureMap, type Picked } from './geo/map'
import { isDark, onThemeChange } from './theme'

/** A map in the element `box`, from its first to its last drawing. `picked` is called after each click. */
export function useMap(picked: (p: Picked | null, map: FeatureMap) => void) {
  const box = useRef<HTMLDivElement>(null)
  const map = useRef<FeatureMap | null>(null)
  useEffect(() => {
    const m = new FeatureMap(box.current!, isDark(), (p) => picked(p, m))
    map.current = m
    const off = onThemeChange((dark) => m.setDark(dark))
    return () => {
      off()
      m.close()
    }
  }, [])
  return { box, map }
}
