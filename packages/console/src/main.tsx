/** The console: mounts the shell into the page that the server sends. */
import { options, render, type VNode } from 'preact'
import { App } from './app/app.tsx'
import { visibleLines } from './model/visible-text.ts'

/** Attributes with text of users that a browser shows or reads out: a hook of Preact makes it visible, as safeText does between tags. */
const shown = ['title', 'aria-label', 'placeholder'] as const
const before = options.vnode
options.vnode = (vnode: VNode) => {
  if (typeof vnode.type === 'string') {
    const props = vnode.props as Partial<Record<string, unknown>>
    for (const name of shown) {
      const text = props[name]
      if (typeof text === 'string') props[name] = visibleLines(text)
    }
  }
  before?.(vnode)
}

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no element "app"')
root.replaceChildren()
render(<App />, root)
