/**
 * Full traffic to a new kind at once, and the same traffic reached by the 500/50/5 rule.
 *
 * Known: best practices, ramping up traffic: at most 500 operations a second at first, then half as many more every five
 * minutes, which makes about 740,000 a second after 90 minutes.
 */
import { type Arm, figureOf, inWords, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import type { Put } from '../sim/client.ts'
import { integer, unindexed } from '../sim/entities.ts'
import { hashOf, nameAt } from '../sim/keys.ts'
import { type Load, offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampOf, rampSettings } from '../sim/ramp.ts'
import { Watch } from '../sim/watch.ts'

const kind = 'Session'

/** So many names are in use; each operation is for any of them. */
const names = 65_536

/** Names are evenly spread: nothing here is wrong with the keys. */
function put(key: Put['key'], n: number): Put {
  return { operation: 'upsert', key, fields: { visits: unindexed(integer(n)) } }
}

async function run(session: ArmSession, isRamped: boolean): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const writeShare = session.setting('load.writeShare')
  const next: Load['next'] = (n, share) => {
    const key = store.key({ kind, name: nameAt(Math.floor(share * names) / names) })
    return session.random.next() < writeShare ? { put: put(key, n) } : { lookup: key }
  }
  const ramped = rampOf(session, next)
  const full = ramped.opsPerSecondAt(ramped.seconds)
  // The last step begins where the ramp ends: five minutes more, so that its rate is seen.
  const seconds = isRamped
    ? ramped.seconds + session.setting('ramp.everyMinutes') * 60
    : session.setting('load.minutes') * 60
  const load = isRamped ? { ...ramped, seconds } : { seconds, opsPerSecondAt: () => full, next }
  const watch = new Watch(['Entities', 'EntitiesByKind'], 30)
  await offer(session, store, load, watch)

  const first = Math.min(300, seconds)
  const { served, p99Ms } = watch.settled(120)
  const { tablets, servers, busiestToMean } = watch.tableAtEnd('Entities')
  record.figure('offered at the end', load.opsPerSecondAt(seconds - 1), 'a second')
  record.figure('served at the end', served, 'a second')
  record.figure('p99 at the end', p99Ms, 'ms')
  record.figure('refused, first five minutes', watch.refusedShare(0, first) * 100, '%')
  record.figure('refused, whole run', watch.refusedShare() * 100, '%')
  record.figure('last minute with over 5 % refused', watch.lastAbove(0.05) / 60, 'minutes')
  record.figure('tablets', tablets, '')
  record.figure('servers', servers, '')
  record.figure('busiest to mean', busiestToMean, 'times')
  watch.drawHeat(record, store, 'Entities')
  watch.draw(record, true)
}

const drive: NonNullable<Arm['drive']> = (wire) =>
  openLoop(wire, (n) => put(wire.client.key({ kind, name: hashOf(`session ${n}`) }), n))

export const ramp500505: Lab = {
  name: 'ramp-500-50-5',
  title: 'full traffic at once, and step by step',
  question:
    'A new kind is to take 740,000 reads and writes a second, with keys as they should be. What happens when they ' +
    'come at once, and what when they are ramped up: 500 a second, and half as many more every five minutes?',
  predict:
    'How long does it take the tablets to catch up with the jump? Is anything refused on the ramp? How many ' +
    'tablets are there in the end?',
  idea:
    'A new kind begins in one tablet on one server. Tablets split by load that they have seen and move to servers that are ' +
    'idle; both take a while. A rise of a half in five minutes leaves them the time, a jump does not.',
  exercises: [
    {
      ask: '`--arm ramp --set ramp.growthPercent=100`, then 200 with `ramp.minutes=45`: where does it break?',
      answer:
        'Both end far above what the thousand servers can serve, 131,000,000 and 9,840,000 a second, so most of ' +
        'the end is refused. The chart of refusals tells from which minute on: look where the line leaves zero, ' +
        'and read the rate offered then.',
    },
    {
      ask: '`--arm at-once --set load.minutes=15`: after how many minutes is the jump served? Is that a way to do it?',
      answer:
        '`last minute with over 5 % refused` tells. All calls until then were refused or slow, so it is no way to ' +
        'do it: users saw an outage.',
    },
    {
      ask: 'Which arm would a load test of two minutes have told apart from a good one?',
      answer:
        'Only the jump: it refuses from the first second. A ramp that is too steep serves all of its first minutes ' +
        'and breaks later, so a short test passes.',
    },
  ],
  today:
    'All of it holds in Firestore in Datastore mode: the 500/50/5 rule is part of its best practices, and a new ' +
    'kind or key range starts there as cold as here.',
  sources: [
    'At most 500 operations a second at first, half as many more every five minutes, which makes about 740,000 a ' +
      'second after 90 minutes: best practices, ramping up traffic.',
    'How long splits and moves take, and from which load on: believed or ours (`npx sixtables-lab settings`).',
  ],
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    ...defaultsOf('load.writeShare'),
    'ramp.minutes': 90,
    'load.minutes': 5,
    'load.samples': 1500,
  },
  arms: [
    {
      name: 'at-once',
      about: 'the full traffic from the first second on',
      run: (session) => run(session, false),
      drive,
    },
    {
      name: 'ramp',
      about: '500 a second, half as many more every 5 minutes',
      run: (session) => run(session, true),
      drive,
    },
  ],
  expectations: [
    {
      says: 'the ramp reaches about 740,000 operations a second after 90 minutes',
      arms: ['ramp'],
      judge: (of) => {
        const served = figureOf(of('ramp'), 'served at the end')
        return { holds: served > 725_000 && served < 745_000, found: `${inWords(served)} a second served` }
      },
    },
    {
      says: 'without a hot tablet: the busiest has less than twice the mean',
      arms: ['ramp'],
      judge: (of) => {
        const times = figureOf(of('ramp'), 'busiest to mean')
        return { holds: times < 2, found: `${times} times the mean of ${figureOf(of('ramp'), 'tablets')} tablets` }
      },
    },
    {
      says: 'and almost nothing is refused on the way',
      arms: ['ramp'],
      judge: (of) => {
        const refused = figureOf(of('ramp'), 'refused, whole run')
        return { holds: refused < 1, found: `${refused} %` }
      },
    },
    {
      says: 'at once, most of the first five minutes is refused',
      arms: ['at-once'],
      judge: (of) => {
        const refused = figureOf(of('at-once'), 'refused, first five minutes')
        return { holds: refused > 80, found: `${refused} %` }
      },
    },
  ],
}
