/** A long call of a dialog, one at a time: it tells how far it is, can be cancelled, and ends when its dialog is closed. */
import { useEffect, useRef, useState } from 'preact/hooks'

interface TaskParts {
  readonly signal: AbortSignal
  readonly tell: (words: string) => void
}

/** @param cancelled - words for a task that was cancelled */
export function useTask<T>(run: (parts: TaskParts) => Promise<T | string>, cancelled?: string) {
  /** How far it is, in words; then its result, or its failure. */
  const [state, set] = useState<T | string | Error | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | undefined>(undefined)
  const cancel = (): void => running.current?.abort()
  useEffect(() => cancel, [])
  const start = async (): Promise<void> => {
    const abort = new AbortController()
    running.current = abort
    const { signal } = abort
    setBusy(true)
    set(await run({ signal, tell: set }).catch((error: Error) => (signal.aborted ? cancelled : error)))
    setBusy(false)
  }
  return { start: () => void start(), cancel, isBusy, state, set }
}
