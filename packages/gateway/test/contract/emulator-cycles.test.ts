/**
 * emulator/E1: after close() nothing of an emulator is left in the process: no port, no timer, no store.
 *
 * `pnpm cycles` runs a thousand cycles, and as many engines at once; CI a few, which meet the same counts.
 */
import { request } from 'node:http'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { sleep } from '../support/gateway.ts'
import { GrpcClient } from '../support/grpc-client.ts'
import { patienceMs } from '../support/patience.ts'

const cycles = Number(process.env['SIXTABLES_CYCLES'] ?? (isDeep ? 1000 : 30))

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** One call on a connection of its own. */
function post(port: number, path: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const sent = request({ port, path, method: 'POST', agent: false, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Timers, sockets and servers that keep something alive, by name. */
async function resources(): Promise<Record<string, number>> {
  // Sockets are told closed before their handles are.
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) {
    // One-shot work of the system, such as a file being read by the test runner, comes and goes.
    if (/^(TCP|HTTP|Timeout|Immediate|FSEventWrap)/.test(name)) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** What there is more of than before, and how many. */
async function moreThan(before: Record<string, number>): Promise<(readonly [name: string, count: number])[]> {
  const more = Object.entries(await resources()).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return more.filter(([, count]) => count > 0)
}

/** Nothing is left by each cycle, not even for a while, and in the end nothing at all: timers of the test runner come and go. */
async function expectNoMore(before: Record<string, number>): Promise<void> {
  let more = await moreThan(before)
  expect(more.filter(([, count]) => count >= cycles / 2)).toEqual([])
  for (const end = performance.now() + patienceMs; more.length > 0; more = await moreThan(before)) {
    if (performance.now() > end) expect.fail(`there is more than before: ${JSON.stringify(more)}`)
    await sleep(20)
  }
}

const put = JSON.stringify({
  mode: 'NON_TRANSACTIONAL',
  mutations: [{ upsert: { key: { path: [{ kind: 'A', id: '1' }] }, properties: { n: { integerValue: '1' } } } }],
})

async function cycle(): Promise<{ readonly port: number; readonly ghost: WeakRef<object> }> {
  const emulator = await startEmulator({
    ttl: [{ kind: 'A', property: 'until' }],
    // What is applied an hour after its emulator was closed would keep it until then.
    apply: { type: 'time', delayMs: 3_600_000 },
  })
  const { port } = emulator
  expect(await post(port, '/v1/projects/p:commit', put)).toBe(200)
  // A connection of each protocol that is idle, and one that never says a word, when the emulator is closed.
  const grpc = await GrpcClient.connect(port)
  const silent = connect({ port, host: '127.0.0.1' })
  await new Promise((resolve) => silent.once('connect', resolve))
  silent.on('error', () => {})
  silent.destroy()
  const snapshot = await emulator.snapshot()
  await emulator.restore(snapshot)
  await grpc.close()
  await emulator.close()
  return { port, ghost: new WeakRef(emulator.engine) }
}

test(`${cycles} emulators, one after the other, leave no handle, no port and no store`, {
  timeout: 600_000,
}, async () => {
  for (let i = 0; i < 5; i++) await cycle()
  const before = await resources()
  collect()
  const heapBefore = process.memoryUsage().heapUsed
  const ghosts: WeakRef<object>[] = []
  const ports = new Set<number>()
  for (let i = 0; i < cycles; i++) {
    const { port, ghost } = await cycle()
    ghosts.push(ghost)
    ports.add(port)
  }
  await expectNoMore(before)
  for (const port of [...ports].slice(-3)) await expect(post(port, '/', '')).rejects.toThrow('ECONNREFUSED')
  collect()
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  // The last one may still be seen by what this function has just done.
  expect(ghosts.filter((ghost) => ghost.deref() !== undefined).length).toBeLessThanOrEqual(1)
  const grownMiB = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20
  expect(grownMiB).toBeLessThan(8)
})

test(`${cycles} engines at once are independent, and gone when closed`, { timeout: 600_000 }, async () => {
  const before = await resources()
  const engines = []
  for (let i = 0; i < cycles; i++) engines.push(await openEngine({ seed: i }))
  for (const [i, engine] of engines.entries()) {
    const keys = await engine.database(`p${i}`).allocateIds(engine.context(), [incomplete(`p${i}`)])
    expect(keys).toHaveLength(1)
    expect(engine.databases()).toHaveLength(1)
  }
  for (const engine of engines.splice(0)) await engine.close()
  await expectNoMore(before)
})

function incomplete(projectId: string) {
  return { partition: { projectId, databaseId: '', namespaceId: '' }, path: [{ kind: 'A' }] }
}
