import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutationOf, worldKeys } from '../../test/property/log-world.ts'
import { openEngine } from '../engine/engine.ts'

const [key] = worldKeys

test.each(['optimistic', 'optimisticWithEntityGroups'] as const)(
  '%s: a transaction whose first read waited on disk for a commit to be applied fails when what it read has changed',
  async (concurrency) => {
    const dir = await mkdtemp(join(tmpdir(), 'sixtables-views-'))
    const engine = await openEngine({ dir, apply: { type: 'manual' } })
    const database = engine.database('p')
    database.configure({ concurrency })
    const commit = async (value: number, transaction?: Uint8Array) =>
      database.commit(engine.context(), {
        ...(transaction === undefined ? { mode: 'nonTransactional' } : { mode: 'transactional', transaction }),
        mutations: [mutationOf(key, value)],
      })
    await commit(1)
    const transaction = await database.beginTransaction(engine.context(), { mode: 'readWrite' })
    const { found } = await database.lookup(engine.context(), { keys: [key], read: { transaction } })
    expect(found).toHaveLength(1)
    await commit(2)
    await expect(commit(3, transaction)).rejects.toMatchObject({ code: 'ABORTED' })
    await engine.close()
    await rm(dir, { recursive: true })
  },
)
