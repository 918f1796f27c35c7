/**
 * Reads of a group beside writes at an even rate: how old an eventual answer is, and whether a strong one comes in time.
 *
 *   write ─▶ log of the group ─▶ applied one after the other, each takes apply.delayMs ─▶ index rows ─▶ eventual query
 *                    └── what is not applied yet, a strong query applies first ─▶ its answer, or its deadline
 *
 * Ours: that applying is one job a group, with a fixed time for each record. Known: that above one write a second eventual reads lag
 * further, and strong ones time out (best practices, entities).
 */
import type { Key, Query } from '@sixtables/engine'
import { decodeProperties } from '@sixtables/engine'
import type { ArmSession } from '../../session.ts'
import { hasCode, integerOf } from '../../sim/client.ts'
import { array, ascending, descending, integer, text, upsert, whereKey } from '../../sim/entities.ts'
import type { Store } from '../../sim/store.ts'

const root = { kind: 'Forum', name: 'general' }
/** Indexed values of a post: rows that a strong query has to write for each record that is not applied yet. */
const tags = 40

const postsQuery = (store: Store, more: Partial<Query>): Query => store.query('Post', { limit: 1, ...more })

/** @param writesPerSecond - to the one group, evenly */
export async function readsBeside(session: ArmSession, writesPerSecond: number): Promise<void> {
  const { record } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' }, simulate: true })
  const seconds = session.setting('burst.longSeconds') / 2
  const writes = Math.round(seconds * writesPerSecond)
  const keyOf = (n: number): Key => store.key(root, { kind: 'Post', name: `post-${n}` })
  let written = 0
  const put = async (n: number): Promise<void> => {
    const values = Array.from({ length: tags }, (_, i) => text(`tag ${session.random.integer(1000)} ${i}`))
    const fields = { at: integer(Math.round(store.nowMs)), tags: array(values) }
    await store.put([upsert(keyOf(n), fields)])
    written++
  }
  const writer = async (): Promise<void> => {
    for (let n = 0; n < writes; n++) {
      await put(n)
      await store.sleep(Math.max(0, ((n + 1) * 1000) / writesPerSecond - store.nowMs))
    }
  }
  const applier = async (): Promise<void> => {
    while (store.nowMs < seconds * 1000) {
      const [oldest] = (await store.engine.inspector.pending({ limit: 1 })).pending
      // A pause of no length would be no pause: time would stand still.
      await store.sleep(Math.max(1, session.setting('apply.delayMs')))
      if (oldest !== undefined) await store.engine.inspector.release(keyOf(0), 'B', BigInt(oldest.version))
    }
  }
  await store.together([writer(), applier()])
  const pending = (await store.engine.inspector.pending()).pending.length
  let [lagMs, strongMs, isLate] = [0, 0, false]
  await store.alone(async () => {
    const newest = postsQuery(store, { order: [descending('at')] })
    const { results } = await store.database.runQuery(store.context(), { query: newest })
    lagMs = store.nowMs - integerOf(decodeProperties(results[0]?.image?.properties ?? new Uint8Array()), 'at')
    const begunMs = store.nowMs
    const query = postsQuery(store, { filter: whereKey('hasAncestor', store.key(root)), order: [ascending('tags')] })
    try {
      await store.database.runQuery(store.contextWithin(session.setting('query.deadlineMs')), { query })
    } catch (error) {
      if (!hasCode(error, 'DEADLINE_EXCEEDED')) throw error
      isLate = true
    }
    strongMs = store.nowMs - begunMs
  })
  record.figure('writes', written / seconds, '/s')
  record.figure('records not applied yet', pending, '')
  record.figure('an eventual query lags by', lagMs / 1000, 's')
  record.figure('a strong query takes', strongMs, 'ms')
  record.figure('strong queries that time out', isLate ? 1 : 0, '')
}
