/**
 * An engine and a plain model of it, as far as ids go: what the model-based tests of a whole engine share.
 *
 *   marks      of each counter the number that comes next: exact, but for a crash, after which it is read anew
 *   taken      keys that may not be given any more: they were given, reserved, or lie in a range that was asked for
 *   entities   what is stored, each with the number in its one property
 *
 * After a command they are compared with the engine: every counter, not only the one just used, and every entity, not only
 * the one just written.
 */
import { expect } from 'vitest'
import type { Mutation } from '../../src/database/api.ts'
import type { Database } from '../../src/database/database.ts'
import type { Mode } from '../../src/database/settings.ts'
import { decodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { IdCollisions, IdPolicy } from '../../src/ids/allocator.ts'
import { growingBlocks } from '../../src/ids/id-sequence.ts'
import { idOfCounter, spaceOf, unscatter } from '../../src/ids/scatter.ts'
import { formatKey, type Key, withId } from '../../src/model/key.ts'
import type { Kv } from '../../src/storage/kv.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { entity, integer, keyOf, property } from './entity-messages.ts'
import { compareKeys } from './model-order.ts'

/** Kinds and parents that ids are given for. The last one's parent is an id of the first. */
export const families: readonly Key[] = [
  keyOf([{ kind: 'ToDo' }]),
  keyOf([{ kind: 'User', name: 'ada' }, { kind: 'ToDo' }]),
  keyOf([{ kind: 'ToDo' }], { namespaceId: 'n' }),
  keyOf([{ kind: 'ToDo', id: 3n }, { kind: 'Step' }]),
]

export function nameOf(key: Key): string {
  return `${key.partition.namespaceId}|${formatKey(key)}`
}

/** Which counter numbers the last element of a key. */
export function counterName(space: IdPolicy, key: Key): string {
  if (space !== 'sequential') return space
  const path = key.path.map((element, i) => (i === key.path.length - 1 ? { kind: element.kind } : element))
  return `sequential ${nameOf({ ...key, path })}`
}

export function write(operation: 'insert' | 'upsert', key: Key, value: number): Mutation {
  return { operation, entity: entity(key, property('v', integer(value))) }
}

/**
 * What may have been in a block when a process died: the blocks of a short run. The store-wide counter serves every
 * kind, and an import past its block makes it take the next one, twice as large; so its bound is that of any block.
 */
const lostMax = (counter: string): number => (counter.startsWith('storewide') ? growingBlocks.maxSize : 128)

export class Model {
  readonly mode: Mode
  readonly #idCollisions: IdCollisions
  policy: IdPolicy = 'scattered'
  collisions: IdCollisions = 'next'
  marks = new Map<string, number>()
  taken = new Set<string>()
  entities = new Map<string, { readonly key: Key; readonly value: number }>()
  lastValue = 0

  constructor({ mode, idCollisions }: WorldOptions) {
    this.mode = mode
    this.#idCollisions = idCollisions
    this.open()
  }

  /** Settings as an engine opens with them. */
  open(): void {
    this.policy = this.mode === 'legacy' ? 'storewide' : 'scattered'
    this.collisions = this.#idCollisions
  }

  mark(space: IdPolicy, key: Key): number {
    return this.marks.get(counterName(space, key)) ?? 1
  }

  /** The next number of a counter, which is never given again. */
  next(space: IdPolicy, key: Key): Key {
    // A store-wide number passes over what its own kind and parent has given, and the other way round.
    const number = space === 'scattered' ? this.mark(space, key) : this.rangeMark(key)
    this.marks.set(counterName(space, key), number + 1)
    return withId(key, idOfCounter(space === 'storewide' ? 'sequential' : space, number))
  }

  /** The first number of a kind and parent that a range may have: above all store-wide ids. */
  rangeMark(key: Key): number {
    return Math.max(this.mark('sequential', key), this.mark('storewide', key))
  }

  /** allocator/I4, allocator/I5: a key that was given now. */
  give(key: Key): void {
    expect(this.taken.has(nameOf(key)), `allocator/I4, allocator/I5: ${nameOf(key)} may not be given any more`).toBe(
      false,
    )
    this.taken.add(nameOf(key))
  }

  /** Moves the counters of all ids in a key past them. */
  pass(key: Key): void {
    for (const [at, { id }] of key.path.entries()) {
      const space = id === undefined ? undefined : spaceOf(id)
      if (space === undefined) continue
      const number = space === 'scattered' ? unscatter(Number(id)) : Number(id)
      const upTo = { ...key, path: key.path.slice(0, at + 1) }
      this.marks.set(counterName(space, upTo), Math.max(this.mark(space, upTo), number + 1))
      this.taken.add(nameOf(upTo))
    }
  }

  /** Whether an entity has a key from `start` to `end`, whatever its kind. */
  hasBetween(start: Key, end: Key): boolean {
    return [...this.entities.values()].some(({ key }) => compareKeys(key, start) >= 0 && compareKeys(key, end) <= 0)
  }

  store(key: Key, value: number): void {
    this.entities.set(nameOf(key), { key, value })
  }
}

/** The store outlives the engine, which closes the store that it was given. */
class LastingKv extends FaultyKv {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

export interface WorldOptions {
  readonly mode: Mode
  readonly idCollisions: IdCollisions
}

export class World {
  readonly #store: Kv
  readonly #options: WorldOptions
  #kv: LastingKv
  engine: Engine

  private constructor(store: Kv, options: WorldOptions, kv: LastingKv, engine: Engine) {
    this.#store = store
    this.#options = options
    this.#kv = kv
    this.engine = engine
  }

  static async open(store: Kv, options: WorldOptions): Promise<World> {
    const kv = new LastingKv(store)
    const engine = await openEngine({ ...options, kv, scheduler: new VirtualClock(), seed: 3 })
    return new World(store, options, kv, engine)
  }

  get database(): Database {
    return this.engine.database('p')
  }

  async restart(end: 'close' | 'crash'): Promise<void> {
    if (end === 'close') await this.engine.close()
    else this.#kv.crash()
    const next = await World.open(this.#store, this.#options)
    this.#kv = next.#kv
    this.engine = next.engine
  }

  async commit(mutations: readonly Mutation[], atomic: boolean): Promise<readonly (Key | undefined)[]> {
    const request = atomic
      ? ({ mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations } as const)
      : ({ mode: 'nonTransactional', mutations } as const)
    const { mutationResults } = await this.database.commit(this.engine.context(), request)
    return mutationResults.map(({ key }) => key)
  }

  /** What every counter gives next, of both spaces. */
  async marks(): Promise<Map<string, number>> {
    const marks = new Map<string, number>()
    for (const key of families) {
      const { scattered, sequential, storewide } = await this.database.nextIds(this.engine.context(), key)
      marks.set(counterName('scattered', key), Number(scattered.counter))
      marks.set(counterName('sequential', key), Number(sequential.counter))
      marks.set(counterName('storewide', key), Number(storewide.counter))
    }
    return marks
  }

  /** Every counter stands where the model says. */
  async checkMarks(model: Model): Promise<void> {
    const marks = await this.marks()
    const wanted = new Map([...marks.keys()].map((name) => [name, model.marks.get(name) ?? 1]))
    expect(marks, 'every counter stands where it should').toEqual(wanted)
  }

  /** I10: the engine is as the model says. */
  async check(model: Model): Promise<void> {
    await this.checkMarks(model)
    const keys = [...model.entities.values()].map(({ key }) => key)
    const { found } = await this.database.lookup(this.engine.context(), { keys })
    const stored = found.map(({ key, image }) => [nameOf(key), decodeProperties(image.properties).get('v')] as const)
    const modelled = [...model.entities].map(([name, { value }]) => [name, integer(value)] as const)
    expect(new Map(stored), 'I10: every entity is what was written last').toEqual(new Map(modelled))
    expect(await this.#allNames(), 'I10: and nothing else is stored').toEqual([...model.entities.keys()].sort())
  }

  /** after a crash no counter stands below what it gave, and none lost more than its blocks. */
  async readMarks(model: Model): Promise<void> {
    const marks = await this.marks()
    for (const [name, mark] of marks) {
      const before = model.marks.get(name) ?? 1
      expect(mark, `${name}`).toBeGreaterThanOrEqual(before)
      expect(mark, `${name}: a crash loses what was in hand`).toBeLessThanOrEqual(before + lostMax(name))
    }
    model.marks = marks
  }

  /** All entities that are stored, by strong queries. */
  async #allNames(): Promise<string[]> {
    const names: string[] = []
    for (const namespaceId of ['', 'n']) {
      const partition = { projectId: 'p', databaseId: '', namespaceId }
      const query = { partition, projection: ['__key__'], order: [], distinctOn: [], offset: 0 }
      const read = { consistency: 'strong' } as const
      const { results } = await this.database.runQuery(this.engine.context(), { query, read })
      names.push(...results.map(({ key }) => nameOf(key)))
    }
    return names.sort()
  }
}
