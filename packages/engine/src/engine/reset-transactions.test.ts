/**
 * A reset and open transactions: only those that have read what goes may end, as ABORTED. Every other one goes on and reads its
 * own moment, and no read fails by a moment that was closed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../test/property/log-world.ts'
import { DatastoreError } from '../errors.ts'
import type { Key, PartitionId } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { openLevelKv } from '../storage/level-kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { AsyncKv } from '../testing/async-kv.ts'
import type { ConcurrencyMode } from '../transactions/transaction.ts'
import { type Engine, openEngine } from './engine.ts'
import type { ResetScope } from './reset.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const stores: Readonly<Record<string, () => Promise<Engine>>> = {
  'in memory': () => openEngine(),
  'on LevelDB': async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-resets-'))
    folders.push(dir)
    return openEngine({ kv: await openLevelKv({ dir }) })
  },
  'by promise': () => openEngine({ kv: new AsyncKv(new MemoryKv()) }),
}

const places: Readonly<Record<string, PartitionId>> = {
  gone: { projectId: 'p', databaseId: '', namespaceId: 'gone' },
  'another namespace': { projectId: 'p', databaseId: '', namespaceId: 'other' },
  'another database': { projectId: 'p', databaseId: 'second', namespaceId: 'gone' },
  'another project': { projectId: 'q', databaseId: '', namespaceId: 'gone' },
}
const scopes: Readonly<Record<string, { readonly scope: ResetScope; readonly goes: readonly string[] }>> = {
  'a namespace': { scope: { projectId: 'p', databaseId: '', namespaceId: 'gone' }, goes: ['gone'] },
  'a database': { scope: { projectId: 'p', databaseId: '' }, goes: ['gone', 'another namespace'] },
  'a project': { scope: { projectId: 'p' }, goes: ['gone', 'another namespace', 'another database'] },
  everything: { scope: {}, goes: Object.keys(places) },
}

const keysOf = (partition: PartitionId): readonly [Key, Key] => [
  { partition, path: [{ kind: 'A', id: 1n }] },
  { partition, path: [{ kind: 'A', id: 2n }] },
]

/** The next steps of an open transaction; answers values, or the code of the refusal. */
class Client {
  readonly #engine: Engine
  readonly partition: PartitionId
  transaction: Uint8Array | undefined

  constructor(engine: Engine, partition: PartitionId) {
    this.#engine = engine
    this.partition = partition
  }

  get #database() {
    return this.#engine.database(this.partition.projectId, this.partition.databaseId)
  }

  async begin(mode: 'readOnly' | 'readWrite'): Promise<void> {
    this.transaction = await this.#database.beginTransaction(this.#engine.context(), { mode })
  }

  lookup(at: 0 | 1): Promise<unknown> {
    return outcomeOf(async () => {
      const { found } = await this.#database.lookup(this.#engine.context(), {
        keys: [keysOf(this.partition)[at]],
        ...(this.transaction === undefined ? {} : { read: { transaction: this.transaction } }),
      })
      return found.map(({ image }) => storedValue(image.properties))
    })
  }

  query(): Promise<unknown> {
    const query: Query = {
      partition: this.partition,
      kind: 'A',
      projection: [],
      filter: undefined,
      order: [{ property: 'v', direction: 'ascending' }],
      distinctOn: [],
      offset: 0,
    }
    return outcomeOf(async () => {
      const { results } = await this.#database.runQuery(this.#engine.context(), {
        query,
        ...(this.transaction === undefined ? {} : { read: { transaction: this.transaction } }),
      })
      return results.map(({ image }) => (image === undefined ? undefined : storedValue(image.properties)))
    })
  }

  write(values: readonly [number, number]): Promise<unknown> {
    const { transaction } = this
    const mutations = keysOf(this.partition).map((key, i) => mutationOf(key, values[i] as number))
    return outcomeOf(async () => {
      await this.#database.commit(
        this.#engine.context(),
        transaction === undefined
          ? { mode: 'nonTransactional', mutations }
          : { mode: 'transactional', transaction, mutations },
      )
      return 'committed'
    })
  }

  commit(): Promise<unknown> {
    const transaction = this.transaction as Uint8Array
    return outcomeOf(async () => {
      await this.#database.commit(this.#engine.context(), { mode: 'transactional', transaction, mutations: [] })
      return 'committed'
    })
  }
}

async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return error instanceof DatastoreError ? `${error.code}: ${error.message}` : `${error}`
  }
}

const aborted = expect.stringMatching(/^ABORTED: .* was deleted by a reset; try again\)$/)
const modes: readonly ConcurrencyMode[] = ['pessimistic', 'optimistic', 'optimisticWithEntityGroups']

describe.each(Object.keys(stores))('%s', (store) => {
  describe.each(modes)('%s', (concurrency) => {
    test.each(Object.keys(scopes))('a reset of %s ends only what has read there, as ABORTED', async (name) => {
      const { scope, goes } = scopes[name] as { scope: ResetScope; goes: readonly string[] }
      const engine = await (stores[store] as () => Promise<Engine>)()
      engine.configure({ concurrency })
      const clients = (): Client[] => Object.values(places).map((partition) => new Client(engine, partition))
      for (const client of clients()) await client.write([1, 2])
      const [readers, writers, idle] = [clients(), clients(), clients()] as const
      for (const reader of readers) {
        await reader.begin('readOnly')
        expect(await reader.lookup(0)).toEqual([1])
      }
      for (const writer of writers) {
        await writer.begin('readWrite')
        expect(await writer.lookup(0)).toEqual([1])
      }
      for (const one of idle) await one.begin('readWrite')
      await engine.reset(scope)
      for (const [i, place] of Object.keys(places).entries()) {
        const hasGone = goes.includes(place)
        const [reader, writer, other] = [readers[i], writers[i], idle[i]] as [Client, Client, Client]
        const kept = hasGone ? expect.toSatisfy(isAbortedOr([2])) : [2]
        expect(await reader.lookup(1), `read-only in ${place}`).toEqual(kept)
        if (concurrency !== 'optimisticWithEntityGroups') {
          const both = hasGone ? expect.toSatisfy(isAbortedOr([1, 2])) : [1, 2]
          expect(await reader.query(), `a query, read-only in ${place}`).toEqual(both)
        }
        expect(await writer.lookup(1), place).toEqual(hasGone ? aborted : [2])
        expect(await writer.write([3, 4]), place).toEqual(hasGone ? aborted : 'committed')
        expect(await other.lookup(0), `nothing read before in ${place}`).toEqual(hasGone ? [] : [3])
        expect(await other.commit(), `nothing read before in ${place}`).toBe('committed')
      }
      expect(await engine.check()).toMatchObject({ problemCount: 0 })
      await engine.close()
    })

    test('what a transaction reads after a reset at its moment of before is a conflict', async () => {
      const engine = await (stores[store] as () => Promise<Engine>)()
      engine.configure({ concurrency })
      const { gone, 'another namespace': other } = places as { gone: PartitionId; 'another namespace': PartitionId }
      for (const partition of [gone, other]) await new Client(engine, partition).write([1, 2])
      const client = new Client(engine, other)
      await client.begin('readWrite')
      expect(await client.lookup(0)).toEqual([1])
      await engine.reset({ projectId: 'p', databaseId: '', namespaceId: 'gone' })
      const there = new Client(engine, gone)
      there.transaction = client.transaction
      const seen = await there.lookup(0)
      const written = await client.write([3, 4])
      const isNewest = JSON.stringify(seen) === '[]' && written === 'committed'
      if (!isNewest) expect(written).toEqual(aborted)
      await engine.close()
    })
  })

  test('a read under way goes on when its transaction ends', async () => {
    const engine = await (stores[store] as () => Promise<Engine>)()
    const client = new Client(engine, places['another namespace'] as PartitionId)
    await client.write([1, 2])
    for (const end of ['rollback', 'reset'] as const) {
      await client.begin('readOnly')
      await client.lookup(0)
      const reading = [client.query(), client.lookup(1)]
      const { transaction } = client
      if (end === 'reset') await engine.reset({ projectId: 'p', databaseId: '' })
      else await engine.database('p').rollback(engine.context(), transaction as Uint8Array)
      const [query, lookup] = await Promise.all(reading)
      expect(query, end).toSatisfy(end === 'reset' ? isAbortedOr([1, 2]) : is([1, 2]))
      expect(lookup, end).toSatisfy(end === 'reset' ? isAbortedOr([2]) : is([2]))
    }
    await engine.close()
  })
})

function is(values: unknown): (outcome: unknown) => boolean {
  return (outcome) => JSON.stringify(outcome) === JSON.stringify(values)
}

function isAbortedOr(values: unknown): (outcome: unknown) => boolean {
  return (outcome) => is(values)(outcome) || (typeof outcome === 'string' && outcome.startsWith('ABORTED: '))
}
