/**
 * Long questions over HTTP, whose answer may take longer than a client waits for the first byte: server-sent events.
 *
 *   {"progress": {"rows": 120000}}    at once, then every second: rows looked at, or entities written, so far
 *   {"report": …}                     the answer, the last event
 *   {"error": {"message", "status"}}  what went wrong, instead of it
 *
 * Known: fetch of Node gives up after 300 s without an answer's head.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { DatastoreError } from '@sixtables/engine'
import { eventOf } from '../../protocols/router.ts'
import type { Asking } from './inspection.ts'

export type ProgressEvent =
  | { readonly progress: { readonly rows: number } }
  | { readonly report: unknown }
  | { readonly error: { readonly message: string; readonly status: string } }

const intervalMs = 1000

/** Asks with progress; ends when `signal` aborts, as the question does. Errors that are our fault are thrown. */
export async function* progressOf(
  ask: (asking: Asking) => Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let rows = 0
  const asking: Asking = {
    signal,
    onProgress: (seen) => {
      rows = seen
    },
  }
  const over = new AbortController()
  const answer = ask(asking).then(
    (report): ProgressEvent => ({ report }),
    (error: unknown): ProgressEvent => {
      if (!(error instanceof DatastoreError)) throw error
      return { error: { message: error.message, status: error.code } }
    },
  )
  try {
    for (;;) {
      yield eventOf({ progress: { rows } } satisfies ProgressEvent)
      const last = await Promise.race([answer, sleep(intervalMs, undefined, { signal: over.signal })])
      if (last === undefined) continue
      yield eventOf(last)
      return
    }
  } finally {
    over.abort()
  }
}
