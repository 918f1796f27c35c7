/**
 * Gateways whose clocks are set forth and back (compared-clock/CK1): one that is wrong takes no commits, is unhealthy,
 * and says so once; as soon as it is right it goes on. No version is ever far ahead of the time.
 */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startCommand } from '../../../gateway/test/support/cli.ts'
import { GrpcClient } from '../../../gateway/test/support/grpc-client.ts'
import { eventually } from '../../../gateway/test/support/patience.ts'
import { ServerProcess, sixtablesIn } from '../../../gateway/test/support/server-process.ts'
import { hasCbtemulator, startCbtemulator } from '../support/cbtemulator.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { hasFaketime, SetClock } from '../support/set-clock.ts'

const flags = ['--store', 'bigtable', '--bigtable-project', 'demo', '--bigtable-instance', 'local']

/** Ends of what a test started, the last one first. */
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Server {
  /** `host:port`. */
  readonly endpoint: string
  /** All that it said on stderr. */
  readonly said: () => string
}

const call = async ({ endpoint }: Server, method: string, body: object) => {
  const url = `http://${endpoint}/v1/projects/demo:${method}`
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as {
    readonly mutationResults?: readonly { readonly version: string }[]
    readonly error?: { readonly message: string; readonly status: string }
  }
}

const keyOf = (name: string) => ({ path: [{ kind: 'K', name }] })
const commitOf = (name: string) => ({
  mode: 'NON_TRANSACTIONAL',
  mutations: [{ upsert: { key: keyOf(name), properties: { at: { integerValue: String(performance.now() | 0) } } } }],
})
const put = (server: Server) => call(server, 'commit', commitOf('a'))
const readTwo = (server: Server) => call(server, 'lookup', { keys: [keyOf('a'), keyOf('b')] })

/** By how many seconds the version of a commit at a gateway is ahead of the time. */
async function versionAhead(server: Server): Promise<number> {
  const { mutationResults, error } = await put(server)
  expect(error).toBeUndefined()
  return Number(mutationResults?.[0]?.version) / 1e6 - (performance.timeOrigin + performance.now()) / 1e3
}

/** The status by HTTP, and that by gRPC: 1 is serving, 2 is not. */
async function health({ endpoint }: Server): Promise<readonly (number | undefined)[]> {
  const { status } = await fetch(`http://${endpoint}/`)
  const client = await GrpcClient.connect(Number(endpoint.split(':')[1]))
  const { body } = await client.call('/grpc.health.v1.Health/Check', Buffer.alloc(0))
  client.close()
  return [status, body[1]]
}

const healthy = [200, 1]
const unhealthy = [503, 2]

/** The lines about the clock that a gateway has logged. */
const linesOf = ({ said }: Server): readonly string[] =>
  said()
    .split('\n')
    .filter((line) => line.includes('the clock of this gateway'))

/** A gateway's clock is set `seconds` ahead: it refuses, is unhealthy and says so once; then it is right again. */
async function setForthAndBack(server: Server, set: (seconds: number) => void, seconds: number): Promise<void> {
  const before = linesOf(server).length
  expect(await health(server)).toEqual(healthy)
  set(seconds)
  const refusal = /the clock of this gateway is (\d+) s ahead of the clock of the Bigtable table .*set the clock right/
  for (const answer of [await put(server), await readTwo(server), await put(server)]) {
    expect(answer.error).toMatchObject({ status: 'UNAVAILABLE', message: expect.stringMatching(refusal) })
    // Less by the time that a comparison takes.
    const figure = Number(refusal.exec(answer.error?.message ?? '')?.[1])
    expect(figure > seconds - 10 && figure <= seconds, `${figure} s`).toBe(true)
  }
  expect(await health(server)).toEqual(unhealthy)
  set(0)
  await eventually(async () => expect(await health(server)).toEqual(healthy))
  expect(await versionAhead(server)).toBeLessThan(1)
  expect((await readTwo(server)).error).toBeUndefined()
  expect(linesOf(server).slice(before)).toEqual([
    expect.stringMatching(refusal),
    expect.stringMatching(
      /the clock of this gateway is right again: 0 s (ahead of|behind) the clock of the Bigtable table/,
    ),
  ])
}

test('a gateway whose clock is set wrong is unhealthy until it is right, and says both once', async () => {
  const fake = await FakeBigtable.start()
  ends.push(() => fake.close())
  const realNow = Date.now
  fake.nowMicros = () => BigInt(realNow()) * 1000n
  const started = await startCommand([...flags, '--host', '127.0.0.1'], {
    env: { BIGTABLE_EMULATOR_HOST: fake.address },
  })
  ends.push(() => started.stop())
  const server = { endpoint: started.address, said: started.said }
  await put(server)
  const set = (seconds: number) => {
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + seconds * 1000)
  }
  await setForthAndBack(server, set, 100)
  await setForthAndBack(server, set, 3_600)
})

interface SetServer extends Server {
  readonly set: (seconds: number) => void
}

/** A built gateway as a process of its own, whose wall clock can be set. */
async function startProcess(address: string): Promise<SetServer> {
  const clock = new SetClock()
  ends.push(() => clock.remove())
  const server = await ServerProcess.startWith(flags, { BIGTABLE_EMULATOR_HOST: address, ...clock.env })
  ends.push(() => server.kill())
  return { endpoint: server.endpoint, said: () => server.complaints, set: (seconds) => clock.set(seconds) }
}

/** Two gateways on an emulator of their own; the database has so many clock rows. */
async function startTwo(rows: number): Promise<readonly [SetServer, SetServer]> {
  const { address, close } = await startCbtemulator()
  ends.push(close)
  const servers: readonly [SetServer, SetServer] = [await startProcess(address), await startProcess(address)]
  for (const server of servers) expect(await versionAhead(server)).toBeLessThan(1)
  if (rows > 1) {
    const args = ['bigtable', 'rows', String(rows), ...flags.slice(2), '--project', 'demo']
    expect(await sixtablesIn({ BIGTABLE_EMULATOR_HOST: address }, ...args)).toMatchObject({ code: 0, err: '' })
    for (const server of servers) expect(await versionAhead(server)).toBeLessThan(1)
  }
  return servers
}

// Needs a program of Google's, and libfaketime: `npm run bigtable`.
describe.skipIf(!hasCbtemulator || !hasFaketime).each([1, 2])(
  "gateways as processes on Google's emulator, with clock rows: %i",
  (rows) => {
    test('one whose clock is set forth and back refuses meanwhile, and the others go on', async () => {
      const [right, set] = await startTwo(rows)
      for (const seconds of [100, 3_600]) {
        await setForthAndBack(set, set.set, seconds)
        expect(await versionAhead(right)).toBeLessThan(1)
      }
      expect(linesOf(right)).toEqual([])
    })

    test('one whose clock is an hour ahead, then right, then two minutes ahead moves no version, though there are no other commits', async () => {
      const [right, set] = await startTwo(rows)
      for (const seconds of [3_600, 0, 120]) {
        set.set(seconds)
        // Longer than the time in which a commit of another gateway would once have been noticed.
        await new Promise((resolve) => setTimeout(resolve, seconds === 0 ? 0 : 8_000))
        const { error } = await put(set)
        expect(error?.status).toBe(seconds === 0 ? undefined : 'UNAVAILABLE')
      }
      set.set(0)
      await eventually(async () => expect(await health(set)).toEqual(healthy))
      for (const server of [set, right]) expect(await versionAhead(server)).toBeLessThan(1)
    })
  },
)
