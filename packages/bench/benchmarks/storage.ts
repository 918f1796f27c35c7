/**
 * What the store's calls cost, on each of its bodies.
 *
 *   get           one row that exists
 *   scan 20       opened, 20 rows, closed; from a random row on, or backwards
 *   seek          one seek to a random row in an open scan and the row there: a step of a merge join
 *   batch 17      the rows of one commit: 2 of 300 bytes, 15 index rows of one byte, at random places; every other batch
 *                 deletes what an earlier one wrote, so that the store keeps its size
 *   16 × batch    16 of them at once; the figure is for one
 *
 *   memory        memory-kv            disk        level-kv, as used: what was read is remembered
 *   disk, bare    level-kv without its caches
 *
 * The store has 100,000 rows. Run it with `npm run bench:storage` in packages/bench, after a build. With an argument it
 * measures something else: `capacity` sizes of the tree's nodes, `points` memory-points.ts, `ranges` disk-ranges.ts, `batches`
 * disk-batches.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kv } from '@sixtables/engine'
import { MemoryKv, openLevelKv, seededRandom } from '@sixtables/engine/testing'
import benny from 'benny'

const rowsOfStore = 100_000
const rowsOfBatch = 17
const probes = 5_000

const random = seededRandom(1)
const long = new Uint8Array(300).map((_, i) => i)
const short = Uint8Array.of(4)

/** 49 bytes, the length of a typical index row's key. */
function randomKey(table: number): string {
  const id = String.fromCharCode(...Array.from({ length: 8 }, () => random.integer(256)))
  return Buffer.from(
    `T${String(table).padStart(2, '0')}\x01a-project\x00\x01\x00\x01\x00\x01Task\x00\x01priority\x00\x01\x12${id}\x00`,
    'latin1',
  ).toString('latin1')
}

interface Write {
  readonly key: string
  readonly value: Uint8Array
}

function commit(): Write[] {
  return Array.from({ length: rowsOfBatch }, (_, table) => ({ key: randomKey(table), value: table < 2 ? long : short }))
}

interface Subject {
  readonly name: string
  readonly kv: Kv
  readonly close: () => Promise<void>
}

async function openDisk(name: string, cacheBytes: number): Promise<Subject> {
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-bench-'))
  const kv = await openLevelKv({ dir, cacheBytes })
  const close = async (): Promise<void> => {
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  }
  return { name, kv, close }
}

/** Fills the store, and gives keys of rows that it has. */
async function fill(kv: Kv): Promise<string[]> {
  const keys: string[] = []
  while (keys.length < rowsOfStore) {
    const writes = commit()
    for (const { key } of writes) keys.push(key)
    await kv.batch(writes)
  }
  return Array.from({ length: probes }, () => keys[random.integer(keys.length)] as string)
}

async function measure({ name, kv, close }: Subject): Promise<void> {
  const keys = await fill(kv)
  let turn = 0
  const probe = (): string => keys[turn++ % probes] as string
  // One that has all it reads in memory once warmed up answers at once; awaiting it would measure the promise.
  const scan = (reverse: boolean): (() => unknown) => {
    return () => {
      const key = probe()
      const cursor = kv.scan(reverse ? { start: '', end: key } : { start: key, end: '\xff' }, { reverse, expect: 20 })
      const rows = cursor.next(20)
      if (rows instanceof Promise) return rows.then(() => cursor.close())
      cursor.close()
    }
  }
  const open = kv.scan({ start: '', end: '\xff' })
  const seek = (): unknown => {
    open.seek(probe())
    return open.next(1)
  }
  const get = (): unknown => kv.get(probe())
  // Every probe once, so that what can be known in memory is.
  for (const call of [get, scan(false), scan(true)]) for (let i = 0; i < probes; i++) await call()
  // An open scan keeps the moment it was opened in; writes come after it.
  for (let i = 0; i < probes; i++) await seek()

  // Made before: making the rows costs as much as writing them to memory. Written in one round, deleted in the next.
  const commits = Array.from({ length: 2_000 }, commit)
  const undoing = commits.map((writes) => writes.map(({ key }) => ({ key, value: undefined })))
  let next = 0
  const batch = (): unknown => {
    const round = Math.floor(next / commits.length)
    return kv.batch((round % 2 === 0 ? commits : undoing)[next++ % commits.length] ?? [])
  }

  const onDisk = kv.location !== 'memory'
  const add = (title: string, call: () => unknown): ReturnType<typeof benny.add> =>
    onDisk
      ? benny.add(title, async () => {
          await call()
        })
      : benny.add(title, () => {
          call()
        })
  const results: { name: string; ops: number; margin: number }[] = []
  const suite = async (...cases: ReturnType<typeof benny.add>[]): Promise<void> => {
    const summary = await benny.suite(name, benny.configure({ cases: { minSamples: 20, maxTime: 2 } }), ...cases)
    results.push(...summary.results)
  }
  await suite(add('get', get), add('scan 20', scan(false)), add('scan 20 backwards', scan(true)), add('seek', seek))
  open.close()
  await suite(
    add('batch 17', batch),
    add('16 × batch', () => Promise.all(Array.from({ length: 16 }, batch))),
  )
  await close()
  for (const result of results) {
    const us = 1e6 / result.ops / (result.name.startsWith('16') ? 16 : 1)
    lines.push(`${name.padEnd(12)} ${result.name.padEnd(20)} ${us.toFixed(2).padStart(8)} µs  ±${result.margin} %`)
  }
}

const lines: string[] = []
const memory = (name: string, nodeCapacity?: number): Subject => {
  const kv = new MemoryKv([], nodeCapacity === undefined ? {} : { nodeCapacity })
  return { name, kv, close: () => kv.close() }
}

const mode = process.argv[2]
if (mode === 'points') await import('./memory-points.ts')
else if (mode === 'ranges') await import('./disk-ranges.ts')
else if (mode === 'batches') await import('./disk-batches.ts')
else if (mode === 'capacity') {
  for (const capacity of [16, 32, 64, 128]) await measure(memory(`memory, ${capacity}`, capacity))
} else {
  await measure(memory('memory'))
  await measure(await openDisk('disk', 48 << 20))
  await measure(await openDisk('disk, bare', 0))
}
if (lines.length > 0) console.log(`\none call takes      ${process.version}, ${process.arch}\n\n${lines.join('\n')}`)
