/**
 * Damaged copies of a folder with known acknowledged updates: each is refused with a line that names what is wrong, or has
 * every update and `check` finds nothing. Never is acknowledged data gone without a word, and never does LevelDB end the
 * process, which would end this test with it.
 *
 * The folder has tables, some of them merged, a log of several blocks, and a commit log that was trimmed.
 */
import { cp, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { Level } from 'level'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { CheckReport } from '../../src/check/report.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import { DatastoreError } from '../../src/errors.ts'
import { blockBytes, endsRecord, fragmentAt, headBytes } from '../../src/leveldb/log-format.ts'
import type { Key } from '../../src/model/key.ts'
import { seededRandom } from '../../src/random.ts'
import { damageOfLevel, type LevelDamage } from '../../src/storage/level-damage.ts'

const entities = 60
const updatesOfOpening = 150
const openings = 4

let parent: string
let whole: string
let dir: string
/** The latest acknowledged text of each entity. */
const texts = new Map<number, string>()

const keyOf = (n: number): Key => ({
  partition: { projectId: 'p', databaseId: '', namespaceId: '' },
  path: [{ kind: 'K', id: BigInt(n + 1) }],
})

/** Text without repetitions: LevelDB keeps it as it is, so that a changed byte of it stays one changed byte. */
function textOf(update: number): string {
  const random = seededRandom(update)
  return `update ${update} ${String.fromCharCode(...Array.from({ length: 400 }, () => 0x23 + random.integer(0x50)))}`
}

async function put(engine: Engine, n: number, update: number): Promise<void> {
  const key = encodeKey(keyOf(n))
  const properties = encodeProperties(
    new Map([
      ['text', { type: 'string' as const, value: textOf(update), excludeFromIndexes: true }],
      ['update', { type: 'integer' as const, value: BigInt(update) }],
    ]),
  )
  const mutations = [
    { operation: 'upsert' as const, entity: Buffer.concat([Buffer.from([0x0a, key.length]), key, properties]) },
  ]
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  texts.set(n, textOf(update))
}

async function readText(engine: Engine, n: number): Promise<string | undefined> {
  const { found } = await engine.database('p').lookup(engine.context(), { keys: [keyOf(n)] })
  const [entity] = found
  if (entity === undefined) return undefined
  const text = decodeProperties(entity.image.properties).get('text')
  return text?.type === 'string' ? text.value : undefined
}

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sixtables-damaged-store-'))
  whole = join(parent, 'whole')
  const growing = join(parent, 'growing')
  let update = 0
  for (let opening = 0; opening < openings; opening++) {
    const engine = await openEngine({ dir: growing, retention: { ageMicros: 3_600_000_000n, bytesMax: 20_000 } })
    // Half of the entities are written by the first opening alone: nothing but their rows has them in the end.
    for (let i = 0; i < updatesOfOpening; i++) {
      const n = opening === 0 ? update % entities : update % (entities / 2)
      await put(engine, n, update++)
    }
    if (opening === openings - 1) await cp(growing, whole, { recursive: true })
    await engine.close()
    if (opening === 1) await merge(growing)
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

/** Merges all tables of a closed folder. */
async function merge(folder: string): Promise<void> {
  const level = new Level(join(folder, 'rows'), { keyEncoding: 'view', valueEncoding: 'view' })
  await level.open()
  await (level as Level & { compactRange(start: Buffer, end: Buffer): Promise<void> }).compactRange(
    Buffer.alloc(0),
    Buffer.alloc(40, 0xff),
  )
  await level.close()
}

/** Writes all entities in one commit of many blocks, and leaves the folder as a kill does. @returns its newest log */
async function writeLarge(): Promise<string> {
  const engine = await openEngine({ dir })
  const mutations = Array.from({ length: 100 }, (_, n) => {
    const key = encodeKey(keyOf(n))
    const value = textOf(n).repeat(8)
    const properties = encodeProperties(
      new Map([['text', { type: 'string' as const, value, excludeFromIndexes: true }]]),
    )
    const entity = Buffer.concat([Buffer.from([0x0a, key.length]), key, properties])
    return { operation: 'upsert' as const, entity }
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const large = join(parent, 'large')
  await cp(dir, large, { recursive: true })
  await engine.close()
  await rm(dir, { recursive: true })
  await cp(large, dir, { recursive: true })
  return fileLike(/\.log$/)
}

async function filesLike(pattern: RegExp): Promise<string[]> {
  return (await readdir(join(dir, 'rows'))).filter((name) => pattern.test(name)).map((name) => join(dir, 'rows', name))
}

/** The damage found without the file that says how long the log must be, as in a repair, and in a log file before the newest. */
async function damageWithoutLength(): Promise<LevelDamage | undefined> {
  return await damageOfLevel(join(dir, 'rows'), true)
}

async function fileLike(pattern: RegExp): Promise<string> {
  const [file = 'no such file'] = await filesLike(pattern)
  return file
}

/** Changes bytes where they are, as a disk does: the file stays the one that others have open. */
async function overwrite(path: string, at: number, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  await overwrite(path, at, Uint8Array.of((bytes[at] ?? 0) ^ 0x41))
}

type Verdict = 'whole' | 'refused' | { readonly lost: number; readonly report: CheckReport }

async function verdict(): Promise<Verdict> {
  let engine: Engine
  try {
    engine = await openEngine({ dir })
  } catch (error) {
    expect(error).toBeInstanceOf(DatastoreError)
    expect(error).toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringMatching(/^The data folder \S+ cannot be used: \S.*\. [A-Z].*\.$/s),
    })
    return 'refused'
  }
  try {
    let lost = 0
    for (const [n, text] of texts) if ((await readText(engine, n)) !== text) lost++
    const report = await engine.check()
    return lost === 0 && report.problemCount === 0 ? 'whole' : { lost, report }
  } finally {
    await engine.close()
  }
}

describe('a folder', () => {
  it('that is whole has every update, more than one table, and a log of several blocks', async () => {
    expect((await filesLike(/\.ldb$/)).length).toBeGreaterThan(1)
    expect((await stat(await fileLike(/\.log$/))).size).toBeGreaterThan(4 * blockBytes)
    expect(await verdict()).toBe('whole')
  })

  it('whose log is cut anywhere is refused', async () => {
    const log = await fileLike(/\.log$/)
    const { size } = await stat(log)
    for (const cut of [0, 7, 19, ...Array.from({ length: 12 }, (_, i) => Math.floor((size * i) / 12)), size - 1]) {
      await restore()
      await truncate(log, cut)
      expect(await verdict(), `cut to ${cut} of ${size} bytes`).toBe('refused')
    }
  })

  it('whose log became zeros, as a whole or to its end, is refused', async () => {
    const log = await fileLike(/\.log$/)
    const { size } = await stat(log)
    for (const from of [0, 512, blockBytes, 3 * blockBytes, size - 4096, size - 10]) {
      await restore()
      await overwrite(log, from, Buffer.alloc(size - from))
      expect(await verdict(), `zeros from byte ${from} of ${size} on`).toBe('refused')
    }
  })

  it('whose log lost a block, or has one of zeros, is refused', async () => {
    const log = await fileLike(/\.log$/)
    const bytes = await readFile(log)
    for (let block = 0; block + blockBytes <= bytes.length; block += blockBytes) {
      await restore()
      await writeFile(log, Buffer.concat([bytes.subarray(0, block), bytes.subarray(block + blockBytes)]))
      expect(await verdict(), `without the block at ${block}`).toBe('refused')
      await restore()
      await overwrite(log, block, Buffer.alloc(blockBytes))
      expect(await verdict(), `with zeros in the block at ${block}`).toBe('refused')
    }
  })

  it('whose log lost whole records in its middle is damaged though its length is unknown', async () => {
    const log = await fileLike(/\.log$/)
    const bytes = await readFile(log)
    // A log of one whole record in each fragment: those of the first block, as many as end within it.
    const starts: number[] = []
    for (let at = 0; at + headBytes < blockBytes && endsRecord(fragmentAt(bytes, at)); ) {
      starts.push(at)
      at = fragmentAt(bytes, at).end
    }
    const [, from = 0, to = 0] = starts
    expect(to).toBeGreaterThan(from)
    // The rest fits into the same block: the log ends there.
    await writeFile(log, Buffer.concat([bytes.subarray(0, from), bytes.subarray(to, starts.at(-1))]))
    expect((await damageWithoutLength())?.found).toMatch(/writes before it are missing/)
  })

  it('whose log has blocks of one large write missing, doubled or in another order is damaged', async () => {
    const log = await writeLarge()
    const bytes = await readFile(log)
    const blocks = Array.from({ length: Math.floor(bytes.length / blockBytes) }, (_, i) =>
      bytes.subarray(i * blockBytes, (i + 1) * blockBytes),
    )
    expect(blocks.length).toBeGreaterThan(6)
    expect(await verdict()).not.toBe('refused')
    await cp(join(parent, 'large'), dir, { recursive: true, force: true })
    const rest = bytes.subarray(blocks.length * blockBytes)
    for (let i = 2; i < blocks.length - 2; i++) {
      const [before, after] = [blocks.slice(0, i), blocks.slice(i + 2)]
      const [one, two] = blocks.slice(i, i + 2) as [Buffer, Buffer]
      for (const [what, some] of Object.entries({ missing: [two], doubled: [one, one, two], exchanged: [two, one] })) {
        await writeFile(log, Buffer.concat([...before, ...some, ...after, rest]))
        expect((await damageWithoutLength())?.found, `block ${i} ${what}`).toMatch(/does not hold the row writes/)
      }
    }
  })

  it('with a changed byte in any of its files is refused, or has every update', async () => {
    const names = (await readdir(join(dir, 'rows'))).filter((name) => !/^LOCK$|^LOG/.test(name))
    const files = [...names.map((name) => join(dir, 'rows', name)), join(dir, 'sixtables.json')]
    const seen = new Set<string>()
    const law = fc.asyncProperty(
      fc.constantFrom(...files),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 1, max: 255 }),
      async (file, place, change) => {
        await restore()
        const bytes = await readFile(file)
        const at = Math.floor(place * bytes.length)
        await overwrite(file, at, Uint8Array.of((bytes[at] ?? 0) ^ change))
        const found = await verdict()
        seen.add(String(found))
        expect(['refused', 'whole'], `byte ${at} of ${file}`).toContain(found)
      },
    )
    await fc.assert(law, { numRuns: 40, seed: 1 })
    // Counted for one seed: with random seeds the count would fall below any bound now and then.
    expect(seen).toContain('refused')
    await fc.assert(law, { numRuns: runs(20) })
  })

  it('that was opened once only, and lost ACKNOWLEDGED, is refused', async () => {
    await rm(dir, { recursive: true })
    await writeLarge()
    await rm(await fileLike(/^ACKNOWLEDGED$/))
    await expect(openEngine({ dir })).rejects.toThrow(/ACKNOWLEDGED, which says how long the log must be, is gone/)
  })

  it('that lost any of its files is refused, or has every update', async () => {
    for (const name of await readdir(join(dir, 'rows'))) {
      await restore()
      await rm(join(dir, 'rows', name))
      expect(await verdict(), `without ${name}`).toBe(/^LOCK$|^LOG/.test(name) ? 'whole' : 'refused')
    }
  })
})

describe('a byte of an entity that changes in a table', () => {
  /** Wherever the text of an entity stands: in its row, and perhaps in a record of the log. */
  async function flipText(): Promise<void> {
    const written = texts.get(entities - 1)?.slice(20, 60) ?? ''
    let flipped = 0
    for (const table of await filesLike(/\.ldb$/)) {
      const bytes = await readFile(table)
      for (let at = bytes.indexOf(written); at >= 0; at = bytes.indexOf(written, at + 1), flipped++)
        await flip(table, at)
    }
    expect(flipped).toBeGreaterThan(0)
  }

  it('row-proof/P1: under an open store is not answered, and check says so', async () => {
    const engine = await openEngine({ dir })
    await flipText()
    await expect(readText(engine, entities - 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/Entities\(p, K:60\) is damaged.*checksum/s),
    })
    expect(await readText(engine, 0)).toBe(texts.get(0))
    expect(await engine.check()).toMatchObject({ problems: [{ kind: 'damaged file' }] })
    await engine.close()
    expect(await verdict()).toBe('refused')
  })

  it('row-proof/P1: and is merged into a new table, whose checksum fits, is still not answered, and check names the row', async () => {
    await flipText()
    await merge(dir)
    const engine = await openEngine({ dir, repairLog: true })
    await expect(readText(engine, entities - 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    const report = await engine.check()
    expect(report.problems).toMatchObject([{ kind: 'unreadable row', row: 'Entities(p, K:60)' }])
    for (let n = 0; n < entities - 1; n++) expect(await readText(engine, n)).toBe(texts.get(n))
    await engine.close()
  })
})
