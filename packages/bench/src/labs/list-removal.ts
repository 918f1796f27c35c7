/** Removing from a list that many change at once: six ways to store the list, from 1 to 64 writers, and a list that is one text. */
import { armsOf, defineLab, expected, type Lab, type Named } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import { type Client, isChanged, isTransient, succeeds, textsOf } from '../sim/client.ts'
import { upsert } from '../sim/entities.ts'
import { timed } from '../sim/open-loop.ts'
import type { WireSession } from '../sim/wire.ts'
import { type Change, changesOf, followersAfter } from './lists/changes.ts'
import { dividedWays, type RemovalWay, removalWays } from './lists/removal-ways.ts'

interface Patience {
  readonly retries: number
  readonly backoffMs: number
  random(): number
}

/** Pauses double up to this many times. */
const doublingsMax = 7

/** Makes a change however many attempts it takes. @returns the attempts after the first */
async function insist(client: Client, way: RemovalWay, change: Change, patience: Patience): Promise<number> {
  const isExpected = (error: unknown): boolean => isTransient(error) || isChanged(error)
  for (let retries = 0; ; retries++) {
    if (await succeeds(() => way.attempt(client, change), isExpected)) return retries
    const pauseMs = patience.backoffMs * 2 ** Math.min(retries, doublingsMax)
    await client.sleep(pauseMs * (0.5 + patience.random() / 2))
  }
}

async function changeTheList(session: ArmSession, way: RemovalWay, writers: number) {
  const changes = session.setting('list.changes')
  const patience = {
    retries: session.setting('client.retries'),
    backoffMs: session.setting('client.backoffMs'),
    random: () => session.random.next(),
  }
  const store = await session.open({ simulate: true })
  const client = session.client(store)
  const tally = {
    // Attempts after the first one.
    removalRetries: 0,
    additionRetries: 0,
    removals: 0,
    // Removals that took more attempts than a client library makes.
    starved: 0,
    removalMs: new Histogram(),
  }
  const write = async (writer: number): Promise<void> => {
    await store.sleep(session.random.next() * 100)
    const script = changesOf(writer)
    for (let i = 0; i < changes; i++) {
      const change = script.next().value
      const begun = store.nowMs
      const retries = await insist(client, way, change, patience)
      if (change.follows) {
        tally.additionRetries += retries
        continue
      }
      tally.removals++
      tally.removalRetries += retries
      tally.removalMs.add(store.nowMs - begun)
      if (retries > patience.retries) tally.starved++
    }
  }
  await store.together(Array.from({ length: writers }, (_, writer) => write(writer)))
  const seconds = store.nowMs / 1000
  const stored = await store.alone(() => client.read(way.keys(client)))
  const followers = way.followers(stored)
  const wrong = differences(followers, followersAfter(new Array<number>(writers).fill(changes)))
  const arrays = stored.flatMap((one) => [...(one?.fields.keys() ?? [])].map((name) => textsOf(one?.fields, name)))
  return { ...tally, seconds, wrong, followers: followers.length, elements: arrays.flat().length }
}

/** How many are in one of the lists only, or more often in one. */
function differences(found: readonly string[], expected: readonly string[]): number {
  const missing = expected.filter((user) => !found.includes(user)).length
  return missing + found.length - (expected.length - missing)
}

async function run(
  session: ArmSession,
  way: Named<RemovalWay>,
  writersMax = session.setting('load.writersMax'),
): Promise<void> {
  const { record } = session
  const changes = session.setting('list.changes')
  const levels = [1, 4, 16, 64].filter((writers) => writers <= writersMax)
  const { all, first, last } = await session.atEach(levels, (writers) => changeTheList(session, way, writers))
  const retriesOf = ({ removalRetries, removals }: typeof first): number => removalRetries / Math.max(1, removals)
  const rates = all.map(({ seconds }, i) => ((levels[i] ?? 0) * changes) / seconds)
  record.ends('retries per removal', [retriesOf(first), retriesOf(last)], '')
  record.figure('retries of additions', sum(all.map((tally) => tally.additionRetries)))
  record.figure('removals that a client library gives up', (last.starved / Math.max(1, last.removals)) * 100, '%')
  record.ends('p99 of a removal', [first.removalMs.quantile(0.99), last.removalMs.quantile(0.99)], 'ms')
  record.figure('changes, all writers', rates.at(-1) ?? 0, '/s')
  record.figure('followers at the end', last.followers)
  record.figure('elements stored for them', last.elements)
  record.figure('wrong at the end', sum(all.map((tally) => tally.wrong)))
  const x = { name: 'writers', values: levels }
  record.chart('retries', 'per removal', x, { [way.name]: all.map(retriesOf) })
  record.chart('p99 of a removal', 'ms', x, { [way.name]: all.map(({ removalMs }) => removalMs.quantile(0.99)) })
  record.chart('changes', '/s', x, { [way.name]: rates })
}

const writersOverWire = 16

async function drive(wire: WireSession, way: Named<RemovalWay>): Promise<void> {
  const { client, random, seconds } = wire
  const endMs = client.nowMs() + seconds * 1000
  const patience = { retries: 5, backoffMs: 50, random: () => random.next() }
  // A run before this one may have left its list.
  await client.commit(way.keys(client).map((key) => upsert(key, {})))
  const changes = new Array<number>(writersOverWire).fill(0)
  const loop = async (writer: number): Promise<void> => {
    const script = changesOf(writer)
    while (client.nowMs() < endMs) {
      const change = script.next().value
      await timed(wire, async () => {
        await insist(client, way, change, patience)
      })
      changes[writer] = (changes[writer] ?? 0) + 1
    }
  }
  await Promise.all(changes.map((_, writer) => loop(writer)))
  const wrong = differences(way.followers(await client.read(way.keys(client))), followersAfter(changes))
  const isLossy = way.name === 'plain-put'
  wire.judged({
    says: isLossy ? 'changes are lost' : 'no change is lost',
    holds: isLossy ? wrong > 0 : wrong === 0,
    found: `${wrong} followers are wrong after ${sum(changes)} changes`,
  })
}

const names = Object.keys(removalWays)
const whole = names.filter((name) => name !== 'plain-put')
const appending = whole.filter((name) => name !== 'cas')

export const listRemoval: Lab = defineLab({
  name: 'list-removal',
  idea:
    'A removal that reads the list and writes it back is refused when anything came in between, and in a busy list something ' +
    'always does. A change that says what to do instead of what the list is then needs no reading: the server appends it, or ' +
    'takes the element out, in the order in which the log of the entity has the changes.',
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf('list.changes'),
    'load.writersMax': 64,
    // Changes wait for each other in the log; a lab about retries has none for waiting.
    'log.waitMsMax': 60_000,
  },
  arms: [
    ...armsOf(removalWays, run, drive),
    // One writer: how the list is written is the question, not what comes in between.
    ...armsOf(dividedWays, (session, way) => run(session, way, 1)),
  ],
  expectations: [
    expected('cas: removals starve while the list changes fast')
      .of(
        'cas',
        'retries per removal, 1 writer',
        'retries per removal, all writers',
        'removals that a client library gives up',
      )
      .holds(
        (few, many, givenUp) => few === 0 && many > 5 && givenUp > 20,
        '{} retries per removal with one writer, {} with all; {} % past five retries',
      ),
    ...appending.map((name) =>
      expected(`${name}: nothing is tried twice`)
        .of(name, 'retries per removal, all writers', 'retries of additions')
        .holds((removals, additions) => removals === 0 && additions === 0, '{} and {} retries'),
    ),
    expected('a removal takes several times as long by CAS')
      .across('p99 of a removal, all writers', 'cas', 'transforms')
      .holds((slow, fast) => slow > 3 * fast, 'p99 with all writers: cas {} ms, transforms {} ms'),
    expected('commas: a name with the delimiter in it becomes two, and is never removed')
      .figure('wrong at the end')
      .above(0),
    expected('escaped-commas: with the delimiter escaped the list is right').figure('wrong at the end').is(0),
    expected('plain-put: loses changes').figure('wrong at the end').above(0),
    ...whole.map((name) =>
      expected(`${name}: ends with those who follow, also with those who came back`).figure('wrong at the end').is(0),
    ),
    expected('all of these end with the same number of followers')
      .across('followers at the end', ...whole)
      .holds(
        (...counts) => (counts[0] ?? 0) > 0 && new Set(counts).size === 1,
        (...counts) => counts.join(', '),
      ),
    expected('the log keeps every change, the transforms only the followers')
      .of('transforms', 'followers at the end')
      .across('elements stored for them', 'log', 'transforms')
      .holds(
        (followers, long, short) => short === followers && long > 2 * followers,
        '{} followers: {} elements in the log, {} with transforms',
      ),
  ],
})
