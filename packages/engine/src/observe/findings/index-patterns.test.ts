import { afterEach, expect, test, vi } from 'vitest'
import { IndexPatterns } from './index-patterns.ts'

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
