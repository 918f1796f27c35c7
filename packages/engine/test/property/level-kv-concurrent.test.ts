/**
 * Writers, scans and snapshots at once on level-kv: every read shows the state after some whole number of batches, at least
 * those acknowledged before it began (kv/K2, kv/K3, kv/K4), however the caches were filled meanwhile.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { type Random, seededRandom } from '../../src/random.ts'
import type { KvReader, KvWrite, WriteSource } from '../../src/storage/kv.ts'
import { type LevelKv, openLevelKv } from '../../src/storage/level-kv.ts'

const keys = Array.from({ length: 60 }, (_, i) => `${i < 30 ? 'D' : 'E'}${String(i).padStart(2, '0')}`)

/** One character a key, '.' for none: the whole state as a text. */
type State = string

/** Writes whose keys share their first two characters. A long source says that it may have thousands. */
function sourceOf(writes: readonly KvWrite[], isLong: boolean): WriteSource {
  return {
    count: isLong ? 9000 : writes.length,
    *writeTo({ wants, write }) {
      for (const { key, value } of writes) if (wants?.(key.slice(0, 2)) !== false) write(key, value)
      yield writes.length
    },
  }
}

class Run {
  readonly #kv: LevelKv
  readonly #random: Random
  /** states[n] is the state after n batches. */
  readonly #states: State[] = ['.'.repeat(keys.length)]
  #acknowledged = 0

  constructor(kv: LevelKv, seed: number) {
    this.#kv = kv
    this.#random = seededRandom(seed)
  }

  async write(batches: number): Promise<void> {
    for (let i = 0; i < batches; i++) {
      const state = [...(this.#states.at(-1) as State)]
      if (this.#random.integer(8) === 0) {
        await this.#delete(state)
        continue
      }
      const writes = Array.from({ length: 1 + this.#random.integer(12) }, () => {
        const at = this.#random.integer(keys.length)
        const letter = this.#random.integer(4) === 0 ? '.' : String.fromCharCode(97 + this.#random.integer(26))
        state[at] = letter
        return { key: keys[at] as string, value: letter === '.' ? undefined : Buffer.from(letter) }
      })
      const number = this.#states.push(state.join('')) - 1
      const written = this.#written(writes).then(() => {
        this.#acknowledged = Math.max(this.#acknowledged, number)
      })
      if (this.#random.integer(3) > 0) await written
      if (this.#random.integer(4) === 0) await new Promise(setImmediate)
    }
  }

  /** A range goes, but for a row that the same write sets. */
  async #delete(state: string[]): Promise<void> {
    const [from, to] = this.#range()
    state.fill('.', from, to)
    const at = this.#random.integer(keys.length)
    state[at] = 'A'
    const number = this.#states.push(state.join('')) - 1
    const range = { start: keys[from] as string, end: keys[to] ?? 'F' }
    await this.#kv.deleteRanges([range], [{ key: keys[at] as string, value: Buffer.from('A') }])
    this.#acknowledged = Math.max(this.#acknowledged, number)
  }

  /** Half of the batches are made while they are written. */
  #written(writes: readonly KvWrite[]): Promise<void> {
    if (this.#random.integer(2) === 0) return this.#kv.batch(writes)
    const distinct = [...new Map(writes.map((write) => [write.key, write])).values()]
    return this.#kv.batch(sourceOf(distinct, this.#random.integer(4) === 0))
  }

  async read(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const choice = this.#random.integer(4)
      if (choice === 0) await this.#checkGet()
      else if (choice === 1) await this.#checkSnapshot()
      else await this.#checkScan(this.#kv, this.#acknowledged, this.#range())
      if (this.#random.integer(3) === 0) await new Promise(setImmediate)
    }
  }

  #range(): readonly [from: number, to: number] {
    const from = this.#random.integer(keys.length)
    return [from, from + 1 + this.#random.integer(keys.length - from)]
  }

  /** Numbers of the states that the letters of a range agree with. */
  #agreeing(letters: string, [from, to]: readonly [number, number]): number[] {
    return this.#states.flatMap((state, number) => (state.slice(from, to) === letters ? [number] : []))
  }

  async #checkGet(): Promise<void> {
    const at = this.#random.integer(keys.length)
    const least = this.#acknowledged
    const letter = (await this.#kv.get(keys[at] as string))?.toString() ?? '.'
    expect(this.#agreeing(letter, [at, at + 1]).some((number) => number >= least)).toBe(true)
  }

  async #checkScan(reader: KvReader, least: number, range: readonly [number, number]): Promise<number[]> {
    const reverse = this.#random.integer(2) === 0
    const span = { start: keys[range[0]] as string, end: keys[range[1]] ?? 'F' }
    const scan = reader.scan(span, { reverse, expect: this.#random.integer(20) })
    const letters = Array.from({ length: range[1] - range[0] }, () => '.')
    for (;;) {
      const rows = await scan.next(1 + this.#random.integer(15))
      if (rows.length === 0) break
      for (const row of rows) letters[keys.indexOf(row.key) - range[0]] = Buffer.from(row.value).toString()
    }
    scan.close()
    const states = this.#agreeing(letters.join(''), range).filter((number) => number >= least)
    expect(states.length, `${letters.join('')} is no state of ${range} since ${least}`).toBeGreaterThan(0)
    return states
  }

  async #checkSnapshot(): Promise<void> {
    const least = this.#acknowledged
    const snapshot = this.#kv.snapshot()
    let possible = new Set(this.#states.keys())
    for (let i = 0; i < 3; i++) {
      const states = await this.#checkScan(snapshot, least, this.#range())
      // States written after the first look cannot be the snapshot's, so nothing is lost by leaving them out.
      possible = new Set(states.filter((number) => possible.has(number)))
    }
    expect(possible.size, 'one state that all reads of a snapshot agree with').toBeGreaterThan(0)
    snapshot.close()
  }
}

describe('level-kv under concurrent use', () => {
  it.each([
    { cacheBytes: 0, missesBeforeReading: 1, rowsDeletedMax: 0 },
    { cacheBytes: 1_500, missesBeforeReading: undefined, rowsDeletedMax: 5 },
    { cacheBytes: 1_000_000, missesBeforeReading: 3, rowsDeletedMax: 0 },
  ])('reads whole states, with $cacheBytes bytes of cache', async (options) => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
    const kv = await openLevelKv({ dir, ...options, readBeforeWritten: 'E' })
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        await kv.clear()
        const run = new Run(kv, seed)
        await Promise.all([run.write(30), run.read(12), run.read(12), run.read(12)])
      }),
      { numRuns: runs(20) },
    )
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('finds every entity again that was there when it was opened, and those put since', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-kv-'))
    const old = await openLevelKv({ dir })
    await old.batch(keys.slice(20, 40).map((key) => ({ key, value: Buffer.from(key) })))
    await old.batch([{ key: keys[33] as string, value: undefined }])
    await old.close()
    const kv = await openLevelKv({ dir, missesBeforeReading: 2, readBeforeWritten: 'E' })
    const there = (): string[] => keys.filter((key) => kv.get(key)?.toString() === key)
    const expected = keys.slice(20, 40).filter((key) => key !== keys[33])
    for (let i = 0; i < 20; i++) {
      expect(there()).toEqual(expected)
      await new Promise(setImmediate)
    }
    await kv.mutate({ key: keys[50] as string, value: Buffer.from(keys[50] as string) })
    await kv.mutate({ key: keys[33] as string, value: Buffer.from(keys[33] as string) })
    expect(there()).toEqual([...keys.slice(20, 40), keys[50]])
    await kv.clear()
    expect(there()).toEqual([])
    await kv.mutate({ key: keys[37] as string, value: Buffer.from(keys[37] as string) })
    for (let i = 0; i < 20; i++) {
      expect(there()).toEqual([keys[37]])
      await new Promise(setImmediate)
    }
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  })
})
