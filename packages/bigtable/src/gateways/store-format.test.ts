import { openEngine } from '@sixtables/engine'
import { topicRowKey, wholeStore } from '@sixtables/engine/store'
import { expect, test } from 'vitest'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import { severalGateways } from './several-gateways.ts'

const key = topicRowKey(wholeStore, 'format')
const open = (rows: MemoryRows, gateway: number, rollForward = true) =>
  openEngine({ store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway }), rollForward })

async function formatOf(rows: MemoryRows): Promise<string | undefined> {
  const value = (await rows.readRows([key], [{ family: 'v', newest: 1 }])).get(key)?.cells.v?.[0]?.value
  return value === undefined ? undefined : Buffer.from(value).subarray(1).toString('utf8')
}

async function write(rows: MemoryRows, text: string): Promise<void> {
  const value = valueCell(Buffer.from(text))
  await rows.mutateRows([{ key, changes: [{ type: 'set', family: 'v', at: 0n, value }] }])
}

test('the first gateway writes the format, and further ones find it', async () => {
  const rows = new MemoryRows()
  await (await open(rows, 1, false)).close()
  expect(await formatOf(rows), 'a reader writes nothing').toBeUndefined()
  const both = await Promise.all([open(rows, 2), open(rows, 3)])
  expect(await formatOf(rows)).toBe('{"format":2,"product":"sixtables"}')
  for (const engine of both) await engine.close()
  await (await open(rows, 4)).close()
})

test('a store of format 1 is read as it is, and gets format 2 from the first gateway', async () => {
  const rows = new MemoryRows()
  const older = '{"format":1,"product":"sixtables"}'
  await write(rows, older)
  await (await open(rows, 1, false)).close()
  expect(await formatOf(rows)).toBe(older)
  await (await open(rows, 2)).close()
  expect(await formatOf(rows)).toBe('{"format":2,"product":"sixtables"}')
})

test.each([
  [
    '{"format":3,"product":"sixtables"}',
    /it has format 3, and this version of sixtables works with format 2\. Start the version/,
  ],
  ['{"product":"sixtables"}', /the row of its format cannot be read \(\{"product/],
  ['2', /cannot be read \(2\)/],
  ['', /cannot be read \(\)/],
])('a store with the format %s is refused, and left as it is', async (text, message) => {
  const rows = new MemoryRows()
  await write(rows, text)
  const refused = { code: 'FAILED_PRECONDITION', message: expect.stringMatching(message) }
  await expect(open(rows, 1)).rejects.toMatchObject(refused)
  await expect(open(rows, 1, false)).rejects.toMatchObject(refused)
  expect(await formatOf(rows)).toBe(text)
})
