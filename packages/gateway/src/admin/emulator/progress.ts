/**
 * Long questions over HTTP as server-sent events, because a client may give up before the first byte of the answer: Node's fetch waits 300 s
 * (known).
 *
 *   {"progress": {"rows": 120000}}    at once, then every second: number of rows read, or entities written
 *   {"report": …}                     the answer, the last event
 *   {"error": {"message", "status"}}  an error, in place of the answer
 */
import { DatastoreError, systemScheduler } from '@sixtables/engine'
import { eventOf } from '../../protocols/router.ts'

export interface Asking {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((rows: number) => void) | undefined
}

export type ProgressEvent =
  | { readonly progress: { readonly rows: number } }
  | { readonly report: unknown }
  | { readonly error: { readonly message: string; readonly status: string } }

const intervalMs = 1000

/** Events of a question; `signal` ends both. Errors of the server itself are thrown. */
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
      const last = await Promise.race([answer, systemScheduler.sleep(intervalMs, over.signal)])
      if (last === undefined) continue
      yield eventOf(last)
      return
    }
  } finally {
    over.abort()
  }
}
