/** Answers of the server in a component: loaded when it is shown, anew when the server comes back, and on demand or every so often. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
import { type CallOptions, getJson, ServerGone } from '../api/http.ts'
import { NewestAnswer } from '../model/newest-answer.ts'

export interface Loaded<T> {
  /** Absent until the first answer. */
  readonly value: T | undefined
  /** The refusal of the latest call. A server that is away is told by the shell. */
  readonly error: Error | undefined
  readonly reload: () => void
  /** An answer of another call. It is newer than that of a load under way. */
  readonly set: (value: T) => void
}

export interface LoadedOptions<T> {
  /** Asks again so long after each answer, while the page is visible. */
  readonly everyMs?: number | undefined
  /** Default: the answer of a GET. */
  readonly read?: ((path: string, options: CallOptions) => Promise<T>) | undefined
}

/** @param options - `read` is the same function at each call */
export function useLoaded<T>(path: string, { everyMs, read = getJson }: LoadedOptions<T> = {}): Loaded<T> {
  const [value, setValue] = useState<{ readonly path: string; readonly value: T } | undefined>(undefined)
  const [error, setError] = useState<Error | undefined>(undefined)
  const [asked, setAsked] = useState(0)
  const answers = useRef(new NewestAnswer()).current
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      const isNewest = answers.ask()
      try {
        const answer = await read(path, { signal: abort.signal })
        if (isNewest()) setValue({ path, value: answer })
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
  }, [path, everyMs, read, asked, epoch.value])
  const reload = useCallback(() => setAsked((before) => before + 1), [])
  const set = useCallback(
    (answer: T) => {
      answers.overtake()
      setValue({ path, value: answer })
    },
    [path],
  )
  return { value: value?.path === path ? value.value : undefined, error, reload, set }
}

export interface Action<A extends readonly unknown[]> {
  readonly run: (...args: A) => void
  readonly isBusy: boolean
  readonly error: Error | undefined
  /** The words of `task` after it succeeded. */
  readonly done: string | undefined
}

/**
 * A call that changes something, with its refusal or its result in words. A call that is asked for while another is under way is made
 * after it: none is dropped.
 */
export function useAction<A extends readonly unknown[]>(task: (...args: A) => Promise<string | undefined>): Action<A> {
  const [state, setState] = useState<Omit<Action<A>, 'run'>>({ isBusy: false, error: undefined, done: undefined })
  const isShown = useRef(true)
  /** Calls under way or behind it. */
  const calls = useRef<readonly (() => Promise<string | undefined>)[]>([])
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  const next = async (): Promise<void> => {
    const [call] = calls.current
    if (call === undefined) return
    setState({ isBusy: true, error: undefined, done: undefined })
    const ended = await call().then(
      (done) => ({ done, error: undefined }),
      (error: Error) => ({ done: undefined, error }),
    )
    calls.current = calls.current.slice(1)
    if (isShown.current) setState({ ...ended, isBusy: false })
    void next()
  }
  const run = (...args: A): void => {
    calls.current = [...calls.current, () => task(...args)]
    if (calls.current.length === 1) void next()
  }
  return { ...state, run }
}
