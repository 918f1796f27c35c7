/** The console: mounts the shell into the page that the server sends. */
import { render } from 'preact'
import { App } from './app/app.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element "app"')
render(<App />, root)
