/** Steps over answers that are there at once, and over promises: order, errors and clean-up are the same. */
import { describe, expect, test } from 'vitest'
import {
  allOf,
  andThen,
  finallyDo,
  forEachInOrder,
  type MaybePromise,
  runSteps,
  type Steps,
  waitFor,
  whenFails,
} from './maybe-promise.ts'
import { atOnce } from './testing/at-once.ts'

/** A source of answers: at once, by promise, or now one and now the other. */
type Source = <T>(value: T) => MaybePromise<T>
const byPromise: Source = async (value) => value
let turn = 0
const sources: readonly (readonly [name: string, source: Source])[] = [
  ['at once', (value) => value],
  ['by promise', byPromise],
  ['now at once, now by promise', (value) => (turn++ % 2 === 0 ? value : byPromise(value))],
]

const failing = (source: Source): MaybePromise<never> =>
  andThen(source('x'), () => {
    throw new Error('the store failed')
  })

function* sumOf(count: number, source: Source): Steps<number> {
  let sum = 0
  for (let i = 1; i <= count; i++) sum += yield* waitFor(source(i))
  return sum
}

describe.each(sources)('answers that come %s', (_, source) => {
  test('give steps their values in order', async () => {
    expect(await runSteps(sumOf(100, source))).toBe(5050)
  })

  test('may be a hundred thousand', async () => {
    expect(await runSteps(sumOf(100_000, source))).toBe(5_000_050_000)
  })

  test('are thrown into the steps when they fail, so that try, catch and finally hold', async () => {
    const seen: string[] = []
    function* steps(): Steps<string> {
      try {
        yield* waitFor(failing(source))
        return 'no error'
      } catch (error) {
        seen.push((error as Error).message)
        yield* waitFor(source('clean up'))
        return 'caught'
      } finally {
        seen.push('finally')
      }
    }
    expect(await runSteps(steps())).toBe('caught')
    expect(seen).toEqual(['the store failed', 'finally'])
  })

  test('fail the whole when steps do not catch', async () => {
    function* steps(): Steps<void> {
      yield* waitFor(failing(source))
    }
    await expect((async () => runSteps(steps()))()).rejects.toThrow('the store failed')
  })

  test('are given in order to a step for each item, one after the other', async () => {
    const seen: string[] = []
    await forEachInOrder(['a', 'b', 'c'], (item, i) => {
      seen.push(`${item}${i}`)
      return andThen(source(i), () => void seen.push(`${item} done`))
    })
    expect(seen).toEqual(['a0', 'a done', 'b1', 'b done', 'c2', 'c done'])
  })

  test('are all begun in one turn, and given in the order of the items', async () => {
    const begun: number[] = []
    const all = allOf([1, 2, 3], (item) => {
      begun.push(item)
      return source(item * 10)
    })
    expect(begun).toEqual([1, 2, 3])
    expect(await all).toEqual([10, 20, 30])
  })

  test('run what is to be done in any case, once, behind the work', async () => {
    const seen: string[] = []
    const done = (): void => void seen.push('done')
    expect(
      await finallyDo(
        () =>
          andThen(source('answer'), (value) => {
            seen.push('work')
            return value
          }),
        done,
      ),
    ).toBe('answer')
    await expect((async () => finallyDo(() => failing(source), done))()).rejects.toThrow('the store failed')
    expect(seen).toEqual(['work', 'done', 'done'])
  })

  test('wait for what is to be done in any case, whose failure is the outcome', async () => {
    const seen: string[] = []
    const done = (): MaybePromise<void> => andThen(source('clean up'), (what) => void seen.push(what))
    const answer = await finallyDo(() => source('answer'), done)
    expect([answer, ...seen]).toEqual(['answer', 'clean up'])
    await expect((async () => finallyDo(() => failing(source), done))()).rejects.toThrow('the store failed')
    expect(seen).toEqual(['clean up', 'clean up'])
    const failed = (): MaybePromise<never> => failing(source)
    await expect((async () => finallyDo(() => source('answer'), failed))()).rejects.toThrow('the store failed')
  })

  test('are replaced by another outcome when the work fails, and only then', async () => {
    const instead = (error: unknown): string => `instead of: ${(error as Error).message}`
    expect(await whenFails(() => source('answer'), instead)).toBe('answer')
    expect(await whenFails(() => failing(source), instead)).toBe('instead of: the store failed')
    const again = (error: unknown): never => {
      throw new Error(`told: ${(error as Error).message}`)
    }
    await expect((async () => whenFails(() => failing(source), again))()).rejects.toThrow('told: the store failed')
  })
})

test('steps that meet no promise are over before runSteps returns, errors included', () => {
  expect(atOnce(runSteps(sumOf(10, (value) => value)))).toBe(55)
  expect(atOnce(forEachInOrder([1, 2], () => undefined))).toBeUndefined()
  expect(atOnce(allOf([1, 2], (item) => item))).toEqual([1, 2])
  function* failingSteps(): Steps<void> {
    yield* waitFor(undefined)
    throw new Error('at once')
  }
  expect(() => runSteps(failingSteps())).toThrow('at once')
  expect(() => allOf([1], () => failing((value) => value))).toThrow('the store failed')
})

test('when a step of allOf throws, rejections of those already begun go unheard', async () => {
  const unheard: unknown[] = []
  const hear = (error: unknown): void => void unheard.push(error)
  process.on('unhandledRejection', hear)
  const begin = (item: number): MaybePromise<never> => failing(item === 1 ? byPromise : (value) => value)
  expect(() => allOf([1, 2], begin)).toThrow('the store failed')
  await new Promise((resolve) => setTimeout(resolve, 5))
  process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
})
