/**
 * allocator/I4   No id is given twice, whatever the order in which a store answers many clients.
 * allocator/I5   An id reserved before a call began is not given by it, and ids of an EMPTY range are given to no other caller.
 *      Calls on one counter of one allocator are served in the order they were made.
 *
 * Clients run at once over a store that answers by promises; fast-check's scheduler decides who goes on, and shrinks the
 * order with the commands. An allocator may crash with calls under way: their answers are lost.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { type Key, withId } from '../../src/model/key.ts'
import { newIds } from '../support/new-ids.ts'
import { context, families, type Way, World } from './ids-world.ts'

type Step =
  | {
      readonly type: 'take' | 'size' | 'max' | 'reserve' | 'range'
      readonly who: number
      /** Which kind and parent; an allocator keeps few of their counters open. */
      readonly of: number
      readonly number: number
    }
  | { readonly type: 'crash'; readonly who: number }

/** What one call took, and when it began and ended: its place among all beginnings and ends. */
interface Event {
  readonly type: Step['type']
  readonly who: number
  readonly of: number
  readonly generation: number
  readonly begin: number
  readonly end: number
  /** Numbers that no other caller may have. */
  readonly numbers: readonly number[]
  /** Highest number kept from being given after this call. */
  readonly keeps: number
}

function numbersOf({ start, end }: { start: bigint; end: bigint }): number[] {
  return Array.from({ length: Number(end - start) + 1 }, (_, i) => Number(start) + i)
}

/** One step against the world; what it took and keeps. */
async function perform(
  world: World,
  step: Exclude<Step, { type: 'crash' }>,
): Promise<Pick<Event, 'numbers' | 'keeps'>> {
  const allocator = world.allocator(step.who)
  const { number } = step
  const of = families[step.of] as Key
  switch (step.type) {
    case 'take': {
      const ids = await newIds(allocator, context, of, 1 + (number % 3), 'sequential')
      return { numbers: ids.map(Number), keeps: 0 }
    }
    case 'size':
      return { numbers: numbersOf(await allocator.allocateSize(context, of, BigInt(number))), keeps: 0 }
    case 'max':
      return { numbers: numbersOf(await allocator.allocateMax(context, of, BigInt(number))), keeps: number }
    case 'reserve': {
      const key = withId(of, BigInt(number))
      await allocator.reserve(context, [key])
      return { numbers: [], keeps: number }
    }
    case 'range': {
      const range = { start: BigInt(number), end: BigInt(number) + 2n }
      const { state } = await allocator.allocateRange(context, of, range, () => Promise.resolve(false))
      return { numbers: state === 'EMPTY' ? numbersOf(range) : [], keeps: number + 2 }
    }
  }
}

async function play(world: World, clients: readonly (readonly Step[])[], events: Event[]): Promise<void> {
  let time = 0
  const generations = world.allocators.map(() => 0)
  const runClient = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) {
      const who = step.who % world.allocators.length
      const generation = generations[who] as number
      if (step.type === 'crash') {
        generations[who] = generation + 1
        world.crash(who)
        continue
      }
      const begin = time++
      const isAlive = (): boolean => generations[who] === generation
      try {
        const taken = await perform(world, step)
        // After a crash no client is left for the answer.
        if (isAlive()) events.push({ type: step.type, who, of: step.of, generation, begin, end: time++, ...taken })
      } catch (error) {
        if (isAlive()) throw error
      }
    }
  }
  await Promise.all(clients.map(runClient))
}

/** Checks what happened to one counter. */
function check(events: readonly Event[], way: Way): void {
  const all = events.flatMap((e) => e.numbers)
  expect(new Set(all).size, 'allocator/I4: no number twice').toBe(all.length)
  for (const kept of way === 'blocks' ? [] : events) {
    for (const later of events) {
      const meets = later.begin > kept.end && later.numbers.some((n) => n <= kept.keeps)
      expect(meets, `allocator/I5: ${later.type} gave what ${kept.type} had kept`).toBe(false)
    }
  }
  const began = [...events].sort((a, b) => a.begin - b.begin)
  for (const [i, first] of began.entries()) {
    for (const second of began.slice(i + 1)) {
      if (first.who !== second.who || first.generation !== second.generation) continue
      if (first.numbers.length === 0 || second.numbers.length === 0) continue
      expect(first.numbers.at(-1), 'in the order of the calls').toBeLessThan(second.numbers[0] as number)
    }
  }
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom<'take'>('take'),
      who: fc.integer({ min: 0, max: 2 }),
      of: fc.constantFrom(0, 0, 0, 1, 2, 3),
      number: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom<'size' | 'max' | 'reserve' | 'range'>('size', 'max', 'reserve', 'range'),
      who: fc.integer({ min: 0, max: 2 }),
      of: fc.constantFrom(0, 0, 0, 1, 2, 3),
      number: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant<'crash'>('crash'), who: fc.integer({ min: 0, max: 2 }) }) },
)

describe.each<Way>(['one', 'shared', 'blocks'])('many clients of %s', (way) => {
  test('allocator/I4, allocator/I5: get ids that no other caller has, in any order of the store’s answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.array(steps, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 5 }),
        async (scheduler, clients) => {
          const world = new World(way, () => scheduler.schedule(Promise.resolve()))
          const events: Event[] = []
          await scheduler.waitFor(play(world, clients, events))
          for (const of of families.keys())
            check(
              events.filter((e) => e.of === of),
              way,
            )
        },
      ),
      { numRuns: runs(100) },
    )
  })

  test('64 clients with 50 calls each get 3,200 different ids', async () => {
    const world = new World(way, () => Promise.resolve())
    const clients = Array.from({ length: 64 }, (_, who) =>
      Array.from({ length: 50 }, (): Step => ({ type: 'take', who, of: 0, number: 0 })),
    )
    const events: Event[] = []
    await play(world, clients, events)
    const numbers = events.flatMap((e) => e.numbers)
    expect(numbers).toHaveLength(3200)
    expect(new Set(numbers).size).toBe(3200)
    if (way !== 'blocks') expect(Math.max(...numbers)).toBe(3200)
  })
})
