/** The console: mounts the shell into the page that the server sends. */
import { render } from 'preact'
import { App } from './app/app.tsx'
import { showAttributesVisibly } from './app/visible-attributes.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element "app"')
showAttributesVisibly()
root.replaceChildren()
render(<App />, root)
