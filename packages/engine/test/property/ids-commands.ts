/**
 * What can happen to ids, as commands of a model-based test. Each asks the world, checks the answer against the model, and
 * moves the model on. A test at the level of the engine adds its own (automatic inserts, puts, deletes, imports) to these.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { counterMax, type IdSpace, spaceOf, unscatter } from '../../src/ids/scatter.ts'
import { formatKey, type Key, withId } from '../../src/model/key.ts'
import { newIds } from '../support/new-ids.ts'
import { context, families, idOf, lostMax, type Model, type ScopeModel, type World } from './ids-world.ts'

export type IdCommand = fc.AsyncCommand<Model, World>

function family(at: number): Key {
  return families[at % families.length] as Key
}

abstract class Command implements IdCommand {
  check(_model: Readonly<Model>): boolean {
    return true
  }

  async run(model: Model, world: World): Promise<void> {
    await this.act(model, world)
    await world.checkCounters(model)
  }

  abstract act(model: Model, world: World): Promise<void>
  abstract toString(): string
}

/** Checks ids as given one by one, and notes their numbers. */
function giveIds(model: Model, scope: ScopeModel, ids: readonly bigint[]): void {
  for (const id of ids) {
    if (spaceOf(id) !== scope.policy) expect.fail(`${id} is no ${scope.policy} id`)
    const number = scope.policy === 'scattered' ? unscatter(Number(id)) : Number(id)
    if (idOf(scope, number) !== id) expect.fail(`${id} is not the id of ${number}`)
    model.give(scope, number, number)
  }
}

export class AllocateCommand extends Command {
  readonly who: number
  readonly of: Key
  readonly count: number
  readonly policy: IdSpace

  constructor(who: number, of: Key, count: number, policy: IdSpace) {
    super()
    this.who = who
    this.of = of
    this.count = count
    this.policy = policy
  }

  async act(model: Model, world: World): Promise<void> {
    const ids = await newIds(world.allocator(this.who), context, this.of, this.count, this.policy)
    expect(ids).toHaveLength(this.count)
    giveIds(model, model.scope(this.of, this.policy), ids)
  }

  toString(): string {
    return `${this.who}: allocate ${this.count} ${this.policy} for ${formatKey(this.of)}`
  }
}

/** Many keys in one call. */
export class CompleteKeysCommand extends Command {
  readonly who: number
  readonly keys: readonly Key[]
  readonly policy: IdSpace

  constructor(who: number, keys: readonly Key[], policy: IdSpace) {
    super()
    this.who = who
    this.keys = keys
    this.policy = policy
  }

  async act(model: Model, world: World): Promise<void> {
    const completed = await world.allocator(this.who).completeKeys(context, this.keys, this.policy)
    expect(completed).toHaveLength(this.keys.length)
    for (const [i, key] of this.keys.entries()) {
      const id = completed[i]?.path.at(-1)?.id ?? 0n
      expect(completed[i], 'I11').toEqual(withId(key, id))
      giveIds(model, model.scope(key, this.policy), [id])
    }
  }

  toString(): string {
    return `${this.who}: complete ${this.policy} ${this.keys.map(formatKey).join(', ')}`
  }
}

/** Reservation by ReserveIds, or by an import; done twice, since a second time changes nothing. */
export class ReserveCommand extends Command {
  readonly who: number
  readonly keys: readonly Key[]

  constructor(who: number, keys: readonly Key[]) {
    super()
    this.who = who
    this.keys = keys
  }

  async act(model: Model, world: World): Promise<void> {
    for (const key of this.keys) {
      for (const [at, { id }] of key.path.entries()) {
        const policy = id === undefined ? undefined : spaceOf(id)
        if (policy === undefined) continue
        const number = policy === 'scattered' ? unscatter(Number(id)) : Number(id)
        if (number < 1 || number > counterMax[policy]) continue
        const scope = model.scope({ partition: key.partition, path: key.path.slice(0, at + 1) }, policy)
        model.reserve(scope, number, number)
      }
    }
    await world.allocator(this.who).reserve(context, this.keys)
    await world.checkCounters(model)
    await world.allocator(this.who).reserve(context, this.keys)
  }

  toString(): string {
    return `${this.who}: reserve ${this.keys.map(formatKey).join(', ')}`
  }
}

export class SizeCommand extends Command {
  readonly who: number
  readonly of: Key
  readonly size: number

  constructor(who: number, of: Key, size: number) {
    super()
    this.who = who
    this.of = of
    this.size = size
  }

  async act(model: Model, world: World): Promise<void> {
    const { start, end } = await world.allocator(this.who).allocateSize(context, this.of, BigInt(this.size))
    expect(end - start + 1n).toBe(BigInt(this.size))
    model.give(model.scope(this.of, 'sequential'), Number(start), Number(end))
  }

  toString(): string {
    return `${this.who}: range of ${this.size} for ${formatKey(this.of)}`
  }
}

/** Up to a highest id. */
export class MaxCommand extends Command {
  readonly who: number
  readonly of: Key
  readonly max: number

  constructor(who: number, of: Key, max: number) {
    super()
    this.who = who
    this.of = of
    this.max = max
  }

  async act(model: Model, world: World): Promise<void> {
    const scope = model.scope(this.of, 'sequential')
    const { start, end } = await world.allocator(this.who).allocateMax(context, this.of, BigInt(this.max))
    if (model.isExact) expect([start, end]).toEqual([BigInt(scope.next), BigInt(Math.max(this.max, scope.next - 1))])
    expect(end >= BigInt(this.max) && end >= start - 1n, 'all up to max is passed').toBe(true)
    model.give(scope, Number(start), Number(end))
    model.reserve(scope, 1, this.max)
  }

  toString(): string {
    return `${this.who}: all up to ${this.max} for ${formatKey(this.of)}`
  }
}

/** a range by its ends, asked for twice. */
export class RangeCommand extends Command {
  readonly who: number
  readonly of: Key
  readonly start: number
  readonly end: number

  constructor(who: number, of: Key, start: number, length: number) {
    super()
    this.who = who
    this.of = of
    this.start = start
    this.end = start + length - 1
  }

  async act(model: Model, world: World): Promise<void> {
    const scope = model.scope(this.of, 'sequential')
    const range = { start: BigInt(this.start), end: BigInt(this.end) }
    const hasEntityIn = (keys: { start: Key; end: Key }): boolean =>
      [...scope.entities].some((id) => {
        const first = keys.start.path.at(-1)?.id ?? 0n
        return BigInt(id) >= first && BigInt(id) <= (keys.end.path.at(-1)?.id ?? 0n)
      })
    const inside = (numbers: Iterable<number>): boolean =>
      [...numbers].some((number) => number >= this.start && number <= this.end)
    const answer = await world.allocator(this.who).allocateRange(context, this.of, range, hasEntityIn)
    expect(answer.state === 'COLLISION', 'COLLISION means an entity inside').toBe(inside(scope.entities))
    if (answer.state === 'EMPTY') expect(inside(scope.given), 'EMPTY means no given id inside').toBe(false)
    if (model.isExact) {
      expect(answer.nextBefore).toBe(BigInt(scope.next))
      if (answer.state !== 'COLLISION') expect(answer.state === 'EMPTY').toBe(scope.next <= this.start)
      expect(answer.nextAfter).toBe(BigInt(Math.max(scope.next, this.end + 1)))
    }
    if (answer.state === 'EMPTY') for (let id = this.start; id <= this.end; id++) scope.given.add(id)
    model.reserve(scope, this.start, this.end)
    await world.checkCounters(model)
    const again = await world.allocator(this.who).allocateRange(context, this.of, range, hasEntityIn)
    expect(again.state, 'I9').not.toBe('EMPTY')
  }

  toString(): string {
    return `${this.who}: range ${this.start} to ${this.end} for ${formatKey(this.of)}`
  }
}

/** An entity under an id chosen by hand, or deleted again: no counter moves. */
export class PutCommand extends Command {
  readonly of: Key
  readonly id: number
  readonly deletes: boolean

  constructor(of: Key, id: number, deletes: boolean) {
    super()
    this.of = of
    this.id = id
    this.deletes = deletes
  }

  act(model: Model): Promise<void> {
    const { entities } = model.scope(this.of, 'sequential')
    if (this.deletes) entities.delete(this.id)
    else entities.add(this.id)
    return Promise.resolve()
  }

  toString(): string {
    return `${this.deletes ? 'delete' : 'put'} ${formatKey(withId(this.of, BigInt(this.id)))}`
  }
}

/** the allocator is gone with its block. The next number is greater than any given one, by no more than a block. */
export class CrashCommand extends Command {
  readonly who: number

  constructor(who: number) {
    super()
    this.who = who
  }

  async act(model: Model, world: World): Promise<void> {
    world.crash(this.who)
    if (!model.isExact) return
    for (const scope of model.scopes) {
      const next = Number(await world.allocator(this.who).nextCounter(context, scope.key, scope.policy))
      expect(next, 'I12').toBeGreaterThanOrEqual(scope.next)
      expect(next, 'a crash loses a block').toBeLessThanOrEqual(scope.next + (model.way === 'one' ? lostMax : 0))
      scope.next = next
    }
  }

  toString(): string {
    return `${this.who}: crash`
  }
}

/** A clean close gives the block back: in an exact world not one number is lost, which run() checks. */
export class CloseCommand extends Command {
  readonly who: number

  constructor(who: number) {
    super()
    this.who = who
  }

  act(_model: Model, world: World): Promise<void> {
    return world.closeAndReopen(this.who)
  }

  toString(): string {
    return `${this.who}: close and reopen`
  }
}

const who = fc.integer({ min: 0, max: 2 })
const policies = fc.constantFrom<IdSpace>('scattered', 'sequential')
/** Mostly one family, so that things meet. */
const of = fc.oneof(
  { weight: 3, arbitrary: fc.constant(family(0)) },
  { weight: 1, arbitrary: fc.nat({ max: families.length - 1 }).map(family) },
)
const smallIds = fc.integer({ min: 1, max: 60 })

/** Ids of every space and of none, near the counters of a short run. */
const anyIds = fc.oneof(
  { weight: 4, arbitrary: smallIds.map(BigInt) },
  { weight: 4, arbitrary: smallIds.map((n) => idOf({ policy: 'scattered' } as ScopeModel, n)) },
  fc.constantFrom(-1n, 2n ** 52n, 2n ** 52n + 2n ** 51n - 1n, 2n ** 53n, 2n ** 62n),
)

/** Complete keys, some with ids in several elements. */
const completeKeys: fc.Arbitrary<Key> = fc.tuple(of, anyIds, fc.option(anyIds)).map(([key, id, child]) => {
  const complete = withId(key, id)
  return child === null ? complete : { ...complete, path: [...complete.path, { kind: 'Step', id: child }] }
})

/** Every command, drawn at random; `extra` ones are added to them. */
export function idCommands(extra: fc.Arbitrary<IdCommand>[] = []): fc.Arbitrary<Iterable<IdCommand>> {
  return fc.commands<Model, World, false>(
    [
      fc.tuple(who, of, fc.integer({ min: 1, max: 12 }), policies).map((a) => new AllocateCommand(...a)),
      fc.tuple(who, of, fc.constant(1), policies).map((a) => new AllocateCommand(...a)),
      fc.tuple(who, fc.array(of, { maxLength: 8 }), policies).map((a) => new CompleteKeysCommand(...a)),
      fc.tuple(who, fc.array(completeKeys, { maxLength: 3 })).map((a) => new ReserveCommand(...a)),
      fc.tuple(who, of, fc.integer({ min: 1, max: 20 })).map((a) => new SizeCommand(...a)),
      fc.tuple(who, of, fc.integer({ min: 0, max: 60 })).map((a) => new MaxCommand(...a)),
      fc.tuple(who, of, smallIds, fc.integer({ min: 1, max: 8 })).map((a) => new RangeCommand(...a)),
      fc.tuple(of, smallIds, fc.constant(false)).map((a) => new PutCommand(...a)),
      fc.tuple(of, smallIds, fc.boolean()).map((a) => new PutCommand(...a)),
      who.map((w) => new CrashCommand(w)),
      who.map((w) => new CloseCommand(w)),
      ...extra,
    ],
    // Short runs seldom get two things to meet; the size makes most of them long.
    { maxCommands: 40, size: 'max' },
  )
}
