/**
 * Text of users in attributes that a browser shows or reads out: names of kinds, queries and keys in tooltips and labels. One hook of
 * Preact makes all of them visible text, on every page; text between tags is made so by safe-text.tsx.
 */
import { options, type VNode } from 'preact'
import { visibleLines } from '../model/visible-text.ts'

const shown = ['title', 'aria-label', 'placeholder'] as const

/** Called once, before the first element is made. */
export function showAttributesVisibly(): void {
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
}
