// The console: pages by the fragment of the address.
import { render } from 'preact'
import { App } from './app'

render(<App />, document.getElementById('app')!)
