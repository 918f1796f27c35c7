/**
 * What is left of a store on disk when the process, or the machine, dies at some moment: the files as the system has them
 * then, and of an unsynced log file any shorter piece.
 */
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../src/storage/data-folder.ts'
import type { Durability } from '../../src/storage/kv.ts'
import { everything, rowsOf } from './row-kv.contract.ts'

let parent: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sixtables-durability-'))
})

afterEach(() => rm(parent, { recursive: true, force: true }))

/** The log file that LevelDB writes to now. */
async function logFile(dir: string): Promise<string> {
  const logs = (await readdir(join(dir, 'rows'))).filter((name) => name.endsWith('.log')).sort()
  return join(dir, 'rows', logs.at(-1) ?? 'no log file')
}

/** Where a store writes down up to where its log is acknowledged. */
const acknowledgedIn = (dir: string): string => join(dir, 'rows', 'ACKNOWLEDGED')

/** The rows of a store as text, opened anew. */
async function reopened(dir: string): Promise<string> {
  const kv = await openDataFolder({ dir, mustExist: true })
  const rows = await rowsOf(kv, everything)
  await kv.close()
  return rows.map((row) => `${row.key}=${row.value.join()}`).join(' ')
}

/** Batch n writes n under two keys and deletes what batch n - 2 wrote: each state can be told from every other. */
function batchOf(n: number): { key: string; value: Uint8Array | undefined }[] {
  return [
    { key: `a${n}`, value: Uint8Array.of(n) },
    { key: `z${n}`, value: new Uint8Array(200).fill(n) },
    { key: `a${n - 2}`, value: undefined },
    { key: `z${n - 2}`, value: undefined },
  ]
}

describe('a store on disk', () => {
  it.each<Durability>(['process', 'power'])(
    'has every acknowledged batch after a kill, with durability %s',
    async (durability) => {
      const dir = join(parent, 'data')
      const kv = await openDataFolder({ dir, durability })
      for (let n = 1; n <= 5; n++) {
        await kv.batch(batchOf(n))
        // The files as they are at this moment are what a killed process leaves.
        const copy = join(parent, `copy${n}`)
        await cp(dir, copy, { recursive: true })
        const rows = await reopened(copy)
        expect(rows).toContain(`a${n}=${n} `)
        expect(rows).toContain(`z${n}=`)
        expect(rows).not.toContain(`a${n - 2}=`)
      }
      await kv.close()
    },
  )

  it('kv/K2: has whole batches, in their order, wherever its log file is cut', async () => {
    const dir = join(parent, 'data')
    const kv = await openDataFolder({ dir })
    const states = ['']
    const acknowledged = [{ bytes: 0, file: await readFile(acknowledgedIn(dir)) }]
    for (let n = 1; n <= 12; n++) {
      await kv.batch(batchOf(n))
      states.push((await rowsOf(kv)).map((row) => `${row.key}=${row.value.join()}`).join(' '))
      acknowledged.push({ bytes: (await stat(await logFile(dir))).size, file: await readFile(acknowledgedIn(dir)) })
    }
    const { size } = await stat(await logFile(dir))
    let last = 0
    for (let cut = 0; cut <= size; cut += Math.ceil(size / 40)) {
      const copy = join(parent, `cut${cut}`)
      await cp(dir, copy, { recursive: true })
      await truncate(await logFile(copy), cut)
      // Killed while it wrote the batch after those that the log has whole.
      await writeFile(acknowledgedIn(copy), acknowledged.findLast(({ bytes }) => bytes <= cut)?.file ?? '')
      const at = states.indexOf(await reopened(copy))
      expect(at, `cut to ${cut} of ${size} bytes`).toBeGreaterThanOrEqual(last)
      last = at
    }
    expect(last).toBeGreaterThan(8)
    await kv.close()
  })

  it('knows the length of its log after each write, also when LevelDB goes on in a new one', async () => {
    const dir = join(parent, 'data')
    const kv = await openDataFolder({ dir })
    const logs = new Set<string>()
    const knowsItsLog = async (): Promise<void> => {
      const log = await logFile(dir)
      logs.add(log)
      const { log: number, bytes } = JSON.parse(await readFile(acknowledgedIn(dir), 'utf8'))
      expect(log).toContain(`${number}.log`)
      expect(bytes).toBe((await stat(log)).size)
    }
    await knowsItsLog()
    for (let n = 0; n < 40; n++) {
      await kv.batch([{ key: `k${String(n).padStart(2, '0')}`, value: new Uint8Array(1 << 20) }])
      await knowsItsLog()
    }
    await kv.clear()
    // LevelDB compacts the range of the cleared rows, for which it may begin a new log without a write.
    await kv.tidy()
    await kv.batch([{ key: 'k00', value: undefined }])
    await knowsItsLog()
    expect(logs.size).toBeGreaterThan(2)
    await kv.close()
    expect(await reopened(dir)).toBe('')
  })

  it('may lose its latest writes, but none that was synced, when the log file is cut to the synced length', async () => {
    const dir = join(parent, 'data')
    const kv = await openDataFolder({ dir, durability: 'power' })
    await kv.batch(batchOf(1))
    const synced = (await stat(await logFile(dir))).size
    const acknowledged = await readFile(acknowledgedIn(dir))
    await kv.batch(batchOf(2))
    const copy = join(parent, 'copy')
    await cp(dir, copy, { recursive: true })
    await truncate(await logFile(copy), synced)
    await writeFile(acknowledgedIn(copy), acknowledged)
    const rows = await reopened(copy)
    expect(rows).toContain('a1=1 ')
    expect(rows).not.toContain('a2=')
    await kv.close()
  })
})
