// Components that are loaded when they are first shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Shows a component once it is loaded. */
export function Lazy<P extends object>({ load, props }: { load: () => Promise<ComponentType<P>>; props: P }) {
  const [shown, setShown] = useState<{ Component: ComponentType<P> } | null>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    let gone = false
    load().then((Component) => !gone && setShown({ Component }), () => !gone && setFailed(true))
    return () => {
      gone = true
    }
  }, [])
  if (failed) return <p role="alert">A part of the console could not be loaded: reload the page.</p>
  if (!shown) return <p role="status">Loading…</p>
  return <shown.Component {...props} />
}
