/**
 * What can happen to the ids of an engine, as commands of a model-based test. Each foretells the answer from the model, asks
 * the engine, and has the whole engine compared with the model.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Mutation } from '../../src/database/api.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { IdCollisions, IdPolicy } from '../../src/ids/allocator.ts'
import { type IdSpace, idOfCounter } from '../../src/ids/scatter.ts'
import { type Key, withId } from '../../src/model/key.ts'
import { counterName, families, type Model, nameOf, type World, write } from './ids-engine-world.ts'

export type EngineCommand = fc.AsyncCommand<Model, World>

export abstract class Command implements EngineCommand {
  check(_model: Readonly<Model>): boolean {
    return true
  }

  async run(model: Model, world: World): Promise<void> {
    await this.act(model, world)
    await world.check(model)
  }

  abstract act(model: Model, world: World): Promise<void>
  abstract toString(): string
}

/** A key of a family, `ahead` of what its counter gives next: where the two will meet, or have met. */
export interface Place {
  readonly family: Key
  readonly space: IdSpace
  readonly ahead: number
}

export function keyAt(model: Model, { family, space, ahead }: Place): Key {
  const mark = space === 'sequential' ? model.rangeMark(family) : model.mark(space, family)
  return withId(family, idOfCounter(space, Math.max(1, mark + ahead)))
}

export function placeInWords({ family, space, ahead }: Place): string {
  return `${nameOf(family)} ${space} ${ahead < 0 ? '' : '+'}${ahead}`
}

export type Item =
  | { readonly type: 'automatic'; readonly family: Key; readonly operation: 'insert' | 'upsert' }
  | { readonly type: 'insert' | 'upsert' | 'delete'; readonly place: Place }

/** An item with its place found: the key it names, or none. */
interface Step {
  readonly type: Item['type']
  readonly operation: 'insert' | 'upsert' | 'delete'
  readonly key: Key
  readonly value: number
}

/** Why a commit fails: an automatic id is in use, an insert meets an entity, or the list would be wrong in any state. */
type Failure = 'collision' | 'exists' | 'wrong'

/** Whether a key is written and then inserted, which Firestore refuses. */
function hasRefusedPair(steps: readonly Step[]): boolean {
  return steps.some(({ type, key }, i) => {
    const before = steps.slice(0, i).findLast((step) => step.type !== 'automatic' && nameOf(step.key) === nameOf(key))
    return type === 'insert' && before !== undefined && before.type !== 'delete'
  })
}

/**
 * allocator/I4, allocator/I5, I10: a commit of automatic and named mutations, right where counters and named ids meet.
 *
 * Ids are given to all automatic ones first; then the list is gone through in order. An automatic id that an entity has, or
 * that the list names, is left for the next one, or the list fails there.
 */
export class CommitCommand extends Command {
  readonly items: readonly Item[]
  readonly atomic: boolean
  /** A look at the entities applies what waits: without one, later commands meet commits that are not applied. */
  readonly looks: boolean

  constructor(items: readonly Item[], atomic: boolean, looks: boolean) {
    super()
    this.items = items
    this.atomic = atomic
    this.looks = looks
  }

  override async run(model: Model, world: World): Promise<void> {
    await this.act(model, world)
    if (this.looks) await world.check(model)
    else await world.checkMarks(model)
  }

  async act(model: Model, world: World): Promise<void> {
    const steps = this.#steps(model)
    if (steps.length === 0) return
    const { keys, failed } = this.#foretell(model, steps)
    const mutations: Mutation[] = steps.map(({ operation, key, value }) =>
      operation === 'delete' ? { operation, key } : write(operation, key, value),
    )
    const committed = world.commit(mutations, this.atomic)
    if (failed !== undefined) {
      const error: unknown = await committed.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error, 'I10: the commit fails').toBeInstanceOf(DatastoreError)
      const words = 'the id allocated for a new entity was already in use, please try again'
      const isCollision = error instanceof DatastoreError && error.message.includes(words)
      expect(isCollision, 'I10: by the documented words').toBe(failed === 'collision')
      return
    }
    const given = await committed
    for (const [i, { type, key }] of steps.entries()) {
      expect(given[i], 'keys come back where an id was given').toEqual(type === 'automatic' ? keys[i] : undefined)
      if (type !== 'automatic') continue
      expect(withId(key, keys[i]?.path.at(-1)?.id as bigint), 'I11').toEqual(keys[i])
    }
  }

  #steps(model: Model): readonly Step[] {
    const named = new Set<string>()
    const steps: Step[] = []
    for (const item of this.items) {
      const { type } = item
      const key = type === 'automatic' ? item.family : keyAt(model, item.place)
      // A list that is not atomic may name a key once.
      if (type !== 'automatic' && !this.atomic && named.has(nameOf(key))) continue
      if (type !== 'automatic') named.add(nameOf(key))
      steps.push({ type, operation: type === 'automatic' ? item.operation : type, key, value: ++model.lastValue })
    }
    return steps
  }

  /** Goes through the list in the model; answers the keys in the end, or why it fails. */
  #foretell(
    model: Model,
    steps: readonly Step[],
  ): { readonly keys: readonly Key[]; readonly failed: Failure | undefined } {
    const { policy } = model
    const before = new Map(model.entities)
    const named = new Set(steps.filter(({ type }) => type !== 'automatic').map(({ key }) => nameOf(key)))
    const keys = steps.map(({ type, key }) => (type === 'automatic' ? model.next(policy, key) : key))
    // What makes a list wrong in any state is told before its state is looked at.
    if (model.mode === 'firestore' && hasRefusedPair(steps)) return { keys, failed: 'wrong' }
    let failed: Failure | undefined
    for (const [i, { type, operation, key, value }] of steps.entries()) {
      if (type === 'automatic') {
        const isInUse = (): boolean => {
          const name = nameOf(keys[i] as Key)
          return before.has(name) || named.has(name)
        }
        if (isInUse() && model.collisions === 'fail') failed = 'collision'
        while (failed === undefined && isInUse()) keys[i] = model.next(policy, key)
        if (failed === undefined) model.give(keys[i] as Key)
      } else if (operation === 'insert' && model.entities.has(nameOf(key))) {
        failed = 'exists'
      }
      if (failed !== undefined) break
      if (operation === 'delete') model.entities.delete(nameOf(key))
      else model.store(keys[i] as Key, value)
    }
    // Nothing of an atomic list; of any other what came before its first failure.
    if (failed !== undefined && this.atomic) model.entities = before
    return { keys, failed }
  }

  toString(): string {
    const items = this.items.map((item) =>
      item.type === 'automatic'
        ? `${item.operation} ${nameOf(item.family)}`
        : `${item.type} ${placeInWords(item.place)}`,
    )
    return `${this.atomic ? 'atomic' : 'list'}(${items.join(', ')})`
  }
}

/** Where automatic ids come from, and what becomes of those in use: from now until a restart. */
export class ConfigureCommand extends Command {
  readonly policy: IdPolicy
  readonly collisions: IdCollisions

  constructor(policy: IdPolicy, collisions: IdCollisions) {
    super()
    this.policy = policy
    this.collisions = collisions
  }

  act(model: Model, world: World): Promise<void> {
    model.policy = this.policy
    model.collisions = this.collisions
    world.database.configure({ idPolicy: this.policy, idCollisions: this.collisions })
    return Promise.resolve()
  }

  toString(): string {
    return `automatic ids: ${this.policy}, in use: ${this.collisions}`
  }
}

/** AllocateIds, which draws from the scattered counter whatever automatic ids do. */
export class AllocateIdsCommand extends Command {
  readonly keys: readonly Key[]

  constructor(keys: readonly Key[]) {
    super()
    this.keys = keys
  }

  async act(model: Model, world: World): Promise<void> {
    const foretold = this.keys.map((key) => model.next('scattered', key))
    for (const key of foretold) model.give(key)
    expect(await world.database.allocateIds(world.engine.context(), this.keys), 'I11').toEqual(foretold)
  }

  toString(): string {
    return `allocate ${this.keys.map(nameOf).join(', ')}`
  }
}

/** Done twice, since a second time changes nothing. */
export class ReserveIdsCommand extends Command {
  readonly places: readonly Place[]

  constructor(places: readonly Place[]) {
    super()
    this.places = places
  }

  async act(model: Model, world: World): Promise<void> {
    const keys = this.places.map((place) => keyAt(model, place))
    for (const key of keys) model.pass(key)
    await world.database.reserveIds(world.engine.context(), keys)
    await world.check(model)
    await world.database.reserveIds(world.engine.context(), keys)
  }

  toString(): string {
    return `reserve ${this.places.map(placeInWords).join(', ')}`
  }
}

/** a range by its ends, asked for twice; entities may have been put into it by hand. */
export class RangeCommand extends Command {
  readonly family: Key
  readonly ahead: number
  readonly length: number

  constructor(family: Key, ahead: number, length: number) {
    super()
    this.family = family
    this.ahead = ahead
    this.length = length
  }

  async act(model: Model, world: World): Promise<void> {
    const { family } = this
    const mark = model.rangeMark(family)
    const first = Math.max(1, mark + this.ahead)
    const last = first + this.length - 1
    const range = { start: BigInt(first), end: BigInt(last) }
    const keys = Array.from({ length: this.length }, (_, i) => withId(family, BigInt(first + i)))
    const hasEntity = model.hasBetween(keys[0] as Key, keys.at(-1) as Key)
    const state = hasEntity ? 'COLLISION' : mark > first ? 'CONTENTION' : 'EMPTY'
    const markAfter = Math.max(mark, last + 1)
    const ask = () => world.database.allocateIdRange(world.engine.context(), family, range)
    const answer = await ask()
    expect(answer, 'the state of a range').toMatchObject({
      state,
      nextBefore: BigInt(mark),
      nextAfter: BigInt(markAfter),
    })
    if (answer.state === 'EMPTY') {
      expect(
        keys.filter((key) => model.taken.has(nameOf(key))),
        'EMPTY means no given id inside',
      ).toEqual([])
    }
    for (const key of keys) model.taken.add(nameOf(key))
    model.marks.set(counterName('sequential', family), markAfter)
    await world.check(model)
    expect((await ask()).state, 'I9').toBe(hasEntity ? 'COLLISION' : 'CONTENTION')
  }

  toString(): string {
    return `range ${placeInWords({ family: this.family, space: 'sequential', ahead: this.ahead })}, ${this.length} ids`
  }
}

/** Ids in one piece, so many or up to a highest one. */
export class RunCommand extends Command {
  readonly family: Key
  readonly by: 'size' | 'max'
  readonly number: number

  constructor(family: Key, by: 'size' | 'max', number: number) {
    super()
    this.family = family
    this.by = by
    this.number = number
  }

  async act(model: Model, world: World): Promise<void> {
    const { family, by, number } = this
    const mark = model.rangeMark(family)
    const max = Math.max(0, mark + number - 4)
    const last = by === 'size' ? mark + number - 1 : Math.max(mark - 1, max)
    for (let id = mark; id <= last; id++) model.give(withId(family, BigInt(id)))
    model.marks.set(counterName('sequential', family), last + 1)
    const context = world.engine.context()
    const answer =
      by === 'size'
        ? await world.database.allocateIdsBySize(context, family, BigInt(number))
        : await world.database.allocateIdsByMax(context, family, BigInt(max))
    expect(answer, 'I7').toMatchObject({ start: BigInt(mark), end: BigInt(last), nextAfter: BigInt(last + 1) })
  }

  toString(): string {
    return `${this.by} ${this.number} of ${nameOf(this.family)}`
  }
}

export class RestartCommand extends Command {
  readonly end: 'close' | 'crash'

  constructor(end: 'close' | 'crash') {
    super()
    this.end = end
  }

  async act(model: Model, world: World): Promise<void> {
    await world.restart(this.end)
    model.open()
    if (this.end === 'crash') await world.readMarks(model)
  }

  toString(): string {
    return `${this.end} and open again`
  }
}

/** After a reset, ids begin anew. */
export class ResetCommand extends Command {
  async act(model: Model, world: World): Promise<void> {
    await world.engine.reset()
    model.entities = new Map()
    model.taken = new Set()
    model.marks = new Map()
    model.open()
  }

  toString(): string {
    return 'reset'
  }
}

const first = families[0] as Key
/** Mostly one family, so that things meet. */
const family = fc.oneof({ weight: 3, arbitrary: fc.constant(first) }, fc.constantFrom(...families))
const space = fc.constantFrom<IdSpace>('scattered', 'sequential')
const policy = fc.constantFrom<IdPolicy>('scattered', 'sequential', 'storewide')
export const place: fc.Arbitrary<Place> = fc.record({ family, space, ahead: fc.integer({ min: -3, max: 5 }) })

const automatic: fc.Arbitrary<Item> = fc.record({
  type: fc.constant<'automatic'>('automatic'),
  family,
  operation: fc.constantFrom<'insert' | 'upsert'>('insert', 'upsert'),
})
const named: fc.Arbitrary<Item> = fc.record({
  type: fc.constantFrom<'insert' | 'upsert' | 'delete'>('insert', 'upsert', 'upsert', 'delete'),
  place,
})
const oneOf = (items: fc.Arbitrary<Item>, maxLength = 4) => fc.array(items, { minLength: 1, maxLength })

/** Every command, drawn at random; `extra` ones are added to them. */
export function engineCommands(extra: fc.Arbitrary<EngineCommand>[] = []): fc.Arbitrary<Iterable<EngineCommand>> {
  return fc.commands<Model, World, false>(
    [
      fc.tuple(oneOf(automatic), fc.boolean(), fc.boolean()).map((a) => new CommitCommand(...a)),
      fc.tuple(oneOf(named, 2), fc.boolean(), fc.boolean()).map((a) => new CommitCommand(...a)),
      fc.tuple(oneOf(fc.oneof(automatic, named), 5), fc.boolean(), fc.boolean()).map((a) => new CommitCommand(...a)),
      fc.tuple(policy, fc.constantFrom<IdCollisions>('next', 'fail')).map((a) => new ConfigureCommand(...a)),
      fc.array(family, { minLength: 1, maxLength: 4 }).map((keys) => new AllocateIdsCommand(keys)),
      fc.array(place, { minLength: 1, maxLength: 2 }).map((places) => new ReserveIdsCommand(places)),
      fc
        .tuple(family, fc.integer({ min: -4, max: 6 }), fc.integer({ min: 1, max: 6 }))
        .map((a) => new RangeCommand(...a)),
      fc
        .tuple(family, fc.constantFrom<'size' | 'max'>('size', 'max'), fc.integer({ min: 1, max: 8 }))
        .map((a) => new RunCommand(...a)),
      fc.constantFrom(
        new RestartCommand('close'),
        new RestartCommand('crash'),
        new RestartCommand('crash'),
        new ResetCommand(),
      ),
      ...extra,
    ],
    // Short runs seldom get two things to meet; the size makes most of them long.
    { maxCommands: 40, size: 'max' },
  )
}
