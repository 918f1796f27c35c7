import { beforeEach, describe, expect, it, vi } from 'vitest'
import { DatastoreError } from '../errors.ts'
import type { WriteSource } from './kv.ts'
import type { LevelDatabase } from './level-version.ts'
import { LevelWriter } from './level-writer.ts'

/** A LevelDB that notes what it is told and settles batches when the test says so. */
class FakeLevel {
  readonly batches: { readonly rows: string[]; readonly sync: boolean; readonly settle: (error?: Error) => void }[] = []

  batch(): unknown {
    const rows: string[] = []
    const batch = {
      put(key: Buffer, value: Uint8Array) {
        rows.push(`${key.toString('latin1')}=${value.join()}`)
        return batch
      },
      del(key: Buffer) {
        rows.push(`${key.toString('latin1')}-`)
        return batch
      },
      close: () => Promise.resolve(),
      write: ({ sync }: { sync: boolean }) =>
        new Promise<void>((resolve, reject) => {
          this.batches.push({ rows, sync, settle: (error) => (error === undefined ? resolve() : reject(error)) })
        }),
    }
    return batch
  }

  async clear(): Promise<void> {}
}

const turn = (): Promise<void> => new Promise(setImmediate)
const put = (key: string, value = 1) => [{ key, value: Uint8Array.of(value) }]

describe('the writer of a LevelDB store', () => {
  let level: FakeLevel
  let acknowledged: number
  let writer: LevelWriter

  const open = (durability: 'process' | 'power'): LevelWriter =>
    new LevelWriter(level as unknown as LevelDatabase, durability, {
      beforeWrite() {},
      afterWrite(groups) {
        acknowledged += groups.length
      },
    })

  beforeEach(() => {
    level = new FakeLevel()
    acknowledged = 0
    writer = open('process')
  })

  it('merges what comes while a batch is under way, in its order', async () => {
    const first = writer.submit(put('a'))
    const others = [writer.submit(put('b')), writer.submit([...put('a', 2), { key: 'c', value: undefined }])]
    expect(level.batches.map((batch) => batch.rows)).toEqual([['a=1']])
    level.batches[0]?.settle()
    await first
    expect(acknowledged).toBe(1)
    expect(level.batches.map((batch) => batch.rows)).toEqual([['a=1'], ['b=1', 'a=2', 'c-']])
    level.batches[1]?.settle()
    await Promise.all(others)
    expect(acknowledged).toBe(3)
  })

  it('knows the newest write to a key until it is acknowledged', async () => {
    const first = writer.submit(put('a', 1))
    expect(writer.pending('a')?.value).toEqual(Uint8Array.of(1))
    const second = writer.submit([...put('a', 2), ...put('a', 3)])
    expect(writer.pending('a')?.value).toEqual(Uint8Array.of(3))
    expect(writer.pending('b')).toBeUndefined()
    const third = writer.move([{ start: '', end: 'b' }], [])
    expect(writer.pending('a')).toMatchObject({ value: undefined })
    level.batches[0]?.settle()
    await first
    level.batches[1]?.settle()
    await second
    await turn()
    level.batches[2]?.settle()
    await third
    expect(writer.pending('a')).toBeUndefined()
  })

  it('a range of any number of rows moves by one row, and later writes to it go to its new area', async () => {
    const written = [
      writer.submit(put('a', 1)),
      writer.submit([...put('b', 2), ...put('c', 2)]),
      writer.move([{ start: 'b', end: 'c' }], []),
      writer.submit([...put('b', 3), ...put('c', 3)]),
    ]
    for (let i = 0; i < 3; i++) {
      level.batches[i]?.settle()
      await written[i]
    }
    await written[3]
    const area = '\xff'.repeat(6)
    const rows = level.batches.map((batch) => batch.rows.map((row) => row.replace(/(\0{4})=.*/, '$1=table')))
    expect(rows).toEqual([['a=1'], ['b=2', 'c=2'], [`${area}\0\0\0\0=table`, `${area}\0\0\0\x01b=3`, 'c=3']])
  })

  it('writes rows that are made meanwhile, and knows them by what they begin with', async () => {
    const rows: WriteSource = {
      count: 3,
      *writeTo({ wants = () => true, write }) {
        write('c', Uint8Array.of(1))
        yield 1
        for (const key of ['ax', 'bx']) if (wants(key.charAt(0))) write(key, Uint8Array.of(7))
      },
    }
    const written = writer.submit(rows)
    expect(writer.pending('bx')?.value).toEqual(Uint8Array.of(7))
    expect(writer.pending('bxx')).toBeUndefined()
    expect(level.batches.map((batch) => batch.rows)).toEqual([['c=1', 'ax=7', 'bx=7']])
    level.batches[0]?.settle()
    await written
  })

  it('a source that breaks off takes with it what is in its batch, and nothing more is written', async () => {
    const first = writer.submit(put('a'))
    const second = writer.submit(put('b'))
    const broken = writer.submit({
      count: 2,
      *writeTo({ write }) {
        write('x', Uint8Array.of(1))
        yield 1
        throw new Error('no such row')
      },
    })
    const outcomes = Promise.allSettled([second, broken, writer.submit(put('c'))])
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    level.batches[0]?.settle()
    await first
    await writer.idle()
    expect(level.batches.map((batch) => batch.rows)).toEqual([['a=1']])
  })

  /** Rows that go in a few hundred steps, and how many of them have gone. */
  const longList = (): WriteSource & { steps: number } => ({
    count: 20_000,
    steps: 0,
    *writeTo({ write }) {
      for (let i = 0; i < 500; i++) {
        this.steps++
        write(`l${i}`, Uint8Array.of(1))
        yield 40
      }
    },
  })

  it('a long list goes in slices, and what comes later goes after all of it', async () => {
    const list = longList()
    const first = writer.submit(list)
    const later = writer.submit(put('l0', 2))
    expect(list.steps).toBeLessThan(500)
    expect(level.batches).toEqual([])
    expect(writer.pending('l0')?.value).toEqual(Uint8Array.of(2))
    expect(writer.pending('l499')?.value).toEqual(Uint8Array.of(1))
    await vi.waitFor(() => expect(level.batches).toHaveLength(1), { timeout: 60_000 })
    expect(level.batches[0]?.rows).toHaveLength(500)
    level.batches[0]?.settle()
    await first
    expect(level.batches[1]?.rows).toEqual(['l0=2'])
    level.batches[1]?.settle()
    await later
  })

  it('a search for the newest value of a row makes rows with its prefix alone', async () => {
    const made: string[] = []
    const first = writer.submit({
      count: 4,
      *writeTo({ wants, write }) {
        for (const key of ['a1', 'a2', 'b1', 'b2']) {
          if (wants?.(key.slice(0, 1)) === false) continue
          if (wants !== undefined) made.push(key)
          write(key, Uint8Array.of(1))
          yield 1
        }
      },
    })
    expect(writer.pending('b2')?.value).toEqual(Uint8Array.of(1))
    expect(made).toEqual(['b1', 'b2'])
    level.batches[0]?.settle()
    await first
  })

  it('searches for rows of one key space make the rows of a list once', async () => {
    const list = longList()
    const first = writer.submit(list)
    await vi.waitFor(() => expect(level.batches).toHaveLength(1), { timeout: 60_000 })
    const { steps } = list
    for (let i = 0; i < 500; i++) expect(writer.pending(`l${i}`)?.value).toEqual(Uint8Array.of(1))
    expect(writer.pending('l500')).toBeUndefined()
    expect(list.steps).toBe(steps + 500)
    level.batches[0]?.settle()
    await first
  })

  it('when an earlier batch fails, a long list goes no further', async () => {
    const failed = writer.submit(put('a'))
    const list = longList()
    const outcomes = Promise.allSettled([failed, writer.submit(list)])
    level.batches[0]?.settle(new Error('no space left'))
    expect(await outcomes).toMatchObject([{ reason: { committed: 'unknown' } }, { reason: { committed: 'no' } }])
    const { steps } = list
    expect(steps).toBeLessThan(500)
    for (let i = 0; i < 20; i++) await turn()
    expect(list.steps).toBe(steps)
    expect(level.batches).toHaveLength(1)
  })

  it('asks LevelDB to sync only for durability power', async () => {
    const writes = [writer.submit(put('a')), open('power').submit(put('a'))]
    expect(level.batches.map((batch) => batch.sync)).toEqual([false, true])
    for (const batch of level.batches) batch.settle()
    await Promise.all(writes)
  })

  it('kv/K5: after a failed batch refuses what waits and what comes, and tells whose outcome is unknown', async () => {
    const failed = writer.submit(put('a'))
    const waiting = writer.submit(put('b'))
    level.batches[0]?.settle(new Error('no space left'))
    const [one, two] = await Promise.allSettled([failed, waiting])
    const late = await writer.submit(put('c')).catch((error: unknown) => error)
    expect(one).toMatchObject({ reason: { code: 'UNAVAILABLE', committed: 'unknown' } })
    expect(two).toMatchObject({ reason: { code: 'UNAVAILABLE', committed: 'no' } })
    expect(late).toMatchObject({ code: 'UNAVAILABLE', committed: 'no' })
    expect((late as Error).message).toMatch(/no space left.*opened anew/)
    expect(level.batches.length).toBe(1)
    expect(acknowledged).toBe(0)
    await writer.idle()
  })

  it('lets what was submitted run before it is idle, and refuses what comes after refuse()', async () => {
    const first = writer.submit(put('a'))
    const second = writer.submit(put('b'))
    writer.refuse(new DatastoreError('UNAVAILABLE', 'closed'))
    await expect(writer.submit(put('c'))).rejects.toThrow('closed')
    let idle = false
    const done = writer.idle().then(() => {
      idle = true
    })
    level.batches[0]?.settle()
    await first
    await turn()
    expect(idle).toBe(false)
    level.batches[1]?.settle()
    await Promise.all([second, done])
  })
})
