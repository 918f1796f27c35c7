/**
 * Reads of a group beside writes at an even rate: how old an eventual answer is, and whether a strong one comes in time.
 *
 *   write ─▶ log of the group ─▶ applied one after the other, each takes apply.delayMs ─▶ index rows ─▶ eventual query
 *                    └── what is not applied yet, a strong query applies first ─▶ its answer, or its deadline
 *
 * Ours: that applying is one job a group, with a fixed time for each record. Known: that above one write a second eventual reads lag
 * further, and strong ones time out (best practices, entities).
 */
import type { Key } from '@sixtables/engine'
import { decodeProperties } from '@sixtables/engine'
import type { ArmSession } from '../../session.ts'
import { integerOf, isLate, succeeds } from '../../sim/client.ts'
import { array, ascending, descending, integer, text, upsert, whereKey } from '../../sim/entities.ts'

const root = { kind: 'Forum', name: 'general' }
/** Indexed values of a post: rows that a strong query has to write for each record that is not applied yet. */
const tags = 40

/** @param writesPerSecond - to the one group, evenly */
export async function readsBeside(session: ArmSession, writesPerSecond: number): Promise<void> {
  const { record } = session
  const store = await session.open({ mode: 'legacy', apply: { type: 'manual' }, simulate: true })
  const seconds = session.setting('burst.longSeconds') / 2
  const writes = Math.round(seconds * writesPerSecond)
  const keyOf = (n: number): Key => store.key(root, { kind: 'Post', name: `post-${n}` })
  const writer = async (): Promise<void> => {
    for (let n = 0; n < writes; n++) {
      const values = Array.from({ length: tags }, (_, i) => text(`tag ${session.random.integer(1000)} ${i}`))
      const fields = { at: integer(Math.round(store.nowMs)), tags: array(values) }
      await store.put([upsert(keyOf(n), fields)])
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
  let [lagMs, strongMs, isInTime] = [0, 0, true]
  await store.alone(async () => {
    const newest = store.query('Post', { order: [descending('at')], limit: 1 })
    const { results } = await store.database.runQuery(store.context(), { query: newest })
    lagMs = store.nowMs - integerOf(decodeProperties(results[0]?.image?.properties ?? new Uint8Array()), 'at')
    const begunMs = store.nowMs
    const filter = whereKey('hasAncestor', store.key(root))
    const query = store.query('Post', { filter, order: [ascending('tags')], limit: 1 })
    const context = store.contextWithin(session.setting('query.deadlineMs'))
    isInTime = await succeeds(() => store.database.runQuery(context, { query }), isLate)
    strongMs = store.nowMs - begunMs
  })
  record.figure('writes', writes / seconds, '/s')
  record.figure('records not applied yet', pending)
  record.figure('an eventual query lags by', lagMs / 1000, 's')
  record.figure('a strong query takes', strongMs, 'ms')
  record.figure('strong queries that time out', !isInTime)
}
