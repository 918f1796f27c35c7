/** A sweeper that begins each time at the oldest timestamp, where all rows were deleted. */
import type { Store } from '../sim/store.ts'
import { drawHeat } from '../sim/watch.ts'
import { atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { expectShape } from './program.ts'
import { storedOf, token } from './stored.ts'

const minutes = 20
const itemsWhole = 300
const lifeMinutes = 3
/** Before one sweep of so many the process is replaced. */
const restartEvery = 4
/** One session of so many is asked for after a sweep; the store itself is looked at for all of them in the end. */
const askedShare = 10

export const expireAMillion: Challenge = {
  name: 'expire-a-million',
  title: 'a sweeper among deleted rows',
  minutes: 45,
  task:
    'Sessions expire three minutes after they began. A sweeper runs every minute, asks for all sessions whose timestamp has passed, oldest first, and ' +
    'deletes them. Each sweep begins at the oldest timestamp, so it steps over every row that earlier sweeps deleted and no compaction has removed yet. ' +
    'Step over few deleted rows; delete no live session, and keep no dead one for two sweeps.',
  lab: 'expiry',
  functions: [
    {
      name: 'save',
      takes: { session: { id: '9f86d081884c7d65', expires: '2026-01-01T00:03:00.200Z' } },
      answers: null,
    },
    { name: 'sweep', takes: { now: '2026-01-01T00:01:00.000Z' }, answers: null },
    { name: 'isLive', takes: { session: '9f86d081884c7d65' }, answers: true },
  ],
  settings: challengeSettings,
  async run(stage) {
    const { record, random, session } = stage
    const { store, program } = await stage.open({ tablets: { waits: false } })
    const db = stage.db({ rpcMs: 0, answersEveryMs: 0 })
    const itemsAMinute = itemsWhole * stage.share
    /** Sessions that are not known to be gone, with the time at which they expire. */
    const live = new Map<string, number>()
    const killed = new Set<string>()
    let [steppedMost, stepped, kept] = [0, 0, 0]
    const isThere = async (id: string): Promise<boolean> => {
      const answer = await program.call('isLive', db, id)
      expectShape(typeof answer === 'boolean', 'isLive', 'true or false', answer)
      return answer === true
    }
    const dead: string[] = []
    const deletedRows = deletedRowsSince(store)
    const stored = await store.alone(async () => {
      for (let minute = 0; minute < minutes; minute++) {
        const begun = db.now()
        await Promise.all(
          Array.from({ length: itemsAMinute }, async (_, i) => {
            const id = token(random)
            const expires = begun + (i * 60_000) / itemsAMinute + lifeMinutes * 60_000
            await program.call('save', db, { id, expires: new Date(expires) })
            live.set(id, expires)
          }),
        )
        // Work of the program between two calls counts as well.
        deletedRows()
        await store.sleep(60_000 - (db.now() - begun))
        if (random.integer(restartEvery) === 0 || minute === minutes - 1) program.restart()
        const now = db.now()
        await program.call('sweep', db, new Date(now))
        const deleted = deletedRows() / stage.share
        stepped += deleted
        steppedMost = Math.max(steppedMost, deleted)
        await Promise.all(
          [...live].map(async ([id, expires]) => {
            const isAsked = random.integer(askedShare) === 0
            if (expires <= now - 60_000) {
              // Dead for two sweeps: it was dead at the sweep before this one, too.
              dead.push(id)
              live.delete(id)
              if (isAsked && (await isThere(id))) kept++
            } else if (expires > now && isAsked && !(await isThere(id))) killed.add(id)
          }),
        )
        session.progress((minute + 1) / minutes)
      }
      const young = [...live].filter(([, expires]) => expires > db.now()).map(([id]) => id)
      return { dead: await storedOf(store, dead), lost: young.length - (await storedOf(store, young)) }
    })
    drawHeat(record, store, 'EntitiesByPropertyAsc')
    record.figure('sweeps', minutes, '')
    record.figure('deleted rows stepped over', stepped / minutes, 'per sweep')
    record.figure('by the worst sweep', steppedMost, 'deleted rows')
    record.figure('live sessions deleted', Math.max(killed.size, stored.lost), '')
    record.figure('dead sessions kept for two sweeps', Math.max(kept, stored.dead), '')
  },
  goals: {
    'by the worst sweep': atMost(
      'a sweep steps over few deleted rows',
      400,
      'Let the query begin where the last sweep ended, and keep that place in the store; or put a generation before the timestamp.',
    ),
    'live sessions deleted': none(
      'no live session is deleted',
      'A session must be in the store when `save` returns, and stay until its time: compare with `now`.',
    ),
    'dead sessions kept for two sweeps': none(
      'no dead session outlives two sweeps',
      'A sweep goes on until nothing is left that has expired, also in a process that has just started.',
    ),
  },
  findings: ['scan-over-tombstones'],
}

/**
 * Row operations charged to tablets, less the rows that calls read and wrote, are deleted rows that calls stepped over.
 *
 * @returns those since the last time that it was asked, whichever call stepped over them
 */
function deletedRowsSince(store: Store): () => number {
  const { tablets } = store.engine
  let rows = -tablets.charged
  tablets.onSample((sample) => {
    rows -= sample.rows
  })
  return () => {
    const deleted = tablets.charged + rows
    rows = -tablets.charged
    return deleted
  }
}
