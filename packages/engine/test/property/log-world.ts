/**
 * An engine under random commits, policies, releases and crashes, beside a model that is a plain map.
 *
 * The model knows for each entity the value of its newest acknowledged commit, and for a commit that was cut short by a
 * crash both outcomes, all of its entities together.
 */
import fc from 'fast-check'
import type { Mutation } from '../../src/database/api.ts'
import { decodeProperties, encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { ApplyPolicy } from '../../src/log/apply-policy.ts'
import type { IndexDefinition } from '../../src/model/index-definition.ts'
import { formatKey, type Key } from '../../src/model/key.ts'
import type { Value } from '../../src/model/value.ts'
import type { Kv } from '../../src/storage/kv.ts'
import { type Fault, FaultyKv } from '../../src/testing/faulty-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

function groupKeys(root: string): readonly [Key, Key, Key] {
  const parent = { kind: 'G', name: root }
  return [
    { partition, path: [parent] },
    { partition, path: [parent, { kind: 'A', id: 1n }] },
    { partition, path: [parent, { kind: 'A', id: 2n }] },
  ]
}

const firstGroup = groupKeys('g')

/** Two groups of three entities each, so that commits meet and cross groups. */
export const worldKeys: readonly [Key, Key, ...Key[]] = [...firstGroup, ...groupKeys('h')]

/** `value` undefined = delete. Several changes are one atomic commit. */
export interface CommitStep {
  readonly type: 'commit'
  readonly changes: readonly { readonly entity: number; readonly value: number | undefined }[]
}

export type Step =
  | CommitStep
  | { readonly type: 'policy'; readonly policy: ApplyPolicy }
  | { readonly type: 'release'; readonly entity: number; readonly milestone: 'A' | 'B' }
  | { readonly type: 'lookup'; readonly entity: number }
  | { readonly type: 'query' }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'reopen' }

const entity = fc.nat({ max: worldKeys.length - 1 })

const commitStep: fc.Arbitrary<CommitStep> = fc.record({
  type: fc.constant('commit' as const),
  changes: fc.uniqueArray(fc.record({ entity, value: fc.option(fc.nat({ max: 3 }), { nil: undefined }) }), {
    minLength: 1,
    maxLength: 4,
    selector: (change) => change.entity,
  }),
})

const policies: readonly ApplyPolicy[] = [
  { type: 'immediate' },
  { type: 'manual' },
  { type: 'probability', chance: 0.5 },
  { type: 'time', delayMs: 10 },
]

const otherStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('policy' as const), policy: fc.constantFrom(...policies) }),
  fc.record({ type: fc.constant('release' as const), entity, milestone: fc.constantFrom('A' as const, 'B' as const) }),
  fc.record({ type: fc.constant('lookup' as const), entity }),
  fc.constant({ type: 'query' as const }),
  fc.record({ type: fc.constant('advance' as const), ms: fc.nat({ max: 20 }) }),
)

/** Scripts of commits with everything else in between; `reopen` only where the caller can reopen. */
export function steps(options: { readonly reopen: boolean }): fc.Arbitrary<Step[]> {
  const reopen: fc.Arbitrary<Step> = fc.constant({ type: 'reopen' })
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: commitStep },
      { weight: 3, arbitrary: otherStep },
      { weight: options.reopen ? 1 : 0, arbitrary: reopen },
    ),
    { minLength: 1, maxLength: 20 },
  )
}

/** Each value has rows of its own in the property tables, and an array makes several. */
function propertiesOf(value: number): Map<string, Value> {
  const own: Value = { type: 'integer', value: BigInt(value) }
  return new Map<string, Value>([
    ['v', own],
    ['parity', { type: 'integer', value: BigInt(value % 2) }],
    ['list', { type: 'array', values: [own, { type: 'string', value: 'all' }] }],
  ])
}

/** The value that {@link mutationOf} stored. */
export function storedValue(properties: Uint8Array): number {
  const value = decodeProperties(properties).get('v')
  return value?.type === 'integer' ? Number(value.value) : Number.NaN
}

export function mutationOf(
  key: Key,
  value: number | undefined,
  operation: 'insert' | 'update' | 'upsert' = 'upsert',
): Mutation {
  if (value === undefined) return { operation: 'delete', key }
  const keyBytes = encodeKey(key)
  const head = Buffer.from([0x0a, keyBytes.length])
  return { operation, entity: Buffer.concat([head, keyBytes, encodeProperties(propertiesOf(value))]) }
}

/** A composite index of the entities that `mutationOf` puts. */
export const indexOfValues: IndexDefinition = {
  kind: 'G',
  ancestor: false,
  properties: [
    { name: 'v', direction: 'ascending' },
    { name: '__key__', direction: 'descending' },
  ],
}

type State = ReadonlyMap<number, number>

export class World {
  readonly clock: VirtualClock
  engine: Engine
  /** What the store may hold: one state, or two after a commit with an unknown outcome. */
  #states: State[] = [new Map()]
  #policy: ApplyPolicy = { type: 'immediate' }

  /** The store as this run of the engine has it: it dies with the run. */
  #kv: FaultyKv

  private constructor(kv: FaultyKv, clock: VirtualClock, engine: Engine) {
    this.#kv = kv
    this.clock = clock
    this.engine = engine
  }

  static async open(store: Kv, fault?: Fault): Promise<World> {
    const clock = new VirtualClock()
    const kv = new FaultyKv(store, fault)
    return new World(kv, clock, await openEngine({ kv, scheduler: clock, seed: 7 }))
  }

  /** Kills this run, with whatever it still had under way, and opens the store anew. */
  async reopen(): Promise<void> {
    this.#kv.crash()
    this.#kv = new FaultyKv(this.#kv.inner)
    this.engine = await openEngine({ kv: this.#kv, scheduler: this.clock, seed: 7 })
    this.engine.database('p').configure({ applyPolicy: this.#policy })
  }

  async take(step: Step): Promise<void> {
    const { engine } = this
    const database = engine.database('p')
    switch (step.type) {
      case 'commit':
        await this.commit(step)
        break
      case 'policy':
        this.#policy = step.policy
        database.configure({ applyPolicy: step.policy })
        break
      case 'release':
        await engine.inspector.release(worldKeys[step.entity] as Key, step.milestone)
        break
      case 'lookup':
        await this.#expectLookup(step.entity)
        break
      case 'query':
        // Eventual unless applied at once: only its rows must be there, whatever they are.
        await this.query()
        break
      case 'advance':
        await this.clock.advance(step.ms)
        break
      case 'reopen':
        await this.reopen()
        break
    }
  }

  /** Commits; a failure leaves both outcomes open, and is thrown. */
  async commit(step: CommitStep): Promise<void> {
    const after = this.#states.map((state) => {
      const next = new Map(state)
      for (const { entity: changed, value } of step.changes) {
        if (value === undefined) next.delete(changed)
        else next.set(changed, value)
      }
      return next
    })
    const mutations = step.changes.map(({ entity: changed, value }) => mutationOf(worldKeys[changed] as Key, value))
    try {
      const { engine } = this
      await engine.database('p').commit(engine.context(), {
        mode: 'transactional',
        singleUse: { mode: 'readWrite' },
        mutations,
      })
    } catch (error) {
      this.#states = [...this.#states, ...after]
      throw error
    }
    this.#states = after
  }

  async #expectLookup(index: number): Promise<void> {
    const { engine } = this
    const key = worldKeys[index] as Key
    const { found } = await engine.database('p').lookup(engine.context(), { keys: [key] })
    const value = found[0] === undefined ? undefined : storedValue(found[0].image.properties)
    this.#settle((state) => state.get(index) === value, `lookup of ${formatKey(key)} gives ${value}`)
  }

  /** Entities with `list = "all"`, which is all of them, by the index tables. */
  async query(consistency?: 'strong'): Promise<ReadonlyMap<string, number>> {
    const { engine } = this
    const batch = await engine.database('p').runQuery(engine.context(), {
      query: {
        partition,
        kind: 'A',
        projection: [],
        filter: { type: 'property', property: 'list', operator: 'equal', value: { type: 'string', value: 'all' } },
        order: [],
        distinctOn: [],
        offset: 0,
      },
      ...(consistency === undefined ? {} : { read: { consistency } }),
    })
    return new Map(
      batch.results.map(({ key, image }) => [formatKey(key), image === undefined ? -1 : storedValue(image.properties)]),
    )
  }

  /** Everything agrees: lookups and a strong query with the model, and the tables with the logs. */
  async expectWhole(): Promise<void> {
    const early = await this.engine.check()
    if (early.problemCount > 0) throw new Error(`before rolling forward: ${JSON.stringify(early.problems)}`)
    for (let i = 0; i < worldKeys.length; i++) await this.#expectLookup(i)
    const found = await this.query('strong')
    this.#settle(
      (state) => {
        const expected = worldKeys.flatMap((key, i): [string, number][] => {
          const value = state.get(i)
          return key.path.length === 2 && value !== undefined ? [[formatKey(key), value]] : []
        })
        return expected.length === found.size && expected.every(([name, value]) => found.get(name) === value)
      },
      `strong query gives ${JSON.stringify([...found])}`,
    )
    const report = await this.engine.check()
    if (report.problemCount > 0) throw new Error(`after rolling forward: ${JSON.stringify(report.problems)}`)
    if (report.pending.length > 0) throw new Error('a strong query left records pending')
  }

  /** Keeps the states that agree with what was seen; there must be one. */
  #settle(agrees: (state: State) => boolean, seen: string): void {
    const left = this.#states.filter(agrees)
    if (left.length === 0) {
      throw new Error(`${seen}; possible were ${JSON.stringify(this.#states.map((state) => [...state]))}`)
    }
    this.#states = left
  }
}
