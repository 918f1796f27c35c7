/**
 * Ranges of 20 index rows on disk, in a store of 100,000 entities (1.5 million rows).
 *
 *   cold          every range is read for the first time since the store was opened
 *   warm          1,000 ranges that were read before
 *   with writes   the same 1,000, and a write to one of them every 100, every 10 reads or after each: 17 rows, of which one
 *                 lies in the range, the others beside 16 further ones. The figure is for a read with its share of the write,
 *                 on the clock, and of CPU in all threads, which is steadier where others use the machine
 *
 *   as used       with the rows that were read kept in memory (row-cache.ts)
 *   bare          every range from LevelDB
 *
 * Ranges begin at index rows of all properties, at random. Run it with `npm run bench:storage -- ranges` in packages/bench,
 * after a build.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kv, openEngine } from '@sixtables/engine'
import { openLevelKv, seededRandom } from '@sixtables/engine/testing'
import benny from 'benny'
import { put } from './to-do.ts'

const entities = 100_000
const rowsOfRange = 20
const rangesOfWarm = 1_000
const rangesOfWarmUp = 3_000
const writesOfBatch = 17
/** In one call of a benchmark. */
const readsOfCall = 100

const random = seededRandom(1)
const flag = Uint8Array.of(0)

/** Every 20th index row of the store, shuffled: where ranges begin that share no row. */
async function beginnings(kv: Kv): Promise<string[]> {
  const keys: string[] = []
  const scan = kv.scan({ start: 'A', end: 'E' }, { expect: 256 })
  for (let at = 0; ; ) {
    const rows = await scan.next(256)
    if (rows.length === 0) break
    for (const { key } of rows) if (at++ % rowsOfRange === 0) keys.push(key)
  }
  scan.close()
  for (let i = keys.length - 1; i > 0; i--) {
    const j = random.integer(i + 1)
    const [one, other] = [keys[i] as string, keys[j] as string]
    keys[i] = other
    keys[j] = one
  }
  return keys
}

function read(kv: Kv, start: string): unknown {
  const scan = kv.scan({ start, end: 'E' }, { expect: rowsOfRange })
  const rows = scan.next(rowsOfRange)
  if (rows instanceof Promise) return rows.then(() => scan.close())
  scan.close()
}

/** A batch like that of a commit: new index rows behind the first rows of ranges. */
function write(kv: Kv, keys: readonly string[], at: number): unknown {
  return kv.batch(
    Array.from({ length: writesOfBatch }, (_, i) => ({
      key: `${keys[(at + i * 61) % keys.length]}${String.fromCharCode(random.integer(256), random.integer(256))}`,
      value: flag,
    })),
  )
}

async function measure(name: string, dir: string, keys: readonly string[], cacheBytes?: number): Promise<void> {
  const kv = await openLevelKv({ dir, ...(cacheBytes === undefined ? {} : { cacheBytes }) })
  let next = 0
  let writes = 0
  /** So many reads in a row; one that answers at once is not awaited. */
  const reads = async (count: number, from: readonly string[]): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const key = from[next++ % from.length] as string
      const rows = read(kv, key)
      if (rows instanceof Promise) await rows
    }
  }
  const few = keys.slice(0, rangesOfWarm)
  const others = keys.slice(rangesOfWarm)
  /** Microseconds of CPU in all threads, and the calls that took them. */
  const used = new Map<string, { micros: number; calls: number }>()
  const add = (title: string, call: () => Promise<void>): ReturnType<typeof benny.add> =>
    benny.add(title, async () => {
      const cpu = process.cpuUsage()
      await call()
      const { user, system } = process.cpuUsage(cpu)
      const { micros, calls } = used.get(title) ?? { micros: 0, calls: 0 }
      used.set(title, { micros: micros + user + system, calls: calls + 1 })
    })
  const limits = benny.configure({ cases: { minSamples: 10, maxTime: 2 } })
  const suite = async (...cases: ReturnType<typeof benny.add>[]): Promise<void> => {
    const { results } = await benny.suite(name, limits, ...cases)
    for (const result of results) {
      const micros = 1e6 / result.ops / readsOfCall
      const { micros: all, calls } = used.get(result.name) ?? { micros: 0, calls: 1 }
      const cpu = (all / calls / readsOfCall).toFixed(1)
      const figures = `${micros.toFixed(1).padStart(7)} µs  ±${result.margin} %`.padEnd(24)
      lines.push(`${name.padEnd(10)} ${result.name.padEnd(26)} ${figures} CPU ${cpu.padStart(6)} µs`)
    }
  }
  // So that the first subject is not the one that is measured while its code is compiled.
  await reads(rangesOfWarmUp, others)
  await suite(add('cold', () => reads(readsOfCall, others)))
  if (next > others.length) throw new Error('all ranges were read: the last ones were not cold')
  await reads(few.length, few)
  await suite(
    add('warm', () => reads(readsOfCall, few)),
    ...[100, 10, 1].map((every) =>
      add(`with a write every ${every}`, async () => {
        for (let i = 0; i < readsOfCall; i += every) {
          await reads(every, few)
          await write(kv, few, writes++)
        }
      }),
    ),
  )
  await kv.close()
}

const dir = await mkdtemp(join(tmpdir(), 'sixtables-bench-'))
const lines: string[] = []
const engine = await openEngine({ dir })
for (let from = 0; from < entities; from += 500) await put(engine, from, 500)
await engine.close()
const rows = join(dir, 'rows')
const plain = await openLevelKv({ dir: rows, cacheBytes: 0 })
const keys = await beginnings(plain)
await plain.close()
await measure('bare', rows, keys, 0)
await measure('as used', rows, keys)
await rm(dir, { recursive: true, force: true })
console.log(`\na range of ${rowsOfRange} rows takes      ${process.version}, ${process.arch}\n\n${lines.join('\n')}`)
