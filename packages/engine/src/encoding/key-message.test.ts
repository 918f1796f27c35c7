import { expect, test } from 'vitest'
import { decodeKey, encodeKey, noDefaults } from './key-message.ts'

// Clients leave the project out of their keys.
test('keys without a project share the partition of their namespace, in eight namespaces', () => {
  const messages = Array.from({ length: 8 }, (_, i) =>
    encodeKey({ partition: { ...noDefaults, namespaceId: `n${i}` }, path: [{ kind: 'A', id: 1n }] }),
  )
  const partitions = () => messages.map((bytes) => decodeKey(bytes, { projectId: 'p', databaseId: 'd' }).partition)
  const first = partitions()
  expect(first[7]).toEqual({ projectId: 'p', databaseId: 'd', namespaceId: 'n7' })
  for (const [i, partition] of partitions().entries()) expect(partition).toBe(first[i])
})
