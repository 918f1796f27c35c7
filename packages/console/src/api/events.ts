/**
 * Server-sent events that come back by themselves.
 *
 * A browser keeps six connections to a server for all of its pages, and a stream takes one. So readers of one path share its
 * stream, and a page that is hidden has none.
 *
 * A stream that ended opens again once the server is there; its readers hear `opened` each time, before the first event. An error in
 * a reader is reported as the page's own; the stream and its other readers go on. A store that gateways share tells of no commit:
 * there its readers hear `opened` when the user asks, and after own writes.
 */
import { effect } from '@preact/signals'
import type { ApplyReport, CommitReport, ReloadReport } from '@sixtables/engine'
import { connection, epoch, lost, server } from './connection.ts'
import { partsOf, send } from './http.ts'

export interface EventReader<T> {
  readonly onEvent: (event: T) => void
  /** The stream begins, or begins again: what came in between was missed. */
  readonly onOpened?: () => void
  /** The server refused the stream. It is not tried again. */
  readonly onRefused?: (error: Error) => void
}

interface Stream {
  readonly readers: Set<EventReader<unknown>>
  abort: AbortController | undefined
  isRefused: boolean
}

const streams = new Map<string, Stream>()

export function openEvents<T>(path: string, reader: EventReader<T>): () => void {
  const stream = streams.get(path) ?? { readers: new Set(), abort: undefined, isRefused: false }
  streams.set(path, stream)
  stream.readers.add(reader as EventReader<unknown>)
  if (stream.abort !== undefined) reader.onOpened?.()
  startMissing()
  return () => {
    const wasReading = stream.readers.delete(reader as EventReader<unknown>)
    if (!wasReading || stream.readers.size > 0) return
    streams.delete(path)
    stream.abort?.abort()
  }
}

const commitsPath = '/emulator/commits?'

/** Lets all that follows commits read anew, where no stream tells of them. */
export function readAgain(): void {
  for (const [path, stream] of streams) {
    if (path.startsWith(commitsPath)) tell(stream, (reader) => reader.onOpened?.())
  }
}

/** After each write of the console: elsewhere the stream tells of it. */
export function wrote(): void {
  if (server.value?.sharedStore !== undefined) readAgain()
}

function startMissing(): void {
  if (connection.value === 'lost' || document.hidden) return
  for (const [path, stream] of streams) {
    if (!stream.isRefused && stream.abort === undefined) void read(path, stream)
  }
}

effect(startMissing)
effect(() => {
  // A server that was started again may serve what the one before refused.
  if (epoch.value > 0) for (const stream of streams.values()) stream.isRefused = false
  startMissing()
})
document.addEventListener('visibilitychange', () => {
  if (document.hidden) for (const stream of streams.values()) stream.abort?.abort()
  else startMissing()
})

async function read(path: string, stream: Stream): Promise<void> {
  const abort = new AbortController()
  stream.abort = abort
  try {
    const response = await send('GET', path, undefined, { signal: abort.signal })
    tell(stream, (reader) => reader.onOpened?.())
    for await (const data of dataOf(response)) {
      const event: unknown = JSON.parse(data)
      tell(stream, (reader) => reader.onEvent(event))
    }
    // The server ended it, and so may be ending itself.
    lost()
  } catch (error) {
    if (abort.signal.aborted) return
    if (error instanceof Error && 'status' in error) {
      stream.isRefused = true
      tell(stream, (reader) => reader.onRefused?.(error))
    } else lost()
  } finally {
    stream.abort = undefined
    if (abort.signal.aborted) startMissing()
  }
}

function tell(stream: Stream, about: (reader: EventReader<unknown>) => void): void {
  for (const reader of stream.readers) {
    try {
      about(reader)
    } catch (error) {
      reportError(error)
    }
  }
}

/** The texts of the events; comments are passed over. */
export async function* dataOf(response: Response): AsyncGenerator<string> {
  let rest = ''
  for await (const text of partsOf(response.body?.pipeThrough(new TextDecoderStream()))) {
    const events = (rest + text).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) if (event.startsWith('data: ')) yield event.slice('data: '.length)
  }
}

/** An event of `GET /emulator/commits`: exactly one of the members is there; `lost` counts the events that a slow reader missed. */
export interface StoreEvent {
  readonly commit?: CommitReport
  readonly apply?: ApplyReport
  readonly reload?: ReloadReport
  readonly lost?: number
}

export type StepEvent = CommitReport | ApplyReport
