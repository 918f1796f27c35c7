/** Answers of the server in a component: loaded when it is shown, anew when the server comes back, and on demand or every so often. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
import { getJson, ServerGone } from '../api/http.ts'

export interface Loaded<T> {
  /** Absent until the first answer. */
  readonly value: T | undefined
  /** The refusal of the latest call. A server that is away is told by the shell. */
  readonly error: Error | undefined
  readonly reload: () => void
  /** An answer of another call that is newer. */
  readonly set: (value: T) => void
}

/** @param everyMs - asks again so long after each answer, while the page is visible */
export function useLoaded<T>(path: string, { everyMs }: { readonly everyMs?: number | undefined } = {}): Loaded<T> {
  const [value, setValue] = useState<{ readonly path: string; readonly value: T } | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  const [asked, setAsked] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      try {
        const answer = await getJson<T>(path, { signal: abort.signal })
        setValue({ path, value: answer })
        setError(undefined)
      } catch (reason) {
        if (abort.signal.aborted) return
        if (!(reason instanceof ServerGone)) setError(reason as Error)
      }
      if (everyMs !== undefined && !abort.signal.aborted) timer = setTimeout(again, everyMs)
    }
    const again = (): void => {
      if (document.hidden) timer = setTimeout(again, everyMs)
      else void load()
    }
    void load()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [path, everyMs, asked, epoch.value])
  const reload = useCallback(() => setAsked((before) => before + 1), [])
  const set = useCallback((answer: T) => setValue({ path, value: answer }), [path])
  return { value: value?.path === path ? value.value : undefined, error, reload, set }
}

export interface Action<A extends readonly unknown[]> {
  readonly run: (...args: A) => void
  readonly isBusy: boolean
  readonly error: Error | undefined
  /** The words of `task` after it succeeded. */
  readonly done: string | undefined
}

/** A call that changes something: one at a time, with its refusal or its result in words. */
export function useAction<A extends readonly unknown[]>(task: (...args: A) => Promise<string | undefined>): Action<A> {
  const [state, setState] = useState<Omit<Action<A>, 'run'>>({ isBusy: false, error: undefined, done: undefined })
  const isShown = useRef(true)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  const run = (...args: A): void => {
    if (state.isBusy) return
    setState({ isBusy: true, error: undefined, done: undefined })
    task(...args).then(
      (done) => isShown.current && setState({ isBusy: false, error: undefined, done }),
      (error: Error) => isShown.current && setState({ isBusy: false, error, done: undefined }),
    )
  }
  return { ...state, run }
}
