/**
 * Folders whose files were damaged: every one is refused or found out, and none is opened without rows that it acknowledged.
 *
 * The store under test has rows in two tables, from earlier openings, and in the log.
 */
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { openDataFolder } from '../../src/storage/data-folder.ts'
import type { LevelKv } from '../../src/storage/level-kv.ts'

const rowsOfOpening = 120
const openings = 3
const total = openings * rowsOfOpening

let parent: string
let whole: string
let dir: string

const keyOf = (n: number): string => `k${String(n).padStart(6, '0')}`
/** Bytes that Snappy makes smaller in every second row, and cannot in the others. */
const bytesOf = (n: number): Buffer =>
  n % 2 === 0 ? Buffer.alloc(900, `${n} `) : Buffer.from(Array.from({ length: 900 }, (_, i) => (i * i * n + n) & 0xff))

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sixtables-damaged-'))
  whole = join(parent, 'whole')
  const growing = join(parent, 'growing')
  for (let opening = 0; opening < openings; opening++) {
    const kv = await openDataFolder({ dir: growing })
    for (let n = opening * rowsOfOpening; n < (opening + 1) * rowsOfOpening; n++) {
      if (n === total - 5) await cp(join(growing, 'rows', 'ACKNOWLEDGED'), join(parent, 'before the last rows'))
      await kv.batch([{ key: keyOf(n), value: bytesOf(n) }])
    }
    // As a kill leaves it: the last rows are in the log alone.
    if (opening === openings - 1) await cp(growing, whole, { recursive: true })
    await kv.close()
  }
})

afterAll(() => rm(parent, { recursive: true, force: true }))

beforeEach(async () => {
  dir = join(parent, 'damaged')
  await restore()
})

async function restore(): Promise<void> {
  await rm(dir, { recursive: true, force: true })
  await cp(whole, dir, { recursive: true })
}

async function fileLike(pattern: RegExp, which = -1): Promise<string> {
  const names = (await readdir(join(dir, 'rows'))).filter((name) => pattern.test(name)).sort()
  return join(dir, 'rows', names.at(which) ?? 'no such file')
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0x41
  await writeFile(path, bytes)
}

async function opened<T>(task: (kv: LevelKv) => Promise<T> | T, repairLog = false): Promise<T> {
  const kv = await openDataFolder({ dir, mustExist: true, repairLog })
  try {
    return await task(kv)
  } finally {
    await kv.close()
  }
}

/** How many rows there are from the first on; -1 when there is a hole before the last. */
function lengthOf(kv: LevelKv): number {
  const there = Array.from({ length: total }, (_, n) => bytesOf(n).equals(kv.get(keyOf(n)) ?? Buffer.of()))
  const length = there.indexOf(false)
  if (length < 0) return total
  return there.includes(true, length) ? -1 : length
}

const refusal = (words: RegExp) =>
  expect.objectContaining({ code: 'FAILED_PRECONDITION', message: expect.stringMatching(words) })

describe('a folder that is whole', () => {
  it('has all rows, and no damage is found in it', async () => {
    expect((await readdir(join(dir, 'rows'))).filter((name) => name.endsWith('.ldb')).length).toBe(openings - 1)
    await opened(async (kv) => {
      expect(await kv.damage()).toEqual([])
      expect(lengthOf(kv)).toBe(total)
      expect(await kv.damage()).toEqual([])
    })
  })
})

describe('a damaged log', () => {
  it('level-log-check/D1: is refused wherever a byte of it was changed, and stays as it is', async () => {
    const log = await fileLike(/\.log$/)
    const { size } = await stat(log)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size - 1 }), async (at) => {
        await restore()
        await flip(log, at)
        const before = await readFile(log)
        await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/damaged at byte \d+ of \d+.*--repair/s))
        expect((await readFile(log)).equals(before)).toBe(true)
      }),
      { numRuns: runs(20) },
    )
  })

  it('cut by a repair, has the rows before the damage and none after it', async () => {
    const log = await fileLike(/\.log$/)
    const { size } = await stat(log)
    for (let part = 0; part < 8; part++) {
      await restore()
      const at = Math.floor((size * (part + 0.5)) / 8)
      await flip(log, at)
      const damaged = await readFile(log)
      const length = await opened(lengthOf, true)
      const expected = (openings - 1) * rowsOfOpening + Math.floor((rowsOfOpening * (part + 0.5)) / 8)
      expect(Math.abs(length - expected), `${length} rows, about ${expected} before the damage`).toBeLessThan(3)
      expect((await readFile(`${log}.damaged`)).equals(damaged)).toBe(true)
      expect(await opened(lengthOf)).toBe(length)
    }
  })

  it('is refused when it is gone', async () => {
    await rename(await fileLike(/\.log$/), join(parent, 'gone.log'))
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/lost the file \d+\.log/))
  })

  const endings: readonly [string, (log: string, size: number) => Promise<void>][] = [
    ['is cut off', (log, size) => truncate(log, size - 100)],
    [
      'became zeros, as a power cut may leave them',
      async (log, size) => {
        await truncate(log, Math.floor((size - 2000) / 512) * 512)
        await truncate(log, size + 4096)
      },
    ],
  ]

  it.each(endings)(
    'is refused when its acknowledged end %s, and opens with the rest by a repair',
    async (_, damage) => {
      const log = await fileLike(/\.log$/)
      await damage(log, (await stat(log)).size)
      await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/ends before what was acknowledged.*--repair/s))
      const length = await opened(lengthOf, true)
      expect(length).toBeGreaterThan(total - 5)
      expect(length).toBeLessThan(total)
      expect(await opened(lengthOf)).toBe(length)
    },
  )

  it.each(endings)('opens without what was never acknowledged when its end %s', async (_, damage) => {
    const log = await fileLike(/\.log$/)
    await cp(join(parent, 'before the last rows'), await fileLike(/^ACKNOWLEDGED$/))
    await damage(log, (await stat(log)).size)
    const length = await opened(lengthOf)
    expect(length).toBeGreaterThan(total - 5)
    expect(length).toBeLessThan(total)
  })

  it('in another process’s hands is not looked at, cut or called damaged', async () => {
    const log = await fileLike(/\.log$/)
    const kv = await openDataFolder({ dir })
    const now = await fileLike(/\.log$/)
    await kv.batch([{ key: 'a', value: Buffer.alloc(1000, 'x') }])
    await flip(now, 100)
    for (const repairLog of [false, true]) {
      await expect(openDataFolder({ dir, repairLog })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    }
    expect(now).not.toBe(log)
    expect(await readdir(join(dir, 'rows'))).not.toContainEqual(expect.stringMatching(/damaged/))
    await kv.close()
  })
})

describe('a damaged table', () => {
  it('is refused wherever a byte of it was changed', async () => {
    const footerBytes = 48
    for (const which of [0, 1]) {
      const table = await fileLike(/\.ldb$/, which)
      const { size } = await stat(table)
      for (let part = 0; part < 12; part++) {
        await restore()
        await flip(table, Math.floor(((size - footerBytes) * (part + 0.5)) / 12))
        await expect(openDataFolder({ dir }), `${table} of ${size} bytes, part ${part}`).rejects.toEqual(
          refusal(/rows\/\d+\.ldb is damaged \(the checksum of the/),
        )
      }
      await restore()
      await flip(table, size - 1)
      await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/does not end as a table does/))
    }
  })

  it('is found in a store that is open', async () => {
    const table = await fileLike(/\.ldb$/, 0)
    await opened(async (kv) => {
      await flip(table, 1000)
      expect(await kv.damage()).toMatchObject([{ what: expect.stringMatching(/checksum/) }])
      await truncate(table, (await stat(table)).size - 200)
      expect(await kv.damage()).toMatchObject([{ what: expect.stringMatching(/has \d+ bytes instead of/) }])
    })
  })

  it('that was cut, or is gone, is refused', async () => {
    const table = await fileLike(/\.ldb$/, 0)
    await truncate(table, (await stat(table)).size - 200)
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/ldb is damaged \(it has \d+ bytes instead of \d+/))
    await rm(table)
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/ldb is damaged \(the file is gone/))
  })

  it('keeps a damaged log from being cut by a repair', async () => {
    const log = await fileLike(/\.log$/)
    await flip(log, 5000)
    await flip(await fileLike(/\.ldb$/, 0), 1000)
    const before = await readFile(log)
    await expect(openDataFolder({ dir, repairLog: true })).rejects.toEqual(refusal(/ldb is damaged/))
    expect((await readFile(log)).equals(before)).toBe(true)
  })
})

describe('a damaged manifest', () => {
  it('is refused, cut at any length, or all rows are there', async () => {
    const manifest = await fileLike(/^MANIFEST/)
    const { size } = await stat(manifest)
    for (let cut = 0; cut < size; cut += Math.ceil(size / 25)) {
      await restore()
      await truncate(manifest, cut)
      const length = await opened(lengthOf).catch((error) => error.code)
      expect(['FAILED_PRECONDITION', total], `cut to ${cut} of ${size} bytes`).toContain(length)
      if (length === total) continue
      const log = await fileLike(/\.log$/)
      const before = await readFile(log)
      await expect(openDataFolder({ dir, repairLog: true })).rejects.toEqual(refusal(/Restore the folder from a copy/))
      expect((await readFile(log)).equals(before), `cut to ${cut} of ${size} bytes`).toBe(true)
    }
  })

  it('is refused when it was changed, is gone, or is not what CURRENT names', async () => {
    const manifest = await fileLike(/^MANIFEST/)
    await flip(manifest, 20)
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/damaged/))
    await rm(manifest)
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal(/MANIFEST/))
    await restore()
    for (const text of [basename(manifest), '', 'MANIFEST-999999\n', 'nonsense', '\xff'.repeat(100_000)]) {
      const current = join(dir, 'rows', 'CURRENT')
      await writeFile(current, text)
      const error = await openDataFolder({ dir }).catch((error) => error)
      expect(error).toEqual(refusal(/its file rows\/CURRENT holds ".{0,100}" instead of the name of a manifest/))
      // The advice helps.
      const [, name] = /or write "(.*)" and a line break into rows\/CURRENT\.$/.exec(error.message) ?? []
      await writeFile(current, `${name}\n`)
      expect(await opened(lengthOf)).toBe(total)
    }
  })
})
