/** Hooks that several parts of pages use: a width, a draft, a key, a long call. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The width of an element, for what is drawn by pixels. @param first - until the element is laid out */
export function useWidth(box: { readonly current: HTMLElement | null }, first: number): number {
  const [width, setWidth] = useState(first)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return width
}

/**
 * A draft of a text that has its place elsewhere, such as a query of the address, begins anew with each value from there. A value that
 * the draft has given, which the function that is returned is told, comes back a moment later: it begins nothing.
 */
export function useNewValue(value: string, begin: (value: string) => void): (given: string) => void {
  const latest = useRef(value)
  // With the drawing, not after it: what is typed in between would be lost.
  useLayoutEffect(() => {
    if (value !== latest.current) begin(value)
    latest.current = value
  }, [value])
  return (given) => {
    latest.current = given
  }
}

/** A key that works anywhere on a page, a plain one not while text is typed. @param shortcut - a key, or `Ctrl+` and a key, which Cmd stands for too */
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

interface TaskParts {
  readonly signal: AbortSignal
  readonly tell: (words: string) => void
}

/** A long call of a dialog, one at a time: it tells how far it is, can be cancelled, and ends when its dialog is closed. */
export function useTask<T, A extends readonly unknown[] = []>(
  run: (parts: TaskParts, ...asked: A) => Promise<T | string>,
  cancelled?: string,
) {
  /** How far it is, in words; then its result, or its failure. */
  const [state, set] = useState<T | string | Error | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | undefined>(undefined)
  const cancel = (): void => running.current?.abort()
  useEffect(() => cancel, [])
  const start = async (...asked: A): Promise<void> => {
    const abort = new AbortController()
    running.current = abort
    const { signal } = abort
    setBusy(true)
    set(await run({ signal, tell: set }, ...asked).catch((error: Error) => (signal.aborted ? cancelled : error)))
    setBusy(false)
  }
  return { start: (...asked: A) => void start(...asked), cancel, isBusy, state, set }
}
