/** The client of the labs, in process on virtual time and over HTTP against a server: the same calls, the same answers. */
import { type Engine, openEngine, type Scheduler, seededRandom, systemScheduler } from '@sixtables/engine'
import { type Gateway, startGateway } from '@sixtables/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { driveLabs } from '../src/cli/drive.ts'
import { UsageError } from '../src/cli/errors.ts'
import type { Io } from '../src/cli/io.ts'
import type { Arm, Lab } from '../src/lab.ts'
import { labs } from '../src/labs/catalogue.ts'
import { Client, hasCode, integerOf } from '../src/sim/client.ts'
import { insert, integer, text, unindexed, upsert } from '../src/sim/entities.ts'
import { openStore } from '../src/sim/store.ts'
import { Server, type WireVerdict } from '../src/sim/wire.ts'
import { inTransaction } from '../src/sim/writers.ts'

let engine: Engine
let gateway: Gateway

beforeAll(async () => {
  engine = await openEngine({ mode: 'legacy', apply: { type: 'immediate' } })
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
})

/** The longest time between two looks at the clock. */
const standMicros = 20_000n

/** A clock that stands while the machine does: a load of a part of a second does something, however busy the machine is. */
function steppingClock(): Scheduler {
  let now = systemScheduler.nowMicros()
  let lookedAt = now
  return {
    ...systemScheduler,
    nowMicros: () => {
      const passed = systemScheduler.nowMicros() - lookedAt
      lookedAt += passed
      now += passed < standMicros ? passed : standMicros
      return now
    },
  }
}

const wire = (projectId = 'lab'): Client =>
  new Client(new Server({ endpoint: `127.0.0.1:${gateway.port}`, projectId, clock: steppingClock() }), 0)

/** Runs a script with a client in process, moving virtual time on until it is done. */
async function inProcess<T>(script: (client: Client) => Promise<T>): Promise<T> {
  const store = await openStore({ mode: 'legacy', apply: { type: 'immediate' } })
  let answer: { readonly of: T } | undefined
  const run = async (): Promise<void> => {
    answer = { of: await script(new Client(store, 2)) }
  }
  await store.together([run()])
  await store.close()
  if (answer === undefined) throw new Error('the script did not end')
  return answer.of
}

async function script(client: Client): Promise<unknown> {
  const key = client.key({ kind: 'Record', name: 'a' })
  const fields = { number: integer(7), note: unindexed(text('x')) }
  const put = insert(key, fields)
  const missing = await client.lookup(key)
  await client.commit([put])
  const twice = await client.commit([put]).catch((error: unknown) => hasCode(error, 'ALREADY_EXISTS'))
  await inTransaction(client, async (transaction) => {
    const number = integerOf(await client.lookup(key, transaction), 'number') + 1
    return [upsert(key, { number: integer(number) })]
  })
  const lost = await client.begin()
  await client.lookup(key, lost)
  await client.commit([upsert(key, { number: integer(20) })])
  const aborted = await client.commit([upsert(key, fields)], lost).catch((error: unknown) => hasCode(error, 'ABORTED'))
  await client.rollback(await client.begin())
  const greatest = await client.greatest('Record', 'number')
  const id = await client.allocateId(client.key({ kind: 'Record' }))
  return { missing, twice, aborted, greatest: integerOf(greatest, 'number'), id }
}

/** Loses every other commit. */
function everyOther(client: Client): Client['commit'] {
  let count = 0
  return async (puts, transaction) => {
    if (count++ % 2 === 0) await client.commit(puts, transaction)
  }
}

describe('a client of a lab', () => {
  it('sees in process what it sees over the wire', async () => {
    const expected = { missing: undefined, twice: true, aborted: true, greatest: 20, id: 5_629_499_534_213_120n }
    expect(await inProcess(script)).toEqual(expected)
    expect(await script(wire())).toEqual(expected)
  })

  // One arm of a lab by `npm test`: they differ in their keys.
  const driven = labs.flatMap((lab) =>
    lab.arms
      .flatMap((arm) => (arm.drive === undefined ? [] : [[lab.name, arm.name, arm.drive] as const]))
      .slice(0, isDeep ? undefined : 1),
  )
  // Compactions wait for seconds, so they are driven side by side. Others judge what their own writers do to each other at once.
  const compactions = driven.filter(([lab]) => lab === 'list-compaction')

  it.concurrent.each(compactions)('drives %s, %s against a server', (_lab, arm, drive) => driveOne(drive, arm))
  it.each(driven.filter((one) => !compactions.includes(one)))('drives %s, %s against a server', (_lab, _arm, drive) =>
    driveOne(drive),
  )

  async function driveOne(drive: NonNullable<Arm['drive']>, projectId?: string): Promise<void> {
    let done = 0
    const verdicts: WireVerdict[] = []
    const failures: unknown[] = []
    await drive({
      client: wire(projectId),
      random: seededRandom(1),
      seconds: 0.2,
      opsPerSecond: 100,
      done: () => done++,
      failed: (error) => failures.push(error),
      judged: (verdict) => verdicts.push(verdict),
    })
    expect(verdicts.filter(({ holds }) => !holds)).toEqual([])
    expect(done).toBeGreaterThan(0)
    // Writers that give up under contention are part of the lesson; anything else is not.
    expect(failures.filter((error) => !(error instanceof Error && error.message === 'given up'))).toEqual([])
  }

  it.each<[string, string, string, (client: Client) => Partial<Client>]>([
    [
      'sequence-numbers',
      'counter-in-group',
      'no number is given twice',
      (client) => ({
        commit: (puts) => client.commit(puts.map((put) => ('entity' in put ? { ...put, operation: 'upsert' } : put))),
      }),
    ],
    ['sequence-numbers', 'allocate-ids', 'each number has its record', () => ({ commit: async () => {} })],
    ['list-removal', 'transforms', 'no change is lost', (client) => ({ commit: everyOther(client) })],
    ['list-compaction', 'cas', 'nothing is lost', (client) => ({ commit: everyOther(client) })],
  ])('judges %s, %s badly where a client breaks it: %s', async (labName, armName, says, broken) => {
    const arm = labs.find(({ name }) => name === labName)?.arms.find(({ name }) => name === armName)
    const client: Client = Object.assign(wire(), broken(wire()))
    const verdicts: WireVerdict[] = []
    const judged = (verdict: WireVerdict): void => void verdicts.push(verdict)
    const session = { client, random: seededRandom(1), seconds: 0.2, opsPerSecond: 100, judged }
    await arm?.drive?.({ ...session, done: () => {}, failed: () => {} })
    expect(verdicts.find((verdict) => verdict.says === says)).toMatchObject({ holds: false })
  })

  it('ends with exit code 1 where a verdict fails, and has the verdicts in its JSON', async () => {
    const printed: string[] = []
    const sound = labs.find(({ name }) => name === 'batching') as Lab
    const verdict = { says: 'all is well', holds: false, found: 'nothing is' }
    const arm: Arm = {
      name: 'bad',
      about: 'a bad one',
      run: async () => {},
      drive: async (session) => {
        session.done(1)
        session.judged(verdict)
      },
    }
    const options = { endpoint: `127.0.0.1:${gateway.port}`, seconds: 0, opsPerSecond: 1, seed: 1, arms: undefined }
    const io = { outRaw: (text: string) => printed.push(text), progress: () => {} } as unknown as Io
    expect(await driveLabs([{ ...sound, arms: [arm] }], { ...options, json: '-' }, io)).toBe(1)
    expect(JSON.parse(printed.join(''))).toMatchObject([
      { verdicts: [{ says: 'all is well', verdict: 'fails', found: 'nothing is' }] },
    ])
  })

  it.each(['list-removal', 'list-compaction'])('ends %s with one sentence where the server stops', async (labName) => {
    const stopping = await startGateway({ engine, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
    const endpoint = `127.0.0.1:${stopping.port}`
    const printed: string[] = []
    let stopped: Promise<void> | undefined
    const progress = (): void => {
      // Told a second after the load has begun.
      stopped ??= stopping.close()
    }
    const io = { outRaw: (text: string) => printed.push(text), progress } as unknown as Io
    const options = { endpoint, seconds: 2, opsPerSecond: 1, seed: 1, arms: ['cas'], json: '-' }
    const chosen = labs.filter(({ name }) => name === labName)
    expect(await driveLabs(chosen, options, io)).toBe(1)
    await stopped
    const verdict = { says: 'the server answers to the end', verdict: 'fails', found: `${endpoint} does not answer` }
    expect(JSON.parse(printed.join(''))[0].verdicts).toContainEqual(verdict)
  })

  it('refuses a file of results that cannot be written by its name', async () => {
    const sound = labs.find(({ name }) => name === 'batching') as Lab
    const arm: Arm = { name: 'idle', about: 'an idle one', run: async () => {}, drive: async () => {} }
    const writeFile = (): never => {
      throw new Error('EACCES: permission denied')
    }
    const io = { out: () => {}, progress: () => {}, writeFile } as unknown as Io
    const options = { endpoint: `127.0.0.1:${gateway.port}`, seconds: 0, opsPerSecond: 1, seed: 1, arms: undefined }
    const driven = driveLabs([{ ...sound, arms: [arm] }], { ...options, json: '/nowhere.json' }, io)
    await expect(driven).rejects.toThrow(new UsageError('/nowhere.json cannot be written: EACCES: permission denied'))
  })

  it('gives what came of its calls as JSON, and nothing else', async () => {
    const printed: string[] = []
    const refuse = (): never => {
      throw new Error('nothing else is printed')
    }
    const io = { out: refuse, outRaw: (text: string) => void printed.push(text), err: refuse, ink: refuse }
    const options = { endpoint: `127.0.0.1:${gateway.port}`, seconds: 0.2, opsPerSecond: 100, seed: 1, json: '-' }
    const chosen = labs.filter(({ name }) => name === 'batching')
    const code = await driveLabs(
      chosen,
      { ...options, arms: ['together'] },
      { ...io, progress: () => {}, writeFile: refuse, now: () => 0 },
    )
    expect(code).toBe(0)
    const [first, ...others] = JSON.parse(printed.join(''))
    expect(others).toEqual([])
    expect(first).toMatchObject({ lab: 'batching', arm: 'together', failed: {} })
    expect(first.answered).toBeGreaterThan(0)
  })
})
