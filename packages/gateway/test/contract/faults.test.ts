/**
 * Faults below the built server: a full disk, a folder that is gone, in use, read-only or damaged. Each is told in the code
 * and words that help, what was acknowledged stays readable, and nothing is acknowledged any more that would be lost.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@sixtables/engine'
import { FaultyKv, MemoryKv } from '@sixtables/engine/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../../src/emulator/server.ts'
import { sixtables } from '../support/cli.ts'
import type { Plain } from '../support/published-protos.ts'
import { requireBuild, ServerProcess } from '../support/server-process.ts'
import { type Host, openWire, readAnswer, type Wire, type WireAnswer, wireNames } from '../support/wires.ts'

const project = 'faults'

let parent: string
let folder: string
let mounted: string | undefined
let server: ServerProcess | undefined
const wires: Wire[] = []

beforeEach(() => {
  requireBuild()
  parent = mkdtempSync(join(tmpdir(), 'sixtables-faults-'))
  folder = join(parent, 'data')
})

afterEach(async () => {
  for (const wire of wires.splice(0)) wire.close()
  await server?.kill()
  server = undefined
  if (mounted !== undefined) execFileSync('umount', [mounted])
  mounted = undefined
  rmSync(parent, { recursive: true, force: true })
})

async function start(...flags: string[]): Promise<Wire> {
  server = await ServerProcess.start(folder, ...flags)
  return await wireTo(server)
}

async function wireTo(host: Host): Promise<Wire> {
  const wire = await openWire('gRPC', host)
  wires.push(wire)
  return wire
}

const keyOf = (n: number): Plain => ({ path: [{ kind: 'K', name: String(n) }] })

function put(wire: Wire, n: number, bytes = 100): Promise<WireAnswer> {
  // Text that does not repeat itself: what LevelDB makes small would not fill a disk.
  let text = ''
  for (let i = 0; text.length < bytes; i++) text += Math.imul(n * 7919 + i, 2_654_435_761).toString(36)
  const properties = { text: { stringValue: text, excludeFromIndexes: true }, n: { integerValue: String(n) } }
  const mutations = [{ upsert: { key: keyOf(n), properties } }]
  return wire.send(project, 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })
}

/** @param atOnce - keys a lookup; entities of 60 kB leave room for few in an answer */
async function there(wire: Wire, upTo: number, atOnce = 20): Promise<number[]> {
  const found: number[] = []
  for (let from = 0; from < upTo; from += atOnce) {
    const keys = Array.from({ length: Math.min(atOnce, upTo - from) }, (_, i) => keyOf(from + i))
    const answer = await wire.send(project, 'Lookup', { keys })
    expect(answer).toMatchObject({ code: 'OK' })
    for (const one of (readAnswer(wire, 'Lookup', answer)['found'] ?? []) as Plain[]) {
      const properties = (one['entity'] as Plain)['properties'] as Plain
      found.push(Number((properties['n'] as Plain)['integerValue']))
    }
  }
  return found.sort((a, b) => a - b)
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** A file system of its own in memory, or why there is none. */
function mountSmall(megabytes: number): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has tmpfs'
  const at = join(parent, 'mount')
  mkdirSync(at)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at], { stdio: 'pipe' })
  } catch {
    return 'only root may mount a file system'
  }
  mounted = at
  folder = join(at, 'data')
  return undefined
}

/** Takes the last byte: of what LevelDB began to write on a full disk, it may have given back much or nothing. */
function fillUp(): void {
  const file = openSync(join(mounted ?? '', 'filler'), 'w')
  const page = Buffer.alloc(4096)
  try {
    for (;;) writeSync(file, page)
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  } finally {
    closeSync(file)
  }
}

describe('a full disk', () => {
  test.for(['process', 'power'])(
    'ends writing with UNAVAILABLE until the server is restarted, and loses nothing: %s',
    async (durability, { skip }) => {
      const reason = mountSmall(8)
      if (reason !== undefined) skip(reason)
      const wire = await start('--durability', durability)
      let count = 0
      let refused = await put(wire, count, 60_000)
      while (refused.code === 'OK') {
        count++
        refused = await put(wire, count, 60_000)
      }
      expect(count).toBeGreaterThan(20)
      expect(refused).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/No space left.*restart/s) })
      expect(await there(wire, count)).toEqual(upTo(count))
      const later = await put(wire, count + 1)
      expect(later).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/earlier write.*No space left/s),
      })
      await server?.kill()
      fillUp()
      expect(await sixtables(['start', '--port', '0', '--data-dir', folder])).toMatchObject({
        code: 2,
        err: expect.stringMatching(/No space left|cannot be used/),
      })
      execFileSync('mount', ['-o', 'remount,size=64m', mounted ?? ''])
      const again = await start()
      const found = await there(again, count + 2)
      expect([count, count + 1], 'what was refused may have been written, if its outcome was unknown').toContain(
        found.length,
      )
      expect(found).toEqual(upTo(found.length))
      expect(await put(again, 500)).toMatchObject({ code: 'OK' })
      expect((await sixtables(['check', '--endpoint', server?.endpoint ?? ''])).code).toBe(0)
    },
  )
})

describe('an export and an import', () => {
  test('an export onto a full disk fails with the reason, leaves no folder, and the server goes on', async ({
    skip,
  }) => {
    const data = folder
    const reason = mountSmall(2)
    if (reason !== undefined) skip(reason)
    folder = data
    const wire = await start()
    const count = 60
    for (let n = 0; n < count; n++) expect(await put(wire, n, 60_000)).toMatchObject({ code: 'OK' })
    const dir = join(mounted ?? '', 'export')
    const exported = await sixtables(['export', dir, '--endpoint', server?.endpoint ?? '', '--project', project])
    expect(exported).toMatchObject({
      code: 1,
      err: expect.stringMatching(/output-0 cannot be written \(ENOSPC\); see to the rights and the disk/),
    })
    expect(readdirSync(mounted ?? '')).toEqual([])
    expect(await put(wire, count)).toMatchObject({ code: 'OK' })
  })

  test('a server that is killed in an import has whole batches of it, and the import can be repeated', async () => {
    const wire = await start()
    const batch = 250
    const count = 40 * batch
    for (let from = 0; from < count; from += 500) {
      const mutations = Array.from({ length: 500 }, (_, i) => ({
        upsert: { key: keyOf(from + i), properties: { n: { integerValue: String(from + i) } } },
      }))
      const answer = await wire.send(project, 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })
      expect(answer).toMatchObject({ code: 'OK' })
    }
    const dir = join(parent, 'export')
    const moved = ['--endpoint', server?.endpoint ?? '', '--project', project]
    expect(await sixtables(['export', dir, ...moved])).toMatchObject({ code: 0 })
    const reset = await fetch(`http://${server?.endpoint}/reset`, { method: 'POST' })
    expect(reset.status).toBe(200)
    const imported = sixtables(['import', dir, ...moved])
    let begun: number[] = []
    while (begun.length === 0) begun = await there(wire, 20)
    await server?.kill()
    expect((await imported).code).not.toBe(0)

    const again = await start()
    const found = await there(again, count, 500)
    expect(found.length % batch, 'whole batches').toBe(0)
    expect(found.length).toBeGreaterThan(0)
    const endpoint = ['--endpoint', server?.endpoint ?? '']
    expect((await sixtables(['check', ...endpoint])).code).toBe(0)
    expect(await sixtables(['import', dir, ...endpoint, '--project', project])).toMatchObject({ code: 0 })
    expect(await there(again, count, 500)).toEqual(upTo(count))
    expect((await sixtables(['check', ...endpoint])).code).toBe(0)
  })
})

describe('the folder of the data', () => {
  test.each([
    ['deleted', () => rmSync(folder, { recursive: true })],
    ['moved', () => renameSync(folder, `${folder}-elsewhere`)],
    [
      'replaced by a copy',
      () => {
        cpSync(folder, `${folder}-copy`, { recursive: true })
        rmSync(folder, { recursive: true })
        renameSync(`${folder}-copy`, folder)
      },
    ],
  ])('%s under a running server: nothing more is acknowledged', async (_, damage) => {
    const wire = await start()
    for (const n of upTo(5)) expect(await put(wire, n)).toMatchObject({ code: 'OK' })
    damage()
    const words = /folder .*data was deleted, moved or replaced.*restart/s
    expect(await put(wire, 5)).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(words) })
    expect(await put(wire, 6)).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(words) })
    expect(await there(wire, 5)).toEqual(upTo(5))
  })

  test.each(['immediate', 'delayed'])(
    'deleted under a load: reads and health go on, and no stack is printed, to the end: %s',
    async (apply) => {
      await start('--apply', apply)
      const at = server?.endpoint ?? ''
      const wires = await Promise.all(Array.from({ length: 6 }, () => wireTo(server as ServerProcess)))
      const acknowledged = new Set<number>()
      let count = 0
      const writes = async (wire: Wire): Promise<WireAnswer> => {
        for (;;) {
          const n = count++
          const answer = await put(wire, n, 3000)
          if (answer.code !== 'OK') return answer
          acknowledged.add(n)
        }
      }
      const idsOf = async (wire: Wire): Promise<WireAnswer> => {
        for (let n = 0; ; n++) {
          const keys = Array.from({ length: 5 }, () => ({ path: [{ kind: 'P', name: `${n}` }, { kind: 'C' }] }))
          const answer = await wire.send(project, 'AllocateIds', { keys })
          if (answer.code !== 'OK') return answer
        }
      }
      const load = wires.map((wire, i) => (i === 0 ? idsOf(wire) : writes(wire)))
      while (acknowledged.size < 200) await new Promise((resolve) => setTimeout(resolve, 10))
      // At one moment: files that the server makes while others are removed would keep the folder.
      renameSync(folder, `${folder}-gone`)
      rmSync(`${folder}-gone`, { recursive: true })
      for (const answer of await Promise.all(load)) {
        expect(answer).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/deleted, moved/) })
      }
      if (apply === 'immediate') {
        expect(await there(wires[0] as Wire, count)).toEqual(expect.arrayContaining([...acknowledged]))
      } else {
        // What waits to be applied is read by applying it, which is a write.
        const keys = [...acknowledged].slice(-20).map(keyOf)
        expect(['OK', 'UNAVAILABLE']).toContain((await (wires[0] as Wire).send(project, 'Lookup', { keys })).code)
      }
      const health = await sixtables(['health', '--endpoint', at])
      expect(health).toMatchObject({ code: 1, err: expect.stringMatching(/write to the store failed.*deleted, moved/) })
      expect((await fetch(`http://${at}/`)).status).toBe(503)
      expect(await server?.stop()).toBe(1)
      expect(server?.complaints).toMatch(/sixtables: An earlier write to the store failed/)
      expect(server?.complaints).not.toMatch(/^\s*at /m)
      expect(server?.complaints.split('\n').length).toBeLessThan(8)
    },
  )

  test('is refused while another server uses it', async () => {
    const wire = await start()
    const second = await sixtables(['start', '--port', '0', '--data-dir', folder])
    expect(second).toMatchObject({
      code: 2,
      err: expect.stringMatching(/another process has it open.*another folder/s),
    })
    // A look at the folder is a question to the server that has it open.
    expect(await sixtables(['check', '--data-dir', folder])).toMatchObject({ code: 0 })
    expect(await put(wire, 0)).toMatchObject({ code: 'OK' })
  })

  test('is refused where nothing can be written', async ({ skip }) => {
    const reason = mountSmall(16)
    if (reason !== undefined) skip(reason)
    await start()
    await server?.stop()
    execFileSync('mount', ['-o', 'remount,ro', mounted ?? ''])
    const refused = await sixtables(['start', '--port', '0', '--data-dir', folder])
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/Read-only file system.*rights and the disk/s),
    })
    folder = join(mounted ?? '', 'other')
    const fresh = await sixtables(['start', '--port', '0', '--data-dir', folder])
    expect(fresh).toMatchObject({ code: 2, err: expect.stringMatching(/cannot be written \(EROFS\)/) })
  })

  test('with a table that was cut: reads of it answer UNAVAILABLE, and check names the file', async () => {
    const wire = await start()
    for (const n of upTo(50)) expect(await put(wire, n, 2000)).toMatchObject({ code: 'OK' })
    await server?.stop()
    // Opening once more brings the rows from the log into a table.
    await start()
    await server?.stop()
    const rows = join(folder, 'rows')
    const table = readdirSync(rows).find((name) => name.endsWith('.ldb')) ?? ''
    truncateSync(join(rows, table), statSync(join(rows, table)).size - 100)
    const checked = await sixtables(['check', '--data-dir', folder])
    expect(checked).toMatchObject({ code: 2, out: '' })
    expect(checked.err).toMatch(/failed|damaged/)
  })
})

describe('a write that fails', () => {
  test('is told as UNAVAILABLE over each protocol, as is every later one; reads go on', async () => {
    const kv = new FaultyKv(new MemoryKv(), { kind: 'fail', atWrite: 4 })
    const engine = await openEngine({ kv })
    const gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
    const first = await wireTo(gateway)
    let count = 0
    while ((await put(first, count)).code === 'OK') count++
    for (const name of wireNames) {
      const wire = await openWire(name, gateway)
      wires.push(wire)
      expect(await put(wire, 100)).toMatchObject({ code: 'UNAVAILABLE', httpStatus: name === 'gRPC' ? 200 : 503 })
      if (name !== 'HTTP JSON') expect(await there(wire, count + 1)).toEqual(upTo(count))
    }
    await gateway.close()
  })
})
