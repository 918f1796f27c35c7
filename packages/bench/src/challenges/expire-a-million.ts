/** A sweeper that begins each time at the oldest timestamp, where all rows were deleted. */
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import type { Store } from '../sim/store.ts'
import { atMost, type Challenge } from './challenge.ts'
import { alone, dbOf, drawHeat } from './loads.ts'

const minutes = 30
const itemsAMinute = 300
const lifeMinutes = 3

export const expireAMillion: Challenge = {
  name: 'expire-a-million',
  title: 'a sweeper among deleted rows',
  minutes: 45,
  task:
    'Sessions expire three minutes after they began. A sweeper runs every minute, asks for all sessions whose timestamp has passed, oldest first, and ' +
    'deletes them. Each sweep begins at the oldest timestamp, so it steps over every row that earlier sweeps deleted and no compaction has removed yet. ' +
    'Step over few deleted rows; delete no live session, and keep no dead one for two sweeps.',
  hint: 'Remember how far the last sweep got, and let the query begin there; or put a generation before the timestamp.',
  lab: 'expiry',
  functions: ['save', 'sweep', 'isLive'],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(session, program) {
    const { record, random } = session
    const store = await session.open({ simulate: true, tablets: { waits: false } })
    const db = dbOf(session, store, { rpcMs: 0 })
    const live = new Map<string, number>()
    let [steppedMost, stepped, killed, kept] = [0, 0, 0, 0]
    await alone(store, async () => {
      for (let minute = 0; minute < minutes; minute++) {
        const begun = db.now()
        for (let i = 0; i < itemsAMinute; i++) {
          const id = `${random.integer(1_000_000_000)}-${minute}-${i}`
          const expires = begun + (i * 60_000) / itemsAMinute + lifeMinutes * 60_000
          await program.call('save', db, { id, expires: new Date(expires) })
          live.set(id, expires)
        }
        await store.sleep(60_000 - (db.now() - begun))
        const now = db.now()
        const tombstones = await deletedRowsUnder(store, async () => program.call('sweep', db, new Date(now)))
        stepped += tombstones
        steppedMost = Math.max(steppedMost, tombstones)
        for (const [id, expires] of live) {
          const isThere = await program.call('isLive', db, id)
          if (expires > now && isThere !== true) killed++
          // Dead for two sweeps: it was dead at the sweep before this one, too.
          if (expires <= now - 60_000 && isThere === true) kept++
          if (expires <= now && isThere !== true) live.delete(id)
        }
        session.progress((minute + 1) / minutes)
      }
    })
    drawHeat(session, store, 'EntitiesByPropertyAsc')
    record.figure('sweeps', minutes, '')
    record.figure('deleted rows stepped over', stepped / minutes, 'a sweep')
    record.figure('by the worst sweep', steppedMost, 'deleted rows')
    record.figure('live sessions deleted', killed, '')
    record.figure('dead sessions kept for two sweeps', kept, '')
  },
  goals: [
    atMost('a sweep steps over few deleted rows', 'by the worst sweep', 400),
    atMost('no live session is deleted', 'live sessions deleted', 0),
    atMost('no dead session outlives two sweeps', 'dead sessions kept for two sweeps', 0),
  ],
  findings: ['scan-over-tombstones'],
}

/** Row operations charged to tablets for some work, less the rows that it read and wrote, are deleted rows that it stepped over. */
async function deletedRowsUnder(store: Store, work: () => Promise<unknown>): Promise<number> {
  const { tablets } = store.engine
  let rows = 0
  const end = tablets.onSample((sample) => {
    rows += sample.rows
  })
  const charged = tablets.charged
  await work()
  end()
  return tablets.charged - charged - rows
}
