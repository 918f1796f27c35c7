/** Compacting a list of changes while 16 writers append to it, by clients that are killed between two steps. */
import { armsOf, defineLab, expected, type Lab, type Named } from '../lab.ts'
import { Unmeasured } from '../measure/recorder.ts'
import { mean } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { upsert } from '../sim/entities.ts'
import type { WireSession } from '../sim/wire.ts'
import { CompactionRun, type Sight } from './lists/compaction-run.ts'
import { type CompactionWay, compactionWays } from './lists/compaction-ways.ts'

async function run(session: ArmSession, way: Named<CompactionWay>): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const seconds = session.setting('load.seconds')
  const compaction = new CompactionRun(way, {
    client: session.client(store),
    random: session.random,
    seconds,
    writers: session.setting('load.writersMax'),
    rememberMs: session.setting('client.rememberMs'),
    compactEveryMs: session.setting('list.compactEveryMs'),
    lookEveryMs: session.setting('probe.everyMs'),
    backoffMs: session.setting('client.backoffMs'),
  })
  await store.together(compaction.load(), (nowMs) => session.progress(Math.min(1, nowMs / (seconds * 1000))))
  await store.alone(() => compaction.settle())
  const { changes, compactions, refused, killed, sights, last } = compaction.tally
  if (last === undefined) throw new Unmeasured('the list was never looked at')
  const greatest = (of: 'entries' | 'lost' | 'back'): number => Math.max(...sights.map((sight) => sight[of]))
  record.figure('changes', changes)
  record.figure('compactions finished', compactions)
  record.figure('compactions refused', refused)
  record.figure('compacting clients killed', killed)
  record.figure('longest list', greatest('entries'), 'entries')
  record.figure('list on average', mean(sights.map(({ entries }) => entries)), 'entries')
  record.figure('list at the end', last.entries, 'entries')
  record.figure('followers at the end', last.followers)
  record.figure('reads with repeats', mean(sights.map(({ repeats }) => Number(repeats > 0))) * 100, '%')
  record.figure('longest time with repeats', longestRepeats(sights) / 1000, 's')
  record.figure('repeats at the end', last.repeats, 'entries')
  record.figure('lost at any time', greatest('lost'), 'followers')
  record.figure('lost at the end', last.lost, 'followers')
  record.figure('back at any time', greatest('back'), 'followers')
  const x = { name: 'seconds', values: sights.map(({ atMs }) => atMs / 1000) }
  record.chart('list', 'entries', x, { [way.name]: sights.map(({ entries }) => entries) })
  record.chart('repeats', 'entries', x, { [way.name]: sights.map(({ repeats }) => repeats) })
}

/** The longest time between two looks without repeats, ms. */
function longestRepeats(sights: readonly Sight[]): number {
  let [longest, cleanMs] = [0, 0]
  for (const { atMs, repeats } of sights) {
    if (repeats === 0) cleanMs = atMs
    else longest = Math.max(longest, atMs - cleanMs)
  }
  return longest
}

async function drive({ client, random, seconds, done, judged }: WireSession, way: Named<CompactionWay>): Promise<void> {
  // A run before this one may have left its lists.
  await client.commit(way.lists(client).map((key) => upsert(key, {})))
  const pauses = { rememberMs: 2000, compactEveryMs: 3000, lookEveryMs: 500, backoffMs: 50 }
  const compaction = new CompactionRun(way, { client, random, seconds, writers: 16, ...pauses, done })
  await Promise.all(compaction.load())
  await compaction.settle()
  const { last, changes } = compaction.tally
  if (last === undefined || !whole.includes(way.name)) return
  const found = `${last.lost} followers lost, ${last.back} back that had left, ${last.repeats} repeats after ${changes} changes`
  judged({ says: 'nothing is lost', holds: last.lost === 0 && last.back === 0, found })
}

const switching = ['active-pointer', 'marker', 'one-commit']
const whole = ['cas', ...switching]

const arms = armsOf(compactionWays, run, drive)

export const listCompaction: Lab = defineLab({
  name: 'list-compaction',
  idea:
    'Putting a compacted list back is a conditional write, and fails like any other while the list changes. Two lists avoid ' +
    'it: writers append to one of them, and the other one, which is quiet, is emptied into it. Copied first and cleared after, ' +
    'nothing can be lost, only be there twice until the next client has gone on.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs', 'client.backoffMs', 'client.rememberMs', 'list.compactEveryMs'),
    'load.seconds': 120,
    'load.writersMax': 16,
    'probe.everyMs': 500,
    'log.waitMsMax': 60_000,
  },
  arms,
  expectations: [
    expected('cas: compactions fail like removals do while the list changes')
      .of('cas', 'compactions finished', 'compactions refused')
      .holds((done, refused) => done * 5 < refused, '{} got through, {} were refused'),
    ...switching.map((name) =>
      // One spell of killed clients makes the longest list, however long the load; the average tells growth from chance.
      expected(`${name}: compacts under load`)
        .across('list on average', 'cas', name)
        .of(name, 'compactions finished')
        .holds(
          (long, short) => short < 0.6 * long,
          '{3} compactions finished; {2} entries in the list on average, {1} with cas',
        ),
    ),
    ...['active-pointer', 'marker'].flatMap((name) => [
      expected(`${name}: a killed client leaves repeats`).figure('reads with repeats').above(0),
      expected(`${name}: repeats settle in seconds`)
        .of(name, 'longest time with repeats', 'repeats at the end')
        .holds((longest, last) => longest < 15 && last === 0, 'at most {} s; {} when all is quiet'),
    ]),
    expected('one-commit: there is never a repeat').figure('reads with repeats').is(0),
    ...whole.map((name) =>
      expected(`${name}: nothing is lost, and nothing comes back`)
        .of(name, 'lost at any time', 'back at any time', 'lost at the end')
        .holds(
          (lost, back, atEnd) => lost === 0 && back === 0 && atEnd === 0,
          'at most {} followers lost and {} back in any read, {} lost at the end',
        ),
    ),
    expected('clear-first: a killed client loses followers').figure('lost at the end').above(0),
  ],
})
