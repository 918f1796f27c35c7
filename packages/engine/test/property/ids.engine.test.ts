/**
 * I4   No id is given twice, across automatic ids and AllocateIds, restarts and crashes included.
 * I5   A reserved id is never given.
 * I10  An insert without id never changes an existing entity; a commit that fails leaves nothing of itself behind.
 * I11  Keys come back in request order and differ from the request in the last id only.
 *
 * Random commands on a whole engine against a plain map of entities: automatic inserts, puts under ids chosen by hand right
 * where the counters come along, deletes, allocation, reservation, restarts, crashes and resets.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeProperties } from '../../src/encoding/entity-codec.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { IdPolicy } from '../../src/ids/allocator.ts'
import { idOfCounter } from '../../src/ids/scatter.ts'
import { formatKey, type Key, lastElement, withId } from '../../src/model/key.ts'
import type { Mutation } from '../../src/service/api.ts'
import { type Engine, openEngine } from '../../src/service/engine.ts'
import type { Mode } from '../../src/service/settings.ts'
import type { Kv } from '../../src/storage/kv.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { entity, integer, keyOf, property } from './entity-messages.ts'

const families: readonly Key[] = [
  keyOf([{ kind: 'ToDo' }]),
  keyOf([{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }]),
  keyOf([{ kind: 'ToDo' }], { namespaceId: 'n' }),
]

function nameOf(key: Key): string {
  return `${key.partition.namespaceId}|${formatKey(key)}`
}

/** The store outlives the engine, which closes the store that it was given. */
class LastingKv extends FaultyKv {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

class Model {
  readonly policy: IdPolicy
  /** What is stored: by key, the number in its one property. */
  entities = new Map<string, { readonly key: Key; readonly value: number }>()
  /** Keys whose ids were given or reserved. */
  taken = new Set<string>()
  lastValue = 0

  constructor(policy: IdPolicy) {
    this.policy = policy
  }

  give(key: Key): void {
    expect(this.taken.has(nameOf(key)), `I4, I5: ${nameOf(key)} was given before`).toBe(false)
    this.taken.add(nameOf(key))
  }
}

class World {
  readonly #store: Kv
  readonly #mode: Mode
  #kv: LastingKv
  engine: Engine

  private constructor(store: Kv, mode: Mode, kv: LastingKv, engine: Engine) {
    this.#store = store
    this.#mode = mode
    this.#kv = kv
    this.engine = engine
  }

  static async open(store: Kv, mode: Mode): Promise<World> {
    const kv = new LastingKv(store)
    return new World(store, mode, kv, await openEngine({ kv, mode, scheduler: new VirtualClock(), seed: 3 }))
  }

  async restart(end: 'close' | 'crash'): Promise<void> {
    if (end === 'close') await this.engine.close()
    else this.#kv.crash()
    const next = await World.open(this.#store, this.#mode)
    this.#kv = next.#kv
    this.engine = next.engine
  }

  async commit(mutations: readonly Mutation[], atomic: boolean): Promise<readonly (Key | undefined)[]> {
    const { mutationResults } = await this.engine
      .database('p')
      .commit(
        this.engine.context(),
        atomic
          ? { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations }
          : { mode: 'nonTransactional', mutations },
      )
    return mutationResults.map(({ key }) => key)
  }

  /** I10: the store holds the model's entities, and under the other keys nothing. */
  async checkEntities(model: Model, others: readonly Key[] = []): Promise<void> {
    const keys = [...model.entities.values()].map(({ key }) => key)
    const absent = others.filter((key) => !model.entities.has(nameOf(key)))
    const { found, missing } = await this.engine
      .database('p')
      .lookup(this.engine.context(), { keys: [...keys, ...absent] })
    const stored = found.map(({ key, image }) => [nameOf(key), decodeProperties(image.properties).get('v')])
    expect(new Map(stored as [string, unknown][])).toEqual(
      new Map([...model.entities].map(([name, { value }]) => [name, { type: 'integer', value: BigInt(value) }])),
    )
    expect(new Set(missing.map(nameOf))).toEqual(new Set(absent.map(nameOf)))
    expect(await this.#allNames(), 'nothing else is stored').toEqual([...model.entities.keys()].sort())
  }

  /** All entities that are stored, by strong queries. */
  async #allNames(): Promise<string[]> {
    const names: string[] = []
    for (const namespaceId of ['', 'n']) {
      const partition = { projectId: 'p', databaseId: '', namespaceId }
      const query = { partition, kind: 'ToDo', projection: ['__key__'], order: [], distinctOn: [], offset: 0 }
      const { results } = await this.engine
        .database('p')
        .runQuery(this.engine.context(), { query, read: { consistency: 'strong' } })
      names.push(...results.map(({ key }) => nameOf(key)))
    }
    return names.sort()
  }
}

type EngineCommand = fc.AsyncCommand<Model, World>

abstract class Command implements EngineCommand {
  check(_model: Readonly<Model>): boolean {
    return true
  }

  async run(model: Model, world: World): Promise<void> {
    await this.act(model, world)
    await world.checkEntities(model)
  }

  abstract act(model: Model, world: World): Promise<void>
  abstract toString(): string
}

function write(operation: 'insert' | 'upsert', key: Key, value: number): Mutation {
  return { operation, entity: entity(key, property('v', integer(value))) }
}

class AutoInsertCommand extends Command {
  readonly keys: readonly Key[]
  readonly operation: 'insert' | 'upsert'
  readonly atomic: boolean

  constructor(keys: readonly Key[], operation: 'insert' | 'upsert', atomic: boolean) {
    super()
    this.keys = keys
    this.operation = operation
    this.atomic = atomic
  }

  async act(model: Model, world: World): Promise<void> {
    const first = model.lastValue + 1
    model.lastValue += this.keys.length
    const given = await world.commit(
      this.keys.map((key, i) => write(this.operation, key, first + i)),
      this.atomic,
    )
    expect(given).toHaveLength(this.keys.length)
    for (const [i, request] of this.keys.entries()) {
      const key = given[i]
      const id = key === undefined ? undefined : lastElement(key).id
      expect(id, 'I11: each new entity got an id').toBeTypeOf('bigint')
      if (key === undefined || id === undefined) continue
      expect(key, 'I11').toEqual(withId(request, id))
      expect(model.entities.has(nameOf(key)), `I10: ${nameOf(key)} was there`).toBe(false)
      model.give(key)
      model.entities.set(nameOf(key), { key, value: first + i })
    }
  }

  toString(): string {
    return `${this.atomic ? 'atomic ' : ''}${this.operation} ${this.keys.map(nameOf).join(', ')}`
  }
}

/** I10: a transaction of automatic inserts that fails because of another mutation. */
class FailingInsertCommand extends Command {
  readonly keys: readonly Key[]

  constructor(keys: readonly Key[]) {
    super()
    this.keys = keys
  }

  override check(model: Readonly<Model>): boolean {
    return model.entities.size > 0
  }

  async act(model: Model, world: World): Promise<void> {
    const [taken] = model.entities.values()
    if (taken === undefined) return
    const mutations = [...this.keys.map((key) => write('insert', key, -1)), write('insert', taken.key, -1)]
    await expect(world.commit(mutations, true)).rejects.toThrow(DatastoreError)
    const next = await world.engine.database('p').allocateIds(world.engine.context(), [families[0] as Key])
    for (const key of next) model.give(key)
  }

  toString(): string {
    return `fail to insert ${this.keys.map(nameOf).join(', ')} with an existing one`
  }
}

/** An entity under an id chosen by hand, where the counter will come along. */
class PutCommand extends Command {
  readonly family: Key
  readonly number: number
  readonly deletes: boolean

  constructor(family: Key, number: number, deletes: boolean) {
    super()
    this.family = family
    this.number = number
    this.deletes = deletes
  }

  async act(model: Model, world: World): Promise<void> {
    const key = withId(this.family, idOfCounter(model.policy, this.number))
    const value = ++model.lastValue
    await world.commit([this.deletes ? { operation: 'delete', key } : write('upsert', key, value)], false)
    if (this.deletes) model.entities.delete(nameOf(key))
    else model.entities.set(nameOf(key), { key, value })
    await world.checkEntities(model, [key])
  }

  toString(): string {
    return `${this.deletes ? 'delete' : 'put'} number ${this.number} of ${nameOf(this.family)}`
  }
}

class AllocateIdsCommand extends Command {
  readonly keys: readonly Key[]

  constructor(keys: readonly Key[]) {
    super()
    this.keys = keys
  }

  async act(model: Model, world: World): Promise<void> {
    const given = await world.engine.database('p').allocateIds(world.engine.context(), this.keys)
    expect(given.map((key) => ({ ...key, path: [...key.path.slice(0, -1), { kind: 'ToDo' }] }))).toEqual(this.keys)
    for (const key of given) model.give(key)
  }

  toString(): string {
    return `allocate ${this.keys.map(nameOf).join(', ')}`
  }
}

class ReserveIdsCommand extends Command {
  readonly family: Key
  readonly number: number

  constructor(family: Key, number: number) {
    super()
    this.family = family
    this.number = number
  }

  async act(model: Model, world: World): Promise<void> {
    const key = withId(this.family, idOfCounter(model.policy, this.number))
    await world.engine.database('p').reserveIds(world.engine.context(), [key])
    model.taken.add(nameOf(key))
  }

  toString(): string {
    return `reserve number ${this.number} of ${nameOf(this.family)}`
  }
}

class RestartCommand extends Command {
  readonly end: 'close' | 'crash'

  constructor(end: 'close' | 'crash') {
    super()
    this.end = end
  }

  act(_model: Model, world: World): Promise<void> {
    return world.restart(this.end)
  }

  toString(): string {
    return `${this.end} and open again`
  }
}

/** After a reset, ids begin anew. */
class ResetCommand extends Command {
  async act(model: Model, world: World): Promise<void> {
    const keys = [...model.entities.values()].map(({ key }) => key)
    await world.engine.reset()
    model.entities = new Map()
    model.taken = new Set()
    await world.checkEntities(model, keys)
  }

  toString(): string {
    return 'reset'
  }
}

const family = fc.oneof({ weight: 3, arbitrary: fc.constant(families[0] as Key) }, fc.constantFrom(...families))
const someKeys = fc.array(family, { minLength: 1, maxLength: 4 })
const numbers = fc.integer({ min: 1, max: 25 })

const commands = fc.commands<Model, World, false>(
  [
    fc
      .tuple(someKeys, fc.constantFrom<'insert' | 'upsert'>('insert', 'upsert'), fc.boolean())
      .map((a) => new AutoInsertCommand(...a)),
    fc.tuple(someKeys).map((a) => new AutoInsertCommand(...a, 'insert', true)),
    someKeys.map((keys) => new FailingInsertCommand(keys)),
    fc.tuple(family, numbers, fc.constant(false)).map((a) => new PutCommand(...a)),
    fc.tuple(family, numbers, fc.boolean()).map((a) => new PutCommand(...a)),
    someKeys.map((keys) => new AllocateIdsCommand(keys)),
    fc.tuple(family, numbers).map((a) => new ReserveIdsCommand(...a)),
    fc.constantFrom(new RestartCommand('close'), new RestartCommand('crash')),
    fc.constant(new ResetCommand()),
  ],
  { maxCommands: 30 },
)

describe.each<[Mode, IdPolicy]>([
  ['firestore', 'scattered'],
  ['legacy', 'sequential'],
])('ids of an engine in %s mode', (mode, policy) => {
  test.each([
    ['at once', () => new MemoryKv()],
    ['by promises', () => new AsyncKv(new MemoryKv())],
  ])('I4, I5, I10, I11 hold over a store that answers %s', async (_answers, store) => {
    await fc.assert(
      fc.asyncProperty(commands, async (drawn) => {
        const world = await World.open(store(), mode)
        await fc.asyncModelRun(() => ({ model: new Model(policy), real: world }), drawn)
      }),
      { numRuns: 60 },
    )
  })
})
