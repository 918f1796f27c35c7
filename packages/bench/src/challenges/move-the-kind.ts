/** A kind that is moved at once, under full traffic. */
import { rampedOpsPerSecond } from '../sim/ramp.ts'
import type { Watch } from '../sim/watch.ts'
import { atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import type { Db } from './db.ts'
import { offerCalls } from './loads.ts'

const accounts = 300
const opsPerSecond = 16_000
/** The ramp of the given traffic is over after 45 minutes; the tablets have split some minutes later. */
const warmUpMinutes = 55
const moveMinutes = 60
/** One call of so many is a write. */
const writeEvery = 10

export const moveTheKind: Challenge = {
  name: 'move-the-kind',
  title: 'a kind that moves under full traffic',
  minutes: 60,
  task:
    'Accounts of kind A are to be moved to kind B while 16,000 calls a second read and write them. The given program reads B first and A when B has nothing. ' +
    'So all reads meet the one tablet of the new kind at once, also for accounts that are not there yet. You have sixty minutes: `minute` counts from 0. Refuse ' +
    'nothing, answer every read with the newest value, keep A complete until the end so that you can roll back, and have all accounts in B at the end.',
  lab: 'kind-migration',
  functions: [
    { name: 'read', takes: { account: '2c26b46b', minute: 12.5 }, answers: 4711 },
    { name: 'write', takes: { account: '2c26b46b', value: 4711, minute: 12.5 }, answers: null },
    { name: 'job', takes: { minute: 12, accounts: ['2c26b46b', '68ffc68f'] }, answers: null },
  ],
  settings: {
    ...challengeSettings,
    // Few samples, each for many calls: their keys are drawn evenly, so half as many as usual show the load of a tablet.
    'load.slotMs': 20_000,
    'load.samples': 32,
    'tablet.samplesMin': 32,
    'tablet.decisionMs': 10_000,
  },
  // The tablets must learn the load of B before it grows: twice as long is too coarse.
  shortSlotMs: 20_000,
  async run(stage) {
    const { record, random } = stage
    const { store, program } = await stage.open()
    const jobsProgram = stage.programForJobs()
    const ids = Array.from({ length: accounts }, () => random.integer(0xffff_ffff).toString(16).padStart(8, '0'))
    const inOrder = ids.toSorted()
    const newest = new Map<string, number>()
    const plain = stage.db({ retries: 8 })
    await store.alone(() => fill(plain, ids))
    for (const id of ids) newest.set(id, 0)
    const moveMs = plain.now() + warmUpMinutes * 60_000
    let wrong = 0
    let jobs = 0
    // Until the move the given traffic is ramped up on A alone, so that its tablets have split.
    const rate = (seconds: number): number =>
      Math.min(
        opsPerSecond,
        rampedOpsPerSecond({ startOpsPerSecond: 500, growthPercent: 50, everyMinutes: 5 }, seconds),
      )
    let value = 0
    const watch = await offerCalls(
      stage,
      { seconds: (warmUpMinutes + moveMinutes) * 60, opsPerSecondAt: rate },
      {
        tables: ['Entities'],
        call: async (db, n, place) => {
          const id = inOrder[Math.floor(place * accounts)] ?? ''
          const minute = (db.now() - moveMs) / 60_000
          if (minute < 0) {
            await db.get(['A', id])
            return
          }
          if (minute >= jobs) {
            jobs++
            await jobsProgram.call('job', plain, jobs - 1, ids)
          }
          if (n % writeEvery === 0) {
            const next = ++value
            await program.call('write', db, id, next, minute)
            newest.set(id, next)
            return
          }
          const wanted = newest.get(id) ?? 0
          const found = await program.call('read', db, id, minute)
          if (typeof found !== 'number' || found < wanted || found > value) wrong++
        },
      },
    )
    const [oldWrong, newWrong] = await store.alone(async () => {
      await jobsProgram.call('job', plain, moveMinutes, ids)
      program.restart()
      return [await wrongIn(plain, 'A', newest), await wrongIn(plain, 'B', newest)] as const
    })
    record.figure('refused in the worst five minutes', worstShare(watch) * 100, '% of the calls')
    record.figure('reads of nothing, or of an old value', wrong, 'of the samples')
    record.figure('accounts wrong in A at the end', oldWrong, `of ${accounts}`)
    record.figure('accounts wrong in B at the end', newWrong, `of ${accounts}`)
  },
  goals: {
    'refused in the worst five minutes': atMost(
      'nearly nothing is refused at any time',
      3,
      'The tablets of B must grow before all reads come: decide by a hash of the account and the minute whether a read goes to B, with a ' +
        'share that grows by the book, and copy in an order that is not that of the keys.',
    ),
    'reads of nothing, or of an old value': none(
      'every read gets the newest value',
      'A read may go to B only where the newest value is there: write both kinds, and let the copy never replace a newer value.',
    ),
    'accounts wrong in A at the end': none(
      'A is complete until the end: you can roll back',
      'As long as you may want to go back, every write goes to A as well.',
    ),
    'accounts wrong in B at the end': none(
      'B is complete at the end',
      'The job must copy every account that no write has brought to B, and not over a newer value: in a transaction.',
    ),
  },
  findings: ['sudden-start', 'hot-range'],
}

async function fill(db: Db, ids: readonly string[]): Promise<void> {
  for (const id of ids) await db.commit([['put', ['A', id], { value: 0 }, { unindexed: ['value'] }]])
}

/** Accounts of a kind that lack the newest value; a write that was refused half-way may have left a newer one. */
async function wrongIn(db: Db, kind: string, newest: ReadonlyMap<string, number>): Promise<number> {
  const asked = [...newest]
  const found = await db.getAll(asked.map(([id]) => [kind, id]))
  return found.filter((account, i) => Number(account?.['value'] ?? -1) < (asked[i]?.[1] ?? 0)).length
}

/** The largest share of refused calls of five minutes of the move. */
function worstShare(watch: Watch): number {
  const shares = Array.from({ length: moveMinutes / 5 }, (_, i) => {
    const from = (warmUpMinutes + i * 5) * 60
    return watch.refusedShare(from, from + 300)
  })
  return Math.max(...shares)
}
