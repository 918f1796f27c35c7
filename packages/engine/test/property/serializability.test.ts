/**
 * transactions/X1: committed transactions are serializable, in each concurrency mode, under every order of steps and answers, on every store
 * and whatever the apply policy and the mode of the database. `npm run test:deep` runs more histories.
 *
 * Clients run transactions of lookups, queries and writes, interleaved by fast-check's scheduler. Afterwards the committed
 * ones are replayed one by one, in the order of their commit versions, on a plain map: each must have read what the replay
 * reads. A read-only transaction must have read one state that the replay passes through.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { ApplyPolicy } from '../../src/log/apply-policy.ts'
import type { Key } from '../../src/model/key.ts'
import type { Kv } from '../../src/storage/kv.ts'
import { openLevelKv } from '../../src/storage/level-kv.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { ConcurrencyMode } from '../../src/transactions/transaction.ts'
import { mutationOf, storedValue } from './log-world.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

/** Two groups of two entities. */
const keys: readonly Key[] = ['g', 'h'].flatMap((root) =>
  [1n, 2n].map((id) => ({
    partition,
    path: [
      { kind: 'G', name: root },
      { kind: 'A', id },
    ],
  })),
)
const roots = ['g', 'h']

type Operation =
  | { readonly type: 'lookup'; readonly entity: number }
  /** Entities of a group (or of both, where the mode allows it) whose value is odd or even. */
  | { readonly type: 'query'; readonly group: number; readonly parity: number }
  | { readonly type: 'write'; readonly entity: number; readonly parity: number }
  | { readonly type: 'delete'; readonly entity: number }

interface Script {
  readonly readOnly: boolean
  readonly operations: readonly Operation[]
  readonly ending: 'commit' | 'rollback' | 'abandon'
}

interface Done {
  readonly script: Script
  readonly reads: readonly unknown[]
  readonly writes: ReadonlyMap<number, number | undefined>
  /** Absent when it did not commit. */
  version?: bigint
}

const entity = fc.nat({ max: keys.length - 1 })
const parity = fc.nat({ max: 1 })

function scripts(mode: ConcurrencyMode): fc.Arbitrary<Script[][]> {
  const groups = mode === 'optimisticWithEntityGroups' ? 1 : 2
  const operation: fc.Arbitrary<Operation> = fc.oneof(
    fc.record({ type: fc.constant('lookup' as const), entity }),
    fc.record({ type: fc.constant('query' as const), group: fc.nat({ max: groups }), parity }),
    fc.record({ type: fc.constant('write' as const), entity, parity }),
    fc.record({ type: fc.constant('delete' as const), entity }),
  )
  const script = fc.record({
    readOnly: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    ending: fc.oneof(
      { weight: 8, arbitrary: fc.constant('commit' as const) },
      { weight: 1, arbitrary: fc.constant('rollback' as const) },
    ),
  })
  return fc.array(fc.array(script, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 4 })
}

/** Values differ by writer, so that a read tells whose write it saw; the parity is what queries ask for. */
let lastValue = 0

class Client {
  readonly done: Done[] = []
  readonly #engine: Engine
  readonly #step: () => Promise<void>

  constructor(engine: Engine, step: () => Promise<void>) {
    this.#engine = engine
    this.#step = step
  }

  async run(script: readonly Script[]): Promise<void> {
    for (const one of script) await this.#transaction(one)
  }

  async #transaction(script: Script): Promise<void> {
    const database = this.#engine.database('p')
    const context = this.#engine.context()
    const mode = script.readOnly ? 'readOnly' : 'readWrite'
    const transaction = await database.beginTransaction(context, { mode })
    const reads: unknown[] = []
    const writes = new Map<number, number | undefined>()
    const done: Done = { script, reads, writes }
    try {
      for (const operation of script.operations) {
        await this.#step()
        if (operation.type === 'lookup') {
          const { found } = await database.lookup(context, {
            keys: [keys[operation.entity] as Key],
            read: { transaction },
          })
          reads.push(found[0] === undefined ? undefined : storedValue(found[0].image.properties))
        } else if (operation.type === 'query') {
          reads.push(await this.#query(operation, transaction))
        } else if (!script.readOnly) {
          if (operation.type === 'delete') writes.set(operation.entity, undefined)
          else writes.set(operation.entity, 2 * ++lastValue + operation.parity)
        }
      }
      await this.#step()
      if (script.ending === 'rollback') {
        await database.rollback(context, transaction)
        return
      }
      const mutations = [...writes].map(([at, value]) => mutationOf(keys[at] as Key, value))
      const { commitTime } = await database.commit(context, { mode: 'transactional', transaction, mutations })
      if (commitTime !== undefined) done.version = commitTime
      this.done.push(done)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ABORTED')) throw error
    }
  }

  async #query(operation: Operation & { type: 'query' }, transaction: Uint8Array): Promise<readonly number[]> {
    const root = roots[operation.group]
    const value = { type: 'integer', value: BigInt(operation.parity) } as const
    const parityFilter = { type: 'property', property: 'parity', operator: 'equal', value } as const
    const ancestor = { partition, path: [{ kind: 'G', name: root ?? '' }] }
    const batch = await this.#engine.database('p').runQuery(this.#engine.context(), {
      query: {
        partition,
        kind: 'A',
        projection: [],
        filter:
          root === undefined
            ? parityFilter
            : {
                type: 'composite',
                operator: 'and',
                filters: [
                  parityFilter,
                  {
                    type: 'property',
                    property: '__key__',
                    operator: 'hasAncestor',
                    value: { type: 'key', key: ancestor },
                  },
                ],
              },
        order: [],
        distinctOn: [],
        offset: 0,
      },
      read: { transaction },
    })
    return batch.results.map(({ image }) => (image === undefined ? -1 : storedValue(image.properties)))
  }
}

/** What a script reads in a state, in the order of its reads. */
function replay(script: Script, state: ReadonlyMap<number, number>): unknown[] {
  const reads: unknown[] = []
  for (const operation of script.operations) {
    if (operation.type === 'lookup') reads.push(state.get(operation.entity))
    if (operation.type === 'query') {
      const found: number[] = []
      for (let at = 0; at < keys.length; at++) {
        const value = state.get(at)
        const inGroup = operation.group === roots.length || Math.floor(at / 2) === operation.group
        if (value !== undefined && inGroup && value % 2 === operation.parity) found.push(value)
      }
      reads.push(found)
    }
  }
  return reads
}

function expectSerializable(done: readonly Done[]): void {
  const writers = done.filter(({ writes }) => writes.size > 0)
  writers.sort((a, b) => ((a.version ?? 0n) < (b.version ?? 0n) ? -1 : 1))
  const state = new Map<number, number>()
  const states = [new Map(state)]
  for (const { script, reads, writes } of writers) {
    expect(reads, 'a committed transaction read what a serial run reads').toEqual(replay(script, state))
    for (const [at, value] of writes) {
      if (value === undefined) state.delete(at)
      else state.set(at, value)
    }
    states.push(new Map(state))
  }
  for (const { script, reads } of done) {
    if (!script.readOnly) continue
    const matches = states.some((past) => JSON.stringify(replay(script, past)) === JSON.stringify(reads))
    expect(matches, `a read-only transaction read one state: ${JSON.stringify(reads)}`).toBe(true)
  }
}

const modes: readonly ConcurrencyMode[] = ['pessimistic', 'optimistic', 'optimisticWithEntityGroups']
const policies: readonly ApplyPolicy[] = [
  { type: 'immediate' },
  { type: 'manual' },
  { type: 'probability', chance: 0.5 },
  { type: 'time', delayMs: 1 },
]

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Body {
  readonly name: string
  readonly histories: number
  open(hop: () => Promise<void>): Kv | Promise<Kv>
}

const settings = fc.record({
  applyPolicy: fc.constantFrom(...policies),
  mode: fc.constantFrom('firestore' as const, 'legacy' as const),
})

const bodies: readonly Body[] = [
  { name: 'a store that answers at once', histories: 40, open: () => new MemoryKv() },
  { name: 'a store that answers by promise', histories: 40, open: (hop) => new AsyncKv(new MemoryKv(), { hop }) },
  {
    name: 'LevelDB',
    histories: 24,
    open: () => {
      const dir = mkdtempSync(join(tmpdir(), 'sixtables-histories-'))
      folders.push(dir)
      return openLevelKv({ dir })
    },
  },
]

describe.each(modes)('in mode %s', (mode) => {
  test.each(bodies)(
    'committed transactions are serializable on $name (transactions/X1)',
    async ({ histories, open }) => {
      let committed = 0
      let aborted = 0
      const law = fc.asyncProperty(
        scripts(mode),
        settings,
        fc.scheduler(),
        async (clientScripts, setting, scheduler) => {
          const clock = new VirtualClock()
          const hop = (): Promise<void> => scheduler.schedule(Promise.resolve())
          const step = async (): Promise<void> => {
            await hop()
            // What a policy delays falls between two steps.
            if (setting.applyPolicy.type === 'time') void clock.advance(0.4)
          }
          const opening = openEngine({ kv: await open(hop), scheduler: clock })
          await scheduler.waitFor(opening)
          const engine = await opening
          engine.database('p').configure({ ...setting, concurrency: mode })
          const clients = clientScripts.map((script) => ({ client: new Client(engine, step), script }))
          await scheduler.waitFor(Promise.all(clients.map(({ client, script }) => client.run(script))))
          const done = clients.flatMap(({ client }) => client.done)
          committed += done.length
          aborted += clientScripts.flat().filter(({ ending }) => ending === 'commit').length - done.length
          expectSerializable(done)
          expect(await scheduler.waitFor(engine.check())).toMatchObject({ problemCount: 0 })
          await scheduler.waitFor(engine.close())
        },
      )
      await fc.assert(law, { numRuns: histories / 2, seed: 1 })
      // Counted for one seed: with random seeds the count would fall below any bound now and then.
      // The histories must be worth their while: some go through, some meet.
      expect(committed).toBeGreaterThan(histories / 2)
      // Those that wait for each other are aborted only in a deadlock: a hundred histories may have none.
      if (mode !== 'pessimistic') expect(aborted).toBeGreaterThan(0)
      await fc.assert(law, { numRuns: runs(histories / 4) })
    },
  )
})
