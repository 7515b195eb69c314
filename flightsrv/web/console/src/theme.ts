// Light and dark: as the system has it, or as the user has chosen.
import { useEffect, useState } from 'preact/hooks'

export type Theme = 'auto' | 'light' | 'dark'

const key = 'vibeflight-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/** Reports whether the page is dark now. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme
  return chosen ? chosen === 'dark' : system.matches
}

function kept(): Theme {
  const text = localStorage.getItem(key)
  return text === 'light' || text === 'dark' ? text : 'auto'
}

function apply(theme: Theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

apply(kept()) // before anything is shown

/** The theme that the user has chosen. */
export function useTheme(): [Theme, (t: Theme) => void] {
  const [theme, set] = useState(kept)
  useEffect(() => {
    apply(theme)
    if (theme === 'auto') localStorage.removeItem(key)
    else localStorage.setItem(key, theme)
    dispatchEvent(new Event('themechange'))
  }, [theme])
  return [theme, set]
}

/** Calls a function with each change between light and dark. */
export function onThemeChange(f: (dark: boolean) => void): () => void {
  const changed = () => f(isDark())
  system.addEventListener('change', changed)
  addEventListener('themechange', changed)
  return () => {
    system.removeEventListener('change', changed)
    removeEventListener('themechange', changed)
  }
}
