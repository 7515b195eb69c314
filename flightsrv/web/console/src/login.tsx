// Login by password or token.
import { useState } from 'preact/hooks'
import { logIn, problemOf, type Problem } from './api'
import { ProblemView } from './problem'
import { go } from './route'

export function Login({ to, onLogin }: { to: string; onLogin: (user: string) => void }) {
  const [by, setBy] = useState<'password' | 'token'>('password')
  const [user, setUser] = useState('')
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)

  const submit = async (e: Event) => {
    e.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      onLogin(await logIn(by === 'token' ? `Bearer ${secret.trim()}` : `Basic ${base64(`${user}:${secret}`)}`))
      setSecret('')
      go(to.startsWith('#/') && !to.startsWith('#/login') ? to : '#/tables')
    } catch (e) {
      setProblem(problemOf(e))
    } finally {
      setBusy(false)
    }
  }

  return (
    <section class="page login">
      <h1>Log in</h1>
      <form onSubmit={submit}>
        <fieldset>
          <legend>Credential</legend>
          <label><input type="radio" name="by" checked={by === 'password'} onChange={() => setBy('password')} /> Password</label>
          <label><input type="radio" name="by" checked={by === 'token'} onChange={() => setBy('token')} /> Token</label>
        </fieldset>
        {by === 'password' && (
          <label class="field">User
            <input name="user" autocomplete="username" required value={user} onInput={(e) => setUser(e.currentTarget.value)} />
          </label>
        )}
        <label class="field">{by === 'password' ? 'Password' : 'Token'}
          <input name="secret" type="password" autocomplete={by === 'password' ? 'current-password' : 'off'} required
            value={secret} onInput={(e) => setSecret(e.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={busy}>Log in</button>
      </form>
      {problem && <ProblemView problem={problem} />}
    </section>
  )
}

/** Base64 of the text in UTF-8. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
