/**
 * allocator/I4   No id is given twice, whatever the order in which the store answers many clients of an engine.
 * allocator/I5   An id reserved before a call began is not given by it, nor one of a range that was asked for.
 * The ids of an EMPTY range are given to no other caller.
 * I10  What was inserted and acknowledged, with an automatic id or by hand, is there as it was inserted.
 *
 * Clients insert without ids, insert under ids that the counters are about to reach, allocate, reserve and ask for ranges,
 * all at once; the process may die with all of it under way. fast-check's scheduler decides whose store call goes on, and
 * shrinks that order with the commands. Nobody deletes or updates, so an entity that changed was overwritten.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mode } from '../../src/database/settings.ts'
import { decodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { IdCollisions } from '../../src/ids/allocator.ts'
import { type IdSpace, idOfCounter, unscatter } from '../../src/ids/scatter.ts'
import { type Key, withId } from '../../src/model/key.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { integer } from './entity-messages.ts'
import { counterName, families, nameOf, write } from './ids-engine-world.ts'

interface Step {
  readonly type: 'insert' | 'atomic' | 'byHand' | 'allocate' | 'reserve' | 'range' | 'crash'
  readonly family: number
  readonly number: number
}

/** What one call got, and when it began and ended: its place among all beginnings and ends. */
interface Event {
  readonly begin: number
  readonly end: number
  /** Given to this call and to no other. */
  readonly given: readonly Key[]
  /** Highest number of its counter that may not be given after this call. */
  readonly keeps?: { readonly counter: string; readonly number: number }
}

class World {
  readonly store: MemoryKv = new MemoryKv()
  readonly stored = new Map<string, { readonly key: Key; readonly value: number }>()
  readonly events: Event[] = []
  /** Where its automatic ids lie: those of legacy mode are counted over the whole store. */
  readonly space: IdSpace
  /** Which process it is: answers of an earlier one are lost. */
  generation = 0
  engine: Promise<Engine>
  readonly #options: { readonly mode: Mode; readonly idCollisions: IdCollisions }
  readonly #hop: () => Promise<void>
  #kv: FaultyKv
  #time = 0
  #lastValue = 0

  constructor(options: { readonly mode: Mode; readonly idCollisions: IdCollisions }, hop: () => Promise<void>) {
    this.space = options.mode === 'legacy' ? 'sequential' : 'scattered'
    this.#options = options
    this.#hop = hop
    this.#kv = new FaultyKv(this.store)
    this.engine = this.#open()
  }

  #open(): Promise<Engine> {
    const kv = new AsyncKv(this.#kv, { hop: this.#hop })
    const opening = openEngine({ ...this.#options, kv, scheduler: new VirtualClock(), apply: { type: 'immediate' } })
    // It may die before its first request.
    opening.catch(() => undefined)
    return opening
  }

  crash(): void {
    this.#kv.crash()
    this.#kv = new FaultyKv(this.store)
    this.generation++
    this.engine = this.#open()
  }

  async client(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.type === 'crash') this.crash()
      else await this.#call(step)
    }
  }

  async #call(step: Step): Promise<void> {
    const { generation } = this
    const begin = this.#time++
    try {
      const done = await this.#perform(step)
      if (generation !== this.generation) return
      this.events.push({ begin, end: this.#time++, given: done.given ?? [], ...(done.keeps && { keeps: done.keeps }) })
      for (const [i, key] of (done.inserted ?? []).entries()) {
        this.stored.set(nameOf(key), { key, value: (done.firstValue ?? 0) + i })
      }
    } catch (error) {
      if (generation !== this.generation) return
      if (!(error instanceof DatastoreError)) throw error
      const isPresent = error.code === 'ALREADY_EXISTS' && step.type === 'byHand'
      const isCollision = error.message.includes('was already in use, please try again')
      if (!isPresent && !(isCollision && this.#options.idCollisions === 'fail')) throw error
    }
  }

  async #perform({ type, family: at, number }: Step): Promise<{
    given?: readonly Key[]
    inserted?: readonly Key[]
    firstValue?: number
    keeps?: Event['keeps']
  }> {
    const engine = await this.engine
    const database = engine.database('p')
    const context = engine.context()
    const family = families[at] as Key
    const byHand = withId(family, idOfCounter(this.space, number))
    switch (type) {
      case 'insert':
      case 'atomic': {
        const firstValue = this.#lastValue + 1
        const count = type === 'atomic' ? 1 + (number % 3) : 1
        this.#lastValue += count
        const operation = number % 2 === 0 ? 'insert' : 'upsert'
        const mutations = Array.from({ length: count }, (_, i) => write(operation, family, firstValue + i))
        const { mutationResults } = await database.commit(
          context,
          type === 'atomic'
            ? { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations }
            : { mode: 'nonTransactional', mutations },
        )
        const keys = mutationResults.map(({ key }) => key as Key)
        return { given: keys, inserted: keys, firstValue }
      }
      case 'byHand': {
        const firstValue = ++this.#lastValue
        await database.commit(context, { mode: 'nonTransactional', mutations: [write('insert', byHand, firstValue)] })
        return { inserted: [byHand], firstValue }
      }
      case 'allocate':
        return { given: await database.allocateIds(context, [family, family]) }
      case 'reserve':
        await database.reserveIds(context, [byHand])
        return { keeps: { counter: counterName(this.space, family), number } }
      default: {
        const range = { start: BigInt(number), end: BigInt(number) + 2n }
        const { state } = await database.allocateIdRange(context, family, range)
        const given = state === 'EMPTY' ? [0n, 1n, 2n].map((i) => withId(family, range.start + i)) : []
        return { given, keeps: { counter: counterName('sequential', family), number: number + 2 } }
      }
    }
  }

  async check(): Promise<void> {
    const given = this.events.flatMap((event) => event.given.map(nameOf))
    expect(new Set(given).size, 'allocator/I4, no id twice').toBe(given.length)
    for (const { keeps, end } of this.events) {
      if (keeps === undefined) continue
      const later = this.events.filter(({ begin }) => begin > end).flatMap((event) => event.given)
      const below = later.filter((key) => {
        const id = Number(key.path.at(-1)?.id)
        const space = id < 2 ** 52 ? 'sequential' : 'scattered'
        const number = space === 'sequential' ? id : unscatter(id)
        return counterName(space, key) === keeps.counter && number <= keeps.number
      })
      expect(below.map(nameOf), 'allocator/I5: kept ids are not given later').toEqual([])
    }
    const engine = await openEngine({ kv: this.store, scheduler: new VirtualClock() })
    const keys = [...this.stored.values()].map(({ key }) => key)
    const { found } = await engine.database('p').lookup(engine.context(), { keys })
    const values = found.map(({ key, image }) => [nameOf(key), decodeProperties(image.properties).get('v')] as const)
    const inserted = [...this.stored].map(([name, { value }]) => [name, integer(value)] as const)
    expect(new Map(values), 'I10: what was inserted is there').toEqual(new Map(inserted))
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  }
}

const steps: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom<Step['type']>(
    ...(['insert', 'insert', 'insert', 'atomic', 'atomic', 'byHand', 'byHand', 'byHand'] as const),
    ...(['allocate', 'reserve', 'range', 'crash'] as const),
  ),
  family: fc.constantFrom(0, 0, 0, 1, 3),
  number: fc.integer({ min: 1, max: 24 }),
})

describe.each<[Mode, IdCollisions]>([
  ['firestore', 'next'],
  ['firestore', 'fail'],
  ['legacy', 'next'],
  ['legacy', 'fail'],
])('many clients of an engine in %s mode, where an id in use means: %s', (mode, idCollisions) => {
  test('allocator/I4, allocator/I5 and I10 hold in any order of the store’s answers, and when the process dies', async () => {
    const clients = fc.array(fc.array(steps, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), clients, async (scheduler, drawn) => {
        const world = new World({ mode, idCollisions }, () => scheduler.schedule(Promise.resolve()))
        await scheduler.waitFor(Promise.all(drawn.map((one) => world.client(one))))
        await world.check()
      }),
      { numRuns: runs(20) },
    )
  })
})
