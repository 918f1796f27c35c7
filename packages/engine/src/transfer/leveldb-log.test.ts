import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { crc32c, maskCrc } from '../encoding/crc32c.ts'
import { blockBytes } from '../leveldb/log-format.ts'
import { sliceWorkMax } from '../slices.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { LogWriter, readLog, recordBytesMax } from './leveldb-log.ts'

let folder: string
let path: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-log-'))
  path = join(folder, 'log')
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const context = () => requestContext({ clock: systemScheduler })

async function write(records: readonly Uint8Array[]): Promise<number> {
  rmSync(path, { force: true })
  const log = new LogWriter(path)
  for (const record of records) await log.add(record)
  await log.flush()
  return log.bytes
}

async function read(): Promise<{ offsets: number[]; records: Buffer[] }> {
  const offsets: number[] = []
  const records: Buffer[] = []
  for await (const { bytes, offset } of readLog(context(), path)) {
    offsets.push(offset)
    records.push(Buffer.from(bytes))
  }
  return { offsets, records }
}

/** Bytes that differ from place to place, so that a part in the wrong place is seen. */
function record(length: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + seed) & 0xff))
}

describe('records of any length come back', () => {
  const lengths = [0, 1, 6, 7, 8, 1000, ...[-15, -14, -13, -8, -7, -6, -1, 0, 1, 7].map((d) => blockBytes + d)]
  test.each([...lengths, 3 * blockBytes, 300_000, 1_000_000])('%i bytes, and small ones around it', async (length) => {
    const records = [record(3, 1), record(length, 2), record(5, 3), record(0, 4)]
    await write(records)
    expect((await read()).records.map((found, i) => found.equals(records[i] ?? Buffer.of()))).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  test('records that end anywhere in a block, next to its end too', async () => {
    for (let rest = 0; rest <= 16; rest++) {
      const records = [record(blockBytes - 7 - rest, rest), record(40, 9), record(2, 10)]
      expect(await write(records)).toBe(readFileSync(path).length)
      expect((await read()).records).toEqual(records)
    }
  })

  test('many records, more than are held in memory at once', async () => {
    const records = Array.from({ length: 900 }, (_, i) => record((i * 37) % 2000, i))
    await write(records)
    const found = await read()
    expect(found.records).toEqual(records)
    expect(found.offsets[0]).toBe(0)
    expect(new Set(found.offsets).size).toBe(records.length)
  })

  test('a file without records is empty', async () => {
    expect(await write([])).toBe(0)
    expect((await read()).records).toEqual([])
  })

  test('a last block that is filled with zeros is accepted', async () => {
    await write([record(10, 1)])
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(500)]))
    expect((await read()).records).toEqual([record(10, 1)])
  })
})

test('many records are read in many turns', async () => {
  await write(Array.from({ length: 20_000 }, () => record(0, 1)))
  let turns = 0
  for await (const _ of readLog(requestContext({ clock: turnScheduler(() => turns++) }), path));
  expect(turns).toBeGreaterThanOrEqual(Math.floor(20_000 / sliceWorkMax))
})

test('a fragment is laid out as LevelDB has it', async () => {
  await write([Buffer.from('foo')])
  const data = Buffer.from([1, ...Buffer.from('foo')])
  const head = Buffer.alloc(6)
  head.writeUInt32LE(maskCrc(crc32c(data)))
  head.writeUInt16LE(3, 4)
  expect(readFileSync(path).toString('hex')).toBe(Buffer.concat([head, data]).toString('hex'))
})

describe('a damaged file is refused with its place', () => {
  const records = [record(100, 1), record(50_000, 2), record(10, 3)]

  test('at any changed byte', async () => {
    await write(records)
    const bytes = readFileSync(path)
    for (const at of [0, 4, 6, 7, 50, 106, 107, 113, 20_000, 32_767, 32_768, 40_000, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x41
      writeFileSync(path, changed)
      await expect(read(), `byte ${at}`).rejects.toThrow(new RegExp(`${path} is damaged at byte \\d+: `))
    }
  })

  test('at its end, wherever it is cut within a record', async () => {
    await write(records)
    const bytes = readFileSync(path)
    const ends = new Set([0, 107, bytes.length - 17, bytes.length])
    for (const end of [1, 6, 7, 8, 50, 106, 108, 114, 20_000, 32_768, 32_770, 40_000, ...[17, 16, 5, 1].map(fromEnd)]) {
      writeFileSync(path, bytes.subarray(0, end))
      if (ends.has(end)) await read()
      else await expect(read(), `cut to ${end}`).rejects.toThrow(/is damaged at byte \d+: the file ends within/)
    }
    function fromEnd(count: number): number {
      return bytes.length - count
    }
  })

  test('with parts of records out of order', async () => {
    const fragment = (type: number): Buffer => {
      const data = Buffer.from([type, 65])
      const head = Buffer.alloc(6)
      head.writeUInt32LE(maskCrc(crc32c(data)))
      head.writeUInt16LE(1, 4)
      return Buffer.concat([head, data])
    }
    const cases: readonly (readonly [types: readonly number[], message: string])[] = [
      [[3], 'at byte 0: a part of a record comes without its beginning'],
      [[1, 4], 'at byte 8: a part of a record comes without its beginning'],
      [[2, 1], 'at byte 8: a record begins before the one before it has ended'],
      [[2, 3], 'at byte 16: the file ends within the record that begins at byte 0'],
      [[9], 'at byte 0: a fragment has the unknown type 9'],
    ]
    for (const [types, message] of cases) {
      writeFileSync(path, Buffer.concat(types.map(fragment)))
      await expect(read()).rejects.toThrow(message)
    }
  })

  test('with zeros that fill a block before the last one', async () => {
    await write([record(10, 1)])
    const bytes = Buffer.concat([readFileSync(path), Buffer.alloc(blockBytes)])
    writeFileSync(path, Buffer.concat([bytes.subarray(0, blockBytes), bytes.subarray(0, 17)]))
    await expect(read()).rejects.toThrow('at byte 17: zeros fill the block, and it is not the last one')
  })

  test('with a record that does not end within 32 MiB', async () => {
    await write([record(3, 1), Buffer.alloc(recordBytesMax + 1)])
    await expect(read()).rejects.toThrow('at byte 10: a record has more than 33554432 bytes')
  })

  test('that is a folder, or too large', async () => {
    await expect(readLog(context(), folder).next()).rejects.toThrow(`${folder} is not a file; an import reads files`)
    await write([record(3, 1)])
    await expect(readLog(context(), path, 9).next()).rejects.toThrow('has 10 bytes, at most 9 are read')
  })

  test('that is not there', async () => {
    await expect(readLog(context(), join(folder, 'none')).next()).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `there is no file ${join(folder, 'none')}`,
    })
  })
})
