/** Full traffic to a new kind at once, and the same traffic reached by the 500/50/5 rule, by doubling and by tripling. */
import type { Key } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { integer, type Put, unindexed, upsert } from '../sim/entities.ts'
import { hashOf, nameAt } from '../sim/keys.ts'
import { type Load, offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampedOpsPerSecond, rampedShare, rampOf, rampOfSettings, rampSettings } from '../sim/ramp.ts'
import type { WireSession } from '../sim/wire.ts'

const kind = 'Session'

/** So many names are in use; each operation is for any of them. */
const names = 65_536

/** Names are evenly spread: nothing here is wrong with the keys. */
function put(key: Key, n: number): Put {
  return upsert(key, { visits: unindexed(integer(n)) })
}

interface Growth {
  /** More at every step, percent; `undefined`: all of it at once. */
  readonly percent: (session: ArmSession) => number | undefined
  /** The same against a server, which knows no settings. */
  readonly percentOverWire?: number
}

const growths: Ways<Growth> = {
  'at-once': { about: 'the full traffic from the first second on', percent: () => undefined },
  ramp: {
    about: '500 a second, half as many more every 5 minutes',
    percent: (session) => session.setting('ramp.growthPercent'),
    percentOverWire: 50,
  },
  doubling: { about: '500 a second, twice as many every 5 minutes', percent: () => 100, percentOverWire: 100 },
  tripling: { about: '500 a second, three times as many every 5 minutes', percent: () => 200, percentOverWire: 200 },
}

/** Up to the rate that the rule reaches, and one step more at that rate. */
function loadOf(session: ArmSession, growthPercent: number | undefined, next: Load['next']): Load {
  const rule = rampOf(session, next)
  const full = rule.opsPerSecondAt(rule.seconds)
  if (growthPercent === undefined) {
    return { seconds: session.setting('load.minutes') * 60, opsPerSecondAt: () => full, next }
  }
  const ramp = { ...rampOfSettings(session), growthPercent }
  const { everyMinutes } = ramp
  const opsPerSecondAt = (seconds: number): number => Math.min(full, rampedOpsPerSecond(ramp, seconds))
  let steps = 0
  while (opsPerSecondAt(steps * everyMinutes * 60) < full) steps++
  return { seconds: (steps + 1) * everyMinutes * 60, opsPerSecondAt, next }
}

async function run(session: ArmSession, { percent }: Growth): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const writeShare = session.setting('load.writeShare')
  const next: Load['next'] = (n, share) => {
    const key = store.key({ kind, name: nameAt(Math.floor(share * names) / names) })
    return session.random.next() < writeShare ? { put: put(key, n) } : { lookup: key }
  }
  const load = loadOf(session, percent(session), next)
  const watch = await offer(session, store, load, ['Entities', 'EntitiesByKind'])

  const { seconds } = load
  const { offered, served, p99Ms } = watch.settled(120)
  const { tablets, servers } = watch.tableAt('Entities')
  record.figure('offered at the end', offered, '/s')
  record.figure('served at the end', served, '/s')
  record.figure('p99 at the end', p99Ms, 'ms')
  record.figure('full traffic after', Math.max(0, seconds / 60 - 5), 'minutes')
  record.figure('refused, last five minutes', watch.refusedShare(seconds - 300) * 100, '%')
  record.figure('refused, whole run', watch.refusedShare() * 100, '%')
  const refusedFrom = watch.firstAbove(0.05)
  if (refusedFrom !== undefined) record.figure('over 5 % refused from', refusedFrom / 60, 'minutes on')
  record.figure('tablets', tablets)
  record.figure('servers', servers)
  const capacity = session.setting('server.opsPerSecond')
  record.figure('busiest tablet', (watch.busiest('Entities', 300) / capacity) * 100, '% of what a server can')
  // The busiest of 300 tablets is that of one unlucky split. Hot ones are many where a ramp is too steep.
  const hot = watch.shareAbove('Entities', 300, 0.75 * capacity)
  record.figure('on hot tablets, last five minutes', hot * 100, '% of the load')
  watch.draw(record, ['Entities'], true)
}

/** Up to the full rate of the session, in steps that are as many as those of the rule and shorter. */
function drive(wire: WireSession, { percentOverWire }: Growth): Promise<void> {
  const next = (n: number): Put => put(wire.client.key({ kind, name: hashOf(`session ${n}`) }), n)
  if (percentOverWire === undefined) return openLoop(wire, next)
  return openLoop(wire, next, (share) => rampedShare(percentOverWire, share))
}

export const ramp500505: Lab = defineLab({
  name: 'ramp-500-50-5',
  idea:
    'A new kind begins in one tablet on one server. Tablets split by load that they have seen and move to servers that are ' +
    'idle, and the halves of a split rest for eight minutes. So at best capacity doubles in eight minutes, which is 54 % more ' +
    'in five. A rise of a half in five minutes leaves them the time; a doubling, a tripling and a jump do not.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    ...defaultsOf('load.writeShare'),
    'ramp.minutes': 90,
    'load.minutes': 5,
    'load.samples': 600,
    'tablet.samplesMin': 24,
  },
  arms: armsOf(growths, run, drive),
  expectations: [
    expected('the ramp reaches about 740,000 operations a second after 90 minutes')
      .of('ramp', 'served at the end', 'offered at the end')
      .holds(
        (served, offered) => Math.abs(offered / 740_000 - 1) < 0.1 && served > 0.9 * offered,
        '{}/s served of {}/s',
      ),
    expected(
      'without hot tablets: less than a tenth of the load is on tablets with more than three quarters of what a server can',
    )
      .of('ramp', 'on hot tablets, last five minutes')
      .below(10),
    expected('and almost nothing is refused on the way')
      .of('ramp', 'refused, whole run')
      .holds((refused) => refused < 1, '{} %'),
    // The first five minutes of the full traffic are the last of each arm.
    expected('at once, most of the first five minutes is refused')
      .of('at-once', 'refused, last five minutes')
      .above(80),
    expected('doubled every five minutes, the full traffic is refused in part')
      .of('doubling', 'refused, last five minutes')
      .above(10),
    expected('tripled every five minutes, most of it is refused')
      .of('tripling', 'refused, last five minutes')
      .above(50),
  ],
})
