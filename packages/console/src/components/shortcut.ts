/** Keys that work anywhere on a page: a plain one not while text is typed. */
import { useEffect, useRef } from 'preact/hooks'

/** @param shortcut - a key, or `Ctrl+` and a key, which Cmd stands for too */
export function useShortcut(shortcut: string, action: () => void): void {
  const latest = useRef(action)
  latest.current = action
  useEffect(() => {
    const withControl = shortcut.startsWith('Ctrl+')
    const key = withControl ? shortcut.slice('Ctrl+'.length) : shortcut
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== key || event.defaultPrevented || withControl !== (event.ctrlKey || event.metaKey)) return
      if (!withControl && isTyping(event)) return
      if (document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [shortcut])
}

/** Editors live in shadow roots: the path tells the innermost element. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
