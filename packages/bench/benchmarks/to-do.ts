/**
 * Entities for benchmarks of the store on disk, 300 bytes each: 15 rows, log record included.
 *
 *   Task "n0000042"   cat: one of 100 texts, score: 0 … 9,999, rank: its number, done, at: a time, tag: one of some 1,000
 *                     texts; body: 110 characters, not indexed
 */
import { type Engine, encodeKey, encodeProperties, type Value } from '@sixtables/engine'
import { concat } from './wire/messages.ts'

export const project = 'bench'

function text(value: string): Value {
  return { type: 'string', value }
}

export function entity(i: number): Uint8Array {
  const partition = { projectId: project, databaseId: '', namespaceId: '' }
  const hash = Math.imul(i + 1, 0x9e3779b1) >>> 0
  const key = encodeKey({ partition, path: [{ kind: 'Task', name: `n${String(i).padStart(7, '0')}` }] })
  const properties = encodeProperties(
    new Map<string, Value>([
      ['cat', text(`c${i % 100}`)],
      ['score', { type: 'integer', value: BigInt(hash % 10_000) }],
      ['rank', { type: 'integer', value: BigInt(i) }],
      ['done', { type: 'boolean', value: (hash & 1) === 1 }],
      ['at', { type: 'timestamp', micros: BigInt(1_700_000_000 + i) * 1_000_000n }],
      ['tag', text(`word-${hash & 15}-${hash % 1000}`)],
      ['body', { ...text('x'.repeat(110)), excludeFromIndexes: true }],
    ]),
  )
  return concat(Uint8Array.of(0x0a, key.length), key, properties)
}

/** Upserts the entities from number `from` on, in one commit. */
export async function put(engine: Engine, from: number, count: number): Promise<void> {
  const mutations = Array.from({ length: count }, (_, i) => ({
    operation: 'upsert' as const,
    entity: entity(from + i),
  }))
  await engine.database(project).commit(engine.context(), { mode: 'nonTransactional', mutations })
}
