/** Answers and streams of the server in a component, from when it is shown until it is gone. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
import { type EventReader, openEvents } from '../api/events.ts'
import { type CallOptions, getJson, postJson, ServerGone } from '../api/http.ts'
import { NewestAnswer } from '../model/newest-answer.ts'

interface Loaded<T> {
  /** Absent until the first answer to this call. */
  readonly value: T | undefined
  /** The refusal of the latest call. A server that is away is told by the shell. */
  readonly error: Error | undefined
  readonly reload: () => void
  /** An answer of another call. It is newer than that of a load under way. */
  readonly set: (value: T) => void
}

interface LoadedOptions<T> {
  /** Asks again so long after each answer, while the page is visible. */
  readonly everyMs?: number | undefined
  /** Asks by POST with it; another body is another call. */
  readonly body?: object | undefined
  readonly turn?: number | undefined
  /** The call itself; default: a GET, or a POST of the body. */
  readonly read?: ((path: string, options: CallOptions) => Promise<T>) | undefined
}

/** @param path - absent: nothing is asked */
export function useLoaded<T>(path: string | undefined, options: LoadedOptions<T> = {}): Loaded<T> {
  const { everyMs, body, turn } = options
  const call = JSON.stringify([path, body])
  const [found, setFound] = useState<{ readonly of: string; readonly value?: T; readonly error?: Error }>({ of: '' })
  const answers = useRef(new NewestAnswer()).current
  const loading = useRef<() => void>(() => undefined)
  const latest = useRef(options)
  latest.current = options
  useEffect(() => {
    if (path === undefined) return
    const abort = new AbortController()
    const { signal } = abort
    const { read = getJson } = latest.current
    const load = async (): Promise<void> => {
      const isNewest = answers.ask()
      try {
        const value = await (body === undefined ? read(path, { signal }) : postJson<T>(path, body, { signal }))
        if (!signal.aborted && isNewest()) setFound({ of: call, value })
      } catch (error) {
        if (signal.aborted || error instanceof ServerGone || !isNewest()) return
        setFound((before) => ({ ...(before.of === call ? before : { of: call }), error: error as Error }))
      }
    }
    loading.current = repeated(load, everyMs, signal)
    loading.current()
    return () => abort.abort()
  }, [call, everyMs, epoch.value])
  const reload = (): void => loading.current()
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) reload()
    isFirst.current = false
  }, [turn])
  const set = (value: T): void => {
    answers.overtake()
    setFound({ of: call, value })
  }
  const { value, error } = found.of === call ? found : {}
  return { value, error, reload, set }
}

/** Loads under way at a time; one that is wanted meanwhile begins behind them, once. */
const underWayMax = 2

/** A function that loads now, and so long after each load again while the page is visible, until the signal ends it. */
function repeated(load: () => Promise<void>, everyMs: number | undefined, signal: AbortSignal): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let [underWay, isWanted] = [0, false]
  const begin = async (): Promise<void> => {
    clearTimeout(timer)
    isWanted = underWay === underWayMax
    if (isWanted || signal.aborted) return
    underWay++
    await load()
    underWay--
    clearTimeout(timer)
    if (signal.aborted) return
    if (isWanted) void begin()
    else if (everyMs !== undefined) timer = setTimeout(again, everyMs)
  }
  const again = (): void => {
    if (document.hidden) timer = setTimeout(again, everyMs)
    else void begin()
  }
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => void begin()
}

export interface Action<A extends readonly unknown[]> {
  readonly run: (...args: A) => void
  readonly isBusy: boolean
  readonly error: Error | undefined
  readonly done: string | undefined
}

/** A call that changes something, with its refusal or its result in words. Calls are made one after the other: none is dropped. */
export function useAction<A extends readonly unknown[]>(task: (...args: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<Omit<Action<A>, 'run'>>({ isBusy: false, error: undefined, done: undefined })
  const latest = useRef(Promise.resolve())
  const call = async (...args: A): Promise<void> => {
    setState({ isBusy: true, error: undefined, done: undefined })
    const ended = await task(...args).then(
      (done) => ({ done: typeof done === 'string' ? done : undefined, error: undefined }),
      (error: Error) => ({ done: undefined, error }),
    )
    setState({ ...ended, isBusy: false })
  }
  const run = (...args: A): void => {
    latest.current = latest.current.then(() => call(...args))
  }
  return { ...state, run }
}

/** @param path - absent: no stream. The reader may be another one at each call. */
export function useEvents<T>(path: string | undefined, reader: EventReader<T>): void {
  const latest = useRef(reader)
  latest.current = reader
  useEffect(() => {
    if (path === undefined) return
    return openEvents<T>(path, {
      onEvent: (event) => latest.current.onEvent(event),
      onOpened: () => latest.current.onOpened?.(),
      onRefused: (error) => latest.current.onRefused?.(error),
    })
  }, [path])
}

/** A function that does something soon: what is asked for within `restMs` is done once. */
export function useSoon(restMs: number, action: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(action)
  latest.current = action
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, restMs)
  }
}

/** Tells of the commits of a query, also of those that were missed while the stream was away; of those that come together once. */
export function useCommits(query: string, restMs: number, onCommits: () => void): void {
  const soon = useSoon(restMs, onCommits)
  useEvents(`/emulator/commits?${query}&list=0`, { onEvent: soon, onOpened: soon })
}
