import { afterEach, expect, test, vi } from 'vitest'
import { keyCodes } from '../../encoding/key-codec.ts'
import { encodeText } from '../../encoding/ordered.ts'
import { typeBytes } from '../../encoding/value-types.ts'
import { EntityRows } from '../../tables/entity-rows.ts'
import { IndexPatterns } from './index-patterns.ts'
import { OrderSample } from './order-sample.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('however many properties queries name, few names are kept', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const added = vi.spyOn(Set.prototype, 'add')
  for (let i = 0; i < 2000; i++) {
    patterns.noteQuery({
      partition: { projectId: 'p', databaseId: '', namespaceId: '' },
      kind: 'Task',
      properties: [`property ${i}`],
      indexes: [],
      returned: 0,
      skipped: 0,
    })
  }
  const largest = Math.max(...(added.mock.contexts as Set<unknown>[]).map(({ size }) => size))
  added.mockRestore()
  expect(largest).toBe(512)
})

test('of an entity with many values few are looked at', () => {
  const patterns = new IndexPatterns({ indexInWords: () => undefined })
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const codes = keyCodes({ partition, path: [{ kind: 'Task', id: 1n }] })
  const afterEntries = Array.from({ length: 5000 }, (_, i) => {
    return { property: 'tags', valueCode: `\x28${encodeText(String(i))}`, type: typeBytes.blob, multi: true }
  })
  const delta = { codes, before: undefined, after: new Uint8Array(1), afterEntries }
  const change = new EntityRows(delta, { indexes: [], indexOptions: {} })
  const added = vi.spyOn(OrderSample.prototype, 'add')
  patterns.noteCommitted([{ partition: codes.partition, change, standsFor: 1 }])
  expect(added.mock.calls.length).toBeLessThanOrEqual(1024)
})
