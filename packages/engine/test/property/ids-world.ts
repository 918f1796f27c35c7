/**
 * A world of allocators over one store, and a plain model of what they may answer: what the model-based tests of ids share.
 *
 * The model knows numbers (counters), not ids: of each scope the next one, all that were given, and what was reserved.
 *
 *   way        allocators   what the model predicts
 *   one        1            every number; after a crash only that none comes again
 *   shared     several      every number, also after a crash: nothing is ever in hand
 *   blocks     several      that no number is given twice; reservations are not seen by all
 */
import { expect } from 'vitest'
import { systemScheduler } from '../../src/clock.ts'
import { type RequestContext, requestContext } from '../../src/context.ts'
import { IdAllocator } from '../../src/ids/allocator.ts'
import { type IdSpace, idOfCounter } from '../../src/ids/scatter.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'

export const context: RequestContext = requestContext({ clock: systemScheduler })

function key(namespaceId: string, databaseId: string, ...path: PathElement[]): Key {
  return { partition: { projectId: 'p', databaseId, namespaceId }, path }
}

/** Kinds and parents to allocate for: same kind under several parents, same parent for several kinds, and elsewhere. */
export const families: readonly Key[] = [
  key('', '', { kind: 'ToDo' }),
  key('', '', { kind: 'User' }),
  key('', '', { kind: 'User', name: 'ada' }, { kind: 'ToDo' }),
  key('', '', { kind: 'User', id: 5n }, { kind: 'ToDo' }),
  key('n', '', { kind: 'ToDo' }),
  key('', 'other', { kind: 'ToDo' }),
]

/** One counter of the model. */
export class ScopeModel {
  readonly policy: IdSpace
  /** Any incomplete key that this counter numbers. */
  readonly key: Key
  next = 1
  readonly given = new Set<number>()
  readonly reserved: { readonly first: number; readonly last: number }[] = []
  /** Ids of entities put by hand; sequential scopes only. */
  readonly entities = new Set<number>()

  constructor(key: Key, policy: IdSpace) {
    this.key = key
    this.policy = policy
  }
}

export type Way = 'one' | 'shared' | 'blocks'

export class Model {
  readonly way: Way
  readonly #scopes = new Map<string, ScopeModel>()

  constructor(way: Way) {
    this.way = way
    for (const family of families) {
      this.scope(family, 'scattered')
      this.scope(family, 'sequential')
    }
  }

  /** Whether `next` is what must come; without it only what must not come is known. */
  get isExact(): boolean {
    return this.way !== 'blocks'
  }

  get scopes(): Iterable<ScopeModel> {
    return this.#scopes.values()
  }

  /** The counter of a kind and parent, written down independently of the engine's row keys. */
  scope(of: Key, policy: IdSpace): ScopeModel {
    const { projectId, databaseId, namespaceId } = of.partition
    const parents = of.path.slice(0, -1).map((e) => `${e.kind}/${e.id ?? ''}/${e.name ?? ''}`)
    const name =
      policy === 'scattered'
        ? [projectId, databaseId].join('|')
        : [projectId, databaseId, namespaceId, ...parents, of.path.at(-1)?.kind].join('|')
    let scope = this.#scopes.get(`${policy} ${name}`)
    if (scope === undefined) {
      scope = new ScopeModel(
        { partition: of.partition, path: [...of.path.slice(0, -1), { kind: of.path.at(-1)?.kind ?? '' }] },
        policy,
      )
      this.#scopes.set(`${policy} ${name}`, scope)
    }
    return scope
  }

  /** allocator/I4, allocator/I5: notes that `first` to `last` were given; none of them may have been given before. */
  give(scope: ScopeModel, first: number, last: number): void {
    for (let number = first; number <= last; number++) {
      if (scope.given.has(number)) expect.fail(`allocator/I4: ${number} was given twice`)
      scope.given.add(number)
    }
    if (!this.isExact) return
    for (const reserved of scope.reserved) {
      const meets = last >= reserved.first && first <= reserved.last
      if (meets) expect.fail(`allocator/I5: ${first} to ${last} meets a reservation`)
    }
    if (first !== scope.next) expect.fail(`the counter gave ${first} and stood at ${scope.next}`)
    scope.next = last + 1
  }

  /** Notes that `first` to `last` are reserved. */
  reserve(scope: ScopeModel, first: number, last: number): void {
    scope.reserved.push({ first, last })
    scope.next = Math.max(scope.next, last + 1)
  }
}

/** The real thing. */
export class World {
  readonly way: Way
  readonly allocators: IdAllocator[]
  readonly #store = new MemoryKv()
  readonly #turn: (() => Promise<void>) | undefined
  /** The store as the one allocator has it: it dies with the allocator. */
  #ownStore = new FaultyKv(this.#store)

  constructor(way: Way, turn?: () => Promise<void>) {
    this.way = way
    this.#turn = turn
    this.allocators = Array.from({ length: way === 'one' ? 1 : 3 }, () => this.#open())
  }

  #open(): IdAllocator {
    const store = this.way === 'one' ? this.#ownStore : this.#store
    const kv = this.#turn === undefined ? store : new AsyncKv(store, { hop: this.#turn })
    // Small blocks, so that short runs meet their ends; few open counters, so that some are closed in between.
    return new IdAllocator({
      kv,
      othersGive: this.way === 'shared',
      blocks: { firstSize: 2, maxSize: 8 },
      openSequencesMax: 2,
    })
  }

  allocator(who: number): IdAllocator {
    return this.allocators[who % this.allocators.length] as IdAllocator
  }

  /**
   * Drops an allocator with all it has in hand and opens another one. Writes under way are lost with it, where it is the
   * only one: its store is in its process. Others work on a store across the network, where they may still arrive.
   */
  crash(who: number): void {
    this.#ownStore.crash()
    this.#ownStore = new FaultyKv(this.#store)
    this.allocators[who % this.allocators.length] = this.#open()
  }

  async closeAndReopen(who: number): Promise<void> {
    await this.allocator(who).close(context)
    this.crash(who)
  }

  /** In an exact world every counter stands where the model says, not only the one just used. */
  async checkCounters(model: Model): Promise<void> {
    if (!model.isExact) return
    for (const scope of model.scopes) {
      const next = await this.allocator(0).nextCounter(context, scope.key, scope.policy)
      expect(next, `the ${scope.policy} counter`).toBe(BigInt(scope.next))
    }
  }
}

/** The largest number of ids that a crash may lose in a {@link World}. */
export const lostMax: number = 8 * 2

/** An id of a scope as the engine would give it for a number of the model. */
export function idOf(scope: ScopeModel, number: number): bigint {
  return idOfCounter(scope.policy, number)
}
