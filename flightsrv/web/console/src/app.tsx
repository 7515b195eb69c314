// The frame of all pages: header, navigation, theme and login.
import { useEffect, useRef, useState } from 'preact/hooks'
import { logIn, logOut, problemOf, whenUnauthenticated } from './api'
import { Catalog } from './catalog'
import { Lazy } from './lazy'
import { Login } from './login'
import { parse, go, type Route } from './route'
import { ServerPage } from './server'
import { useTheme, type Theme } from './theme'

const pages = [
  { page: 'tables', label: 'Tables' },
  { page: 'sql', label: 'SQL' },
  { page: 'server', label: 'Server' },
] as const

const loadTablePage = () => import('./table').then((m) => m.TablePage)

export function App() {
  const [route, setRoute] = useState(() => parse(location.hash))
  const [user, setUser] = useState('')
  const [theme, setTheme] = useTheme()
  const main = useRef<HTMLElement>(null)

  useEffect(() => {
    const changed = () => {
      setRoute(parse(location.hash))
      main.current?.focus()
    }
    addEventListener('hashchange', changed)
    whenUnauthenticated(() => {
      if (!location.hash.startsWith('#/login')) go(`#/login?to=${encodeURIComponent(location.hash)}`)
    })
    logIn().then(setUser, (e) => {
      if (problemOf(e).status === 401) go(`#/login?to=${encodeURIComponent(location.hash)}`)
    })
    setTimeout(loadTablePage, 500) // so that it is there at the click
    return () => removeEventListener('hashchange', changed)
  }, [])

  useEffect(() => {
    document.title = `${titleOf(route)} · vibeflight`
  }, [route])

  const leave = async () => {
    await logOut()
    setUser('')
    go('#/login')
  }

  return (
    <>
      <a class="skip" href="#main" onClick={(e) => {
        e.preventDefault()
        main.current?.focus()
      }}>Skip to content</a>
      <header class="bar">
        <a class="brand" href="#/tables">vibeflight</a>
        <nav aria-label="Pages">
          {pages.map((p) => (
            <a key={p.page} href={`#/${p.page}`} aria-current={route.page === p.page ? 'page' : undefined}>{p.label}</a>
          ))}
        </nav>
        <div class="bar-end">
          <ThemePicker theme={theme} set={setTheme} />
          {user && <span class="user">{user}</span>}
          {user && <button type="button" class="quiet" onClick={leave}>Log out</button>}
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page route={route} onLogin={setUser} />
      </main>
    </>
  )
}

function Page({ route, onLogin }: { route: Route; onLogin: (user: string) => void }) {
  switch (route.page) {
    case 'login':
      return <Login to={route.query.get('to') ?? '#/tables'} onLogin={onLogin} />
    case 'sql':
      return <Lazy load={() => import('./sql').then((m) => m.SQLPage)} props={{ first: route.query.get('query') ?? '' }} />
    case 'server':
      return <ServerPage />
    case 'table':
      return (
        <Lazy key={route.name} load={loadTablePage} props={{ name: route.name, part: route.part }} />
      )
    default:
      return <Catalog />
  }
}

function titleOf(route: Route): string {
  if (route.page === 'table') return route.name
  return { tables: 'Tables', sql: 'SQL', server: 'Server', login: 'Log in' }[route.page]
}

function ThemePicker({ theme, set }: { theme: Theme; set: (t: Theme) => void }) {
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select value={theme} onChange={(e) => set(e.currentTarget.value as Theme)}>
        <option value="auto">System theme</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  )
}
