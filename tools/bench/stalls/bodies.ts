/** Large requests, and many clients at once: the calls that cost by their own size, whatever the store holds. */
import * as messages from '../wire/messages.ts'
import { kindOf } from '../wire/workload.ts'
import { call, type Target, type Verb } from './verb.ts'

const deletes = 200_000
const readers = 200
const watchers = 500
const watchMs = 10_000

/** Watches the tablets, and reads what comes. */
async function watch({ port }: Target): Promise<void> {
  const signal = AbortSignal.timeout(watchMs)
  const response = await fetch(`http://127.0.0.1:${port}/emulator/watch?interval=100`, { signal })
  for await (const _ of response.body ?? []) if (signal.aborted) return
}

export const bodies: readonly Verb[] = [
  {
    name: `commit of ${deletes.toLocaleString('en')} deletes (5 MB)`,
    run: async ({ connection }) => void (await connection.ask('Commit', messages.deletion('Gone', deletes))),
  },
  {
    name: `JSON commit of ${deletes.toLocaleString('en')} deletes (17 MB)`,
    run: async (target) => {
      const mutations = Array.from({ length: deletes }, (_, i) => ({
        delete: messages.jsonKey('Gone', messages.nameOf(i)),
      }))
      await call(target, '/v1/projects/bench:commit', { mode: 'NON_TRANSACTIONAL', mutations })
    },
  },
  {
    name: `${readers} clients that read 300 entities in JSON`,
    run: async (target) => {
      const query = { kind: [{ name: kindOf(target.size) }], limit: 300 }
      await Promise.all(Array.from({ length: readers }, () => call(target, '/v1/projects/bench:runQuery', { query })))
    },
  },
  {
    name: `${watchers} watchers at 100 ms, for ${watchMs / 1000} seconds`,
    run: async (target) => void (await Promise.allSettled(Array.from({ length: watchers }, () => watch(target)))),
  },
]
